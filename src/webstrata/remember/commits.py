"""Committing a batch of visits in one transaction: pages, log, originals, facts, discoveries, signals, politeness,
counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Double, bindparam, cast, select, update

from webstrata.records import Batch, FinishedVisit, Original
from webstrata.remember import queue, reservations, rows, signals
from webstrata.remember.history.features import put_features
from webstrata.remember.history.links import add_links
from webstrata.remember.hosts import politeness, templates
from webstrata.remember.page_rules import without_validators
from webstrata.remember.pages import adopt, adoptable_ids, insert_pages
from webstrata.remember.sites import finds
from webstrata.remember.statements import chunks, execute_among, execute_many, insert_missing
from webstrata.remember.tables import originals, pages, visits
from webstrata.remember.text import is_storable, required
from webstrata.remember.totals import TotalsDelta, count_visits, rate

_VISITED = (
    "interval_s", "policy", "policy_state", "reason", "visits", "changes", "failures", "last_visit_at", "last_seen_at",
    "last_change_at", "last_outcome", "etag", "last_modified", "payload", "fingerprint", "gone",
    "full_bytes", "answers_304", "memory",
)  # fmt: skip

_NEXT = cast(bindparam("next"), Double)  # PostgreSQL cannot infer the type of a null parameter
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


def commit(connection: Connection, batch: Batch, now: float, home: str = "") -> None:
    """Write the batch; `home`: in whose archive its records are, if several homes share the tables.

    A batch that was committed before changes nothing, so the transaction may be repeated.
    """
    delta = TotalsDelta()
    entries = sorted(batch.entries, key=lambda entry: (entry.page.id, entry.visit.at))
    # A link that cannot be stored in a column must not fail the batch.
    found = [page for page in batch.discovered if is_storable(page.url)]
    adopted = adoptable_ids(connection, found)
    _update_pages(connection, entries, [*_woken(connection, batch), *adopted], delta)
    fresh = _unlogged(connection, entries)
    insert_missing(connection, visits, ["page_id", "at"], [rows.visit_values(entry.visit) for entry in fresh])
    _insert_originals(connection, batch, home)
    put_features(connection, [(one.page_id, one.at, one.features) for one in batch.contents])
    add_links(connection, [(one.page_id, one.at, one.links) for one in batch.contents if one.links is not None])
    insert_pages(connection, found, now, delta)
    adopt(connection, found, adopted, now, delta)
    queue.wake(connection, batch.wake)
    if fresh:
        reservations.pay(connection, batch.payer, batch.paid)
        signals.check(connection, batch.checked)
        finds.add(connection, batch.finds)
    signals.announce(connection, batch.announced)
    politeness.put(connection, batch.hosts, batch.addresses, batch.robots)
    templates.put_templates(connection, batch.templates)
    delta.write(connection)
    count_visits(connection, ((entry.page.host, entry.visit) for entry in fresh))


def _woken(connection: Connection, batch: Batch) -> list[int]:
    """Pages whose next visit the batch changes without having visited them."""
    urls = {url for url, _ in batch.wake} | {url for one in batch.announced for url in one.visit_soon}
    return queue.ids_of(connection, (url for url in urls if is_storable(url)))


def _update_pages(
    connection: Connection, entries: Sequence[FinishedVisit], also: Sequence[int], delta: TotalsDelta
) -> None:
    """Write the page rows; for a page visited twice in a batch, the later state.

    All page rows that the batch changes are locked here, in one order, so that two batches cannot deadlock.
    """
    latest = {entry.page.id: entry.page for entry in entries}
    locked: list[Any] = list(execute_among(connection, _locking, [*latest, *also]))
    for page_id, state, interval_s, edits in locked:
        if page_id not in latest:
            continue
        delta.rate(rate(state, interval_s), rate(state, latest[page_id].interval_s))
        if edits != latest[page_id].edits:
            latest[page_id] = without_validators(latest[page_id])
    execute_many(connection, _VISIT_PAGE, [rows.visited_page(page) for page in latest.values()])
    queue.end_page_leases(connection, latest)


def _locking(among: Any) -> Any:
    query = select(pages.c.id, pages.c.state, pages.c.interval_s, pages.c.edits).where(among(pages.c.id))
    return query.order_by(pages.c.id).with_for_update(key_share=True)


def _unlogged(connection: Connection, entries: Sequence[FinishedVisit]) -> list[FinishedVisit]:
    """Entries whose visit is not logged yet, each visit once."""
    logged: set[Any] = set()
    since = min((entry.visit.at for entry in entries), default=0.0)
    for chunk in chunks(sorted({entry.visit.page_id for entry in entries})):
        logged.update(tuple(row) for row in connection.execute(_LOGGED, {"ids": chunk, "since": since}))
    fresh: dict[tuple[int, float], FinishedVisit] = {}
    for entry in entries:
        key = (entry.visit.page_id, entry.visit.at)
        if key not in logged:
            fresh.setdefault(key, entry)
    return list(fresh.values())


def _insert_originals(connection: Connection, batch: Batch, home: str) -> None:
    first: dict[str, Original] = {}
    for original in batch.originals:
        first.setdefault(original.payload, original)
    values = [
        {
            "payload": original.payload,
            "home": home,
            "record_id": original.record_id,
            "at": original.at,
            "url": required(original.url),
            "file": original.file,
            "file_offset": original.offset,
        }
        for _, original in sorted(first.items())
    ]
    insert_missing(connection, originals, ["payload", "home"], values)
