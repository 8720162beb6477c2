"""The visits that a home has logged and the copies that it imported, as observations for `estimate`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from msgspec.structs import replace

from webstrata.cli.files.observations import PageObservations
from webstrata.cli.session import open_node, run_async
from webstrata.errors import UsageError
from webstrata.predict.updates import UpdateEvidence, update_history
from webstrata.predict.visit_history import VisitHistory, joined


def store_observations(
    home: Path | None, now: float, *, tag: str | None, host: str | None, with_copies: bool
) -> PageObservations:
    """What was seen of the active pages until now; with copies, also of those that are only known from copies. Raises
    UsageError if there is nothing."""
    from webstrata.flows.updates.known_pages import KnownPageFilter, known_pages, update_evidence

    node = open_node(home)
    wanted = KnownPageFilter(tag=tag, host=host, watched_only=not with_copies)
    urls: list[str] = []
    parts: list[VisitHistory] = []
    first_at: list[float] = []
    last_at: list[float] = []

    async def collect() -> None:
        async with node.store() as store:
            async for pages in known_pages(store, wanted):
                ids = [page.id for page in pages]
                evidence = _until(await update_evidence(store, ids, "content", with_copies=with_copies), now)
                seen = _seen_times(evidence)
                chosen = np.array([id_ in seen for id_ in ids], dtype=bool)
                parts.append(update_history(evidence, "content").of_pages(chosen))
                for page in pages:
                    if times := seen.get(page.id):
                        urls.append(page.url)
                        first_at.append(min(times))
                        last_at.append(max(times))

    run_async(collect)
    if not urls:
        chosen = " that is selected" if tag or host else ""
        raise UsageError(f"no active page{chosen} was seen yet. `webstrata crawl` visits the pages that are due.")
    return PageObservations(pages=urls, visits=joined(parts), first_at=first_at, last_at=last_at)


def _until(evidence: UpdateEvidence, now: float) -> UpdateEvidence:
    return replace(
        evidence,
        visits=[visit for visit in evidence.visits if visit[1] <= now],
        copies=[copy for copy in evidence.copies if copy.at <= now],
    )


def _seen_times(evidence: UpdateEvidence) -> dict[int, list[float]]:
    """By page: when it was seen."""
    seen: dict[int, list[float]] = {}
    for id_, at, _ in evidence.visits:
        seen.setdefault(id_, []).append(at)
    for copy in evidence.copies:
        seen.setdefault(copy.page_id, []).append(copy.at)
    return seen
