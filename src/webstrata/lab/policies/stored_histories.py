"""Histories from a live store, as columns of the lab; and rows of Parquet files, for `estimate`.

A visit that found a change shows only that there was at least one since the previous visit: one change is assumed
half-way between the two. Changes that no visit found are missing, so recall is relative to the captured changes, and a
policy with more visits than the store had cannot capture more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from webstrata.clock import DAY_S
from webstrata.errors import UsageError
from webstrata.lab.policies.histories import Histories, make_histories
from webstrata.ports import Store
from webstrata.records import PageSummary

CORPUS = "store"
_CHUNK = 5_000
_LEFT_OUT = 0.2
"""Share of the pages that may be younger than the window."""


async def stored_histories(store: Store) -> Histories:
    """The histories of all watched pages that were seen at least twice. Raises UsageError if there is none."""
    rows: list[dict[str, object]] = []
    after = 0
    while chunk := await store.budgets.summaries(after, _CHUNK):
        after = chunk[-1].id
        rows += _rows(chunk, await store.visit_log.observations([page.id for page in chunk]))
    if not rows:
        raise UsageError("no page of the store was seen twice yet: there is no history to replay.")
    return make_histories(rows)


def covered_days(histories: Histories) -> float:
    """The longest window in whole days that four of five pages cover. Raises UsageError if it is below a day."""
    days = float(np.floor(np.quantile((histories.until - histories.first) / DAY_S, _LEFT_OUT)))
    if days < 1:
        raise UsageError("the store's pages were watched for less than a day: let it run, or give --years.")
    return days


def _rows(pages: Sequence[PageSummary], logged: Sequence[tuple[int, float, bool]]) -> list[dict[str, object]]:
    seen: dict[int, list[tuple[float, bool]]] = {}
    for page_id, at, changed in logged:
        seen.setdefault(page_id, []).append((at, changed))
    rows: list[dict[str, object]] = []
    for page in pages:
        visits = seen.get(page.id, [])
        if len(visits) > 1:
            steps = pairwise(visits)
            changes = [(before + at) / 2 for (before, _), (at, changed) in steps if changed and at > before]
            rows.append(
                {
                    "corpus": CORPUS,
                    "page": page.url,
                    "site": page.host,
                    "first": visits[0][0],
                    "until": visits[-1][0],
                    "changes": changes,
                }
            )
    return rows


_BATCH = 50_000


def parquet_rows(file: Path, columns: tuple[str, ...]) -> Iterator[tuple[object, ...]]:
    """One tuple of values for each row; timestamps as seconds since 1970."""
    try:
        with pq.ParquetFile(file) as table:
            missing = [name for name in columns if name not in table.schema_arrow.names]
            if missing:
                raise UsageError(f"{file} has no column {', '.join(missing)}: it needs {', '.join(columns)}.")
            for batch in table.iter_batches(_BATCH, columns=list(columns)):
                yield from zip(*(_plain(batch.column(name)) for name in columns), strict=True)
    except pa.ArrowException as problem:
        raise UsageError(f"{file} cannot be read as Parquet: {problem}.") from None


def _plain(column: pa.Array) -> list[object]:
    if pa.types.is_timestamp(column.type):
        return [None if at is None else at / 1e6 for at in column.cast(pa.timestamp("us")).cast(pa.int64()).to_pylist()]
    return list(column.to_pylist())
