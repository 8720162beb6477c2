"""The tables that `export` writes for research: every visit, every change, and the forecast of every page.

Rows are produced in batches, so that a table may be larger than memory. `docs/reference/tables.md` describes the
columns.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, Literal, NamedTuple

from webstrata.flows.forecasts import ForecastRow, page_forecasts
from webstrata.ports import Store
from webstrata.records import PageVisit, VisitFilter
from webstrata.schedule.schedule import Schedule

BATCH = 10_000
"""Rows of a batch."""


class TableColumn(NamedTuple):
    """A column of a table, and the value of a row in it."""

    name: str
    kind: Literal["time", "text", "category", "texts", "integer", "number", "flag"]
    """`category`: a text with few different values; `texts`: a list."""
    value: Callable[[Any], object]


Batch = list[Any]
"""Rows: `PageVisit` or `ForecastRow`."""


_PAGE = (
    TableColumn("page_id", "integer", lambda row: row.visit.page_id),
    TableColumn("url", "text", lambda row: row.url),
    TableColumn("host", "category", lambda row: row.host),
    TableColumn("role", "category", lambda row: row.role.value),
    TableColumn("tags", "texts", lambda row: row.tags),
)
_VERDICT = (
    TableColumn("outcome", "category", lambda row: row.visit.outcome.value),
    TableColumn("status", "integer", lambda row: row.visit.status),
    TableColumn("kind", "category", lambda row: row.visit.kind.value),
    TableColumn("significance", "number", lambda row: row.visit.significance),
    TableColumn("reasons", "texts", lambda row: row.visit.reasons),
    TableColumn("reverted", "flag", lambda row: row.visit.reverted),
    TableColumn("new_links", "integer", lambda row: row.visit.new_links),
)
_CONTENT = (
    TableColumn("bytes", "integer", lambda row: row.visit.bytes),
    TableColumn("content_type", "category", lambda row: row.visit.headers.get("content-type")),
    TableColumn("raw", "text", lambda row: row.visit.raw),
    TableColumn("text", "text", lambda row: row.visit.text),
    TableColumn("payload", "text", lambda row: row.visit.payload),
    TableColumn("warc_file", "category", lambda row: row.visit.position and row.visit.position.file),
    TableColumn("warc_offset", "integer", lambda row: row.visit.position and row.visit.position.offset),
    TableColumn("warc_length", "integer", lambda row: row.visit.position and row.visit.position.length),
    TableColumn("warc_record_id", "text", lambda row: row.visit.position and row.visit.position.record_id),
)

VISIT_COLUMNS = (
    *_PAGE,
    TableColumn("time", "time", lambda row: row.visit.at),
    *_VERDICT,
    TableColumn("changed", "flag", lambda row: row.visit.counts),
    TableColumn("bytes_changed", "flag", lambda row: row.visit.raw_changed),
    TableColumn("failure", "category", lambda row: row.visit.failure and row.visit.failure.kind.value),
    TableColumn("failure_detail", "text", lambda row: row.visit.failure and row.visit.failure.detail),
    TableColumn("duration_s", "number", lambda row: row.visit.duration_s),
    TableColumn("redirects", "integer", lambda row: len(row.visit.hops)),
    TableColumn("truncated", "category", lambda row: row.visit.truncated),
    *_CONTENT,
)
CHANGE_COLUMNS = (
    *_PAGE,
    TableColumn("time", "time", lambda row: row.visit.at),
    TableColumn("old_seen_at", "time", lambda row: row.seen_before_at),
    *_VERDICT,
    *_CONTENT,
)
FORECAST_COLUMNS = (
    TableColumn("page_id", "integer", lambda row: row.page.id),
    TableColumn("url", "text", lambda row: row.page.url),
    TableColumn("host", "category", lambda row: row.page.host),
    TableColumn("tags", "texts", lambda row: row.page.tags),
    TableColumn("weight", "number", lambda row: row.page.weight),
    TableColumn("policy", "category", lambda row: row.policy),
    TableColumn("time", "time", lambda row: row.at),
    TableColumn("visits", "integer", lambda row: row.page.visits),
    TableColumn("changes", "integer", lambda row: row.page.changes),
    TableColumn("failures", "integer", lambda row: row.page.failures),
    TableColumn("added_at", "time", lambda row: row.page.added_at),
    TableColumn("last_seen_at", "time", lambda row: row.page.last_seen_at),
    TableColumn("rate_per_day", "number", lambda row: row.rate_per_day),
    TableColumn("changed_probability", "number", lambda row: row.changed_probability),
    TableColumn("expected_change_at", "time", lambda row: row.expected_change_at),
    TableColumn("observed_rate_per_day", "number", lambda row: row.observed_rate),
    TableColumn("observed_rate_low", "number", lambda row: row.observed_low),
    TableColumn("observed_rate_high", "number", lambda row: row.observed_high),
    TableColumn("interval_s", "number", lambda row: row.page.interval_s),
    TableColumn("next_visit_at", "time", lambda row: row.page.next_at),
)


async def visit_batches(store: Store, wanted: VisitFilter) -> AsyncIterator[Batch]:
    """The visits or changes, oldest first."""
    batch: list[PageVisit] = []
    async for row in store.visit_log.listed(wanted, "oldest"):
        batch.append(row)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


async def forecast_batches(
    store: Store, schedule: Schedule, policy: str, now: float, *, tag: str | None, host: str | None
) -> AsyncIterator[Batch]:
    """The forecasts of the active pages, by id."""
    async for forecasts in page_forecasts(store, schedule, policy, now):
        yield [row for row in forecasts if _is_selected(row, tag, host)]


def _is_selected(row: ForecastRow, tag: str | None, host: str | None) -> bool:
    return (tag is None or tag in row.page.tags) and (host is None or row.page.host == host)


def values(column: TableColumn, rows: Sequence[Any]) -> list[object]:
    """The values of a column."""
    return [column.value(row) for row in rows]
