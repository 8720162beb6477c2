"""The visits that a home has logged, as observations for `estimate`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from webstrata.cli.files.observations import PageObservations
from webstrata.cli.session import open_node, run_async
from webstrata.clock import DAY_S
from webstrata.errors import UsageError
from webstrata.predict.visit_history import from_times

_DTYPE = np.dtype([("page", np.int64), ("at", np.float64), ("changed", np.bool_)])


def store_observations(home: Path | None, now: float, *, tag: str | None, host: str | None) -> PageObservations:
    """The visits of the active pages that saw their content, until now. Raises UsageError if there is none."""
    from webstrata.flows.crawl.selection.schedule_input import page_chunks

    node = open_node(home)
    urls: dict[int, str] = {}
    parts: list[NDArray[np.void]] = []

    async def collect() -> None:
        async with node.store() as store:
            async for chunk in page_chunks(store):
                chosen = {
                    page.id: page.url
                    for page in chunk
                    if (tag is None or tag in page.tags) and (host is None or page.host == host)
                }
                urls.update(chosen)
                if chosen:
                    parts.append(np.array(await store.visit_log.observations(list(chosen)), dtype=_DTYPE))

    run_async(collect)
    rows = np.concatenate(parts) if parts else np.empty(0, dtype=_DTYPE)
    rows = rows[rows["at"] <= now]
    if not len(rows):
        chosen = " that is selected" if tag or host else ""
        raise UsageError(f"no active page{chosen} was seen yet. `webstrata crawl` visits the pages that are due.")
    return _observations(rows, urls)


def _observations(rows: NDArray[np.void], urls: dict[int, str]) -> PageObservations:
    """Rows are sorted by page and time."""
    ids, first, number = np.unique(rows["page"], return_index=True, return_inverse=True)
    last = np.append(first[1:], len(rows)) - 1
    return PageObservations(
        pages=[urls[id_] for id_ in ids.tolist()],
        visits=from_times(number, rows["at"] / DAY_S, rows["changed"], len(ids)),
        first_at=rows["at"][first].tolist(),
        last_at=rows["at"][last].tolist(),
    )
