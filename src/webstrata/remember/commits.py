"""One batch of finished visits, in one transaction: pages, log, originals, discoveries, signals, politeness, counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Double, bindparam, cast, select, update

from webstrata.records import Batch, FinishedVisit, Original
from webstrata.remember import politeness, queue, reservations, rows, signals
from webstrata.remember.page_rules import by_old_wishes
from webstrata.remember.pages import insert_pages
from webstrata.remember.statements import bites, execute_among, execute_many, insert_missing
from webstrata.remember.tables import originals, pages, visits
from webstrata.remember.text import is_storable, required
from webstrata.remember.totals import TotalsDelta, count_visits, rate

_VISITED = (
    "interval_s", "policy", "policy_state", "reason", "visits", "changes", "failures", "last_visit_at", "last_seen_at",
    "last_change_at", "last_outcome", "etag", "last_modified", "payload", "fingerprint", "gone",
    "memory",
)  # fmt: skip

_NEXT = cast(bindparam("next"), Double)  # PostgreSQL cannot tell the type of a null by itself
_VISIT_PAGE = (
    update(pages)
    .where(pages.c.id == bindparam("page"))
    .values(
        **{name: bindparam(name) for name in _VISITED},
        next_at=_NEXT,
    )
)
_LOGGED = select(visits.c.page_id, visits.c.at).where(
    visits.c.page_id.in_(bindparam("ids", expanding=True)), visits.c.at >= bindparam("since")
)


def commit(connection: Connection, batch: Batch, now: float) -> None:
    """Write it all. A batch that was written before changes nothing, so a lost answer may be asked for again."""
    tally = TotalsDelta()
    entries = sorted(batch.entries, key=lambda entry: (entry.page.id, entry.visit.at))
    _take_over(connection, entries, _called(connection, batch), tally)
    fresh = _unlogged(connection, entries)
    insert_missing(connection, visits, ["page_id", "at"], [rows.visit_values(entry.visit) for entry in fresh])
    _keep_originals(connection, batch)
    # A link that no column can hold must not cost the batch.
    found = [page for page in batch.discovered if is_storable(page.url)]
    insert_pages(connection, found, now, tally)
    queue.wake(connection, batch.wake)
    if fresh:
        reservations.pay(connection, batch.payer, batch.paid)
        signals.check(connection, batch.checked)
    signals.announce(connection, batch.announced)
    politeness.put(connection, batch.hosts, batch.addresses, batch.robots)
    tally.write(connection)
    count_visits(connection, ((entry.page.host, entry.visit) for entry in fresh))


def _called(connection: Connection, batch: Batch) -> list[int]:
    """Pages that the batch moves without having visited them."""
    urls = {url for url, _ in batch.wake} | {url for one in batch.announced for url in one.call}
    return queue.ids_of(connection, (url for url in urls if is_storable(url)))


def _take_over(
    connection: Connection, entries: Sequence[FinishedVisit], also: Sequence[int], tally: TotalsDelta
) -> None:
    """The pages as they are now; of one page visited twice in a batch, the later.

    All pages that the batch will touch are held from here on, in one order: two batches never wait for each other.
    """
    latest = {entry.page.id: entry.page for entry in entries}
    held: list[Any] = list(execute_among(connection, _holding, [*latest, *also]))
    for page_id, state, interval_s, edits in held:
        if page_id not in latest:
            continue
        tally.rate(rate(state, interval_s), rate(state, latest[page_id].interval_s))
        if edits != latest[page_id].edits:
            latest[page_id] = by_old_wishes(latest[page_id])
    execute_many(connection, _VISIT_PAGE, [rows.visited_page(page) for page in latest.values()])
    queue.free(connection, latest)


def _holding(among: Any) -> Any:
    query = select(pages.c.id, pages.c.state, pages.c.interval_s, pages.c.edits).where(among(pages.c.id))
    return query.order_by(pages.c.id).with_for_update(key_share=True)


def _unlogged(connection: Connection, entries: Sequence[FinishedVisit]) -> list[FinishedVisit]:
    """Entries whose visit is not in the log yet, each visit once."""
    logged: set[Any] = set()
    since = min((entry.visit.at for entry in entries), default=0.0)
    for bite in bites(sorted({entry.visit.page_id for entry in entries})):
        logged.update(tuple(row) for row in connection.execute(_LOGGED, {"ids": bite, "since": since}))
    fresh: dict[tuple[int, float], FinishedVisit] = {}
    for entry in entries:
        key = (entry.visit.page_id, entry.visit.at)
        if key not in logged:
            fresh.setdefault(key, entry)
    return list(fresh.values())


def _keep_originals(connection: Connection, batch: Batch) -> None:
    first: dict[str, Original] = {}
    for original in batch.originals:
        first.setdefault(original.payload, original)
    values = [
        {
            "payload": original.payload,
            "record_id": original.record_id,
            "at": original.at,
            "url": required(original.url),
            "file": original.file,
            "file_offset": original.offset,
        }
        for _, original in sorted(first.items())
    ]
    insert_missing(connection, originals, ["payload"], values)
