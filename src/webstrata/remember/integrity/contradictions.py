"""Invariants between the tables.

They hold on both engines: references exist, the queue matches the pages, counters match the rows. Counters and the
queue are derived and can be rebuilt (`rebuild_derived`); the other rows cannot.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Column, Connection, and_, delete, exists, func, select, update

from webstrata.records import Contradiction
from webstrata.remember import totals
from webstrata.remember.queue import DUE_AT, enter
from webstrata.remember.tables import (
    archives,
    copies,
    learned_pages,
    page_features,
    page_importance,
    page_links,
    page_tags,
    pages,
    queue,
    signals,
    sites,
    sources,
    unwatched_signals,
    visits,
)
from webstrata.wording import agreeing, counted


def contradictions(connection: Connection) -> list[Contradiction]:
    """All contradictions, in one consistent snapshot."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        connection.exec_driver_sql("SET LOCAL statement_timeout = 0")
    return [*_orphans(connection), *_queue_errors(connection), *_count_errors(connection)]


# ── references ──────────────────────────────────────────────────────────────────────────────────

_REFERENCES: tuple[tuple[str, Column[Any], Column[Any]], ...] = (
    ("visit", visits.c.page_id, pages.c.id),
    ("tag", page_tags.c.page_id, pages.c.id),
    ("signal", signals.c.page_id, pages.c.id),
    ("signal", signals.c.source_id, sources.c.id),
    ("unwatched signal", unwatched_signals.c.source_id, sources.c.id),
    ("page", pages.c.site_id, sites.c.id),
    ("copy", copies.c.page_id, pages.c.id),
    ("copy", copies.c.archive_id, archives.c.id),
    ("link row", page_links.c.page_id, pages.c.id),
    ("feature row", page_features.c.page_id, pages.c.id),
    ("importance row", page_importance.c.page_id, pages.c.id),
    ("learned row", learned_pages.c.page_id, pages.c.id),
)
_NO_LOG = (pages.c.visits > 0) & ~exists().where(visits.c.page_id == pages.c.id)


def _orphans(connection: Connection) -> Iterator[Contradiction]:
    for thing, key, target in _REFERENCES:
        lost = key.is_not(None) & ~exists().where(target == key)
        number, first = connection.execute(select(func.count(), func.min(key)).where(lost)).one()
        if number:
            refer = f"{counted(number, thing)} {agreeing(number, 'refers', 'refer')}"
            what = f"{refer} to a missing row of {target.table.name}; the first {key.name} is {first}"
            yield Contradiction(what=what)
    number, first = connection.execute(select(func.count(), func.min(pages.c.url)).where(_NO_LOG)).one()
    if number:
        count = agreeing(number, "counts visits but has", "count visits but have")
        yield Contradiction(what=f"{counted(number, 'page')} {count} none in the log; the first is {first}")


# ── pages and their log ─────────────────────────────────────────────────────────────────────────

_LOG = select(visits.c.page_id, func.max(visits.c.id).label("last_id")).group_by(visits.c.page_id).subquery()
_LAST = visits.alias("last")


def log_contradictions(connection: Connection) -> list[Contradiction]:
    """Pages that do not agree with their visits; reads the whole log.

    Times are not compared: those of pages move when the clock is set, those of the log do not. Nor are counts: two
    visits of a page at the same instant are one row of the log. Checksums cover both.
    """
    found: list[Contradiction] = []
    with_log = pages.outerjoin(_LOG, _LOG.c.page_id == pages.c.id)
    with_last = with_log.join(_LAST, _LAST.c.id == _LOG.c.last_id)
    for source, wrong, what in (
        (with_last, pages.c.last_outcome != _LAST.c.outcome, "another last outcome than the log"),
    ):
        query = select(func.count(), func.min(pages.c.url)).select_from(source).where(wrong)
        number, first = connection.execute(query).one()
        if number:
            which = counted(number, "page has", "pages have")
            found.append(Contradiction(what=f"{which} {what}; the first is {first}"))
    return found


# ── queue ─────────────────────────────────────────────────────────────────────────────────────

_NOT_QUEUED = ~exists().where(queue.c.page_id == pages.c.id)
_NO_PAGE = ~exists().where(pages.c.id == queue.c.page_id)
_IS_LEASED = queue.c.lease_until.is_not(None)
# A leased page that was paused meanwhile, or has no next visit, has no `due_at`.
_WRONG_DUE = queue.c.due_at.is_distinct_from(DUE_AT) & ~and_(_IS_LEASED, queue.c.due_at.is_(None))


def _queue_errors(connection: Connection) -> Iterator[Contradiction]:
    for query, (one, more, what) in (
        (
            select(func.count(), func.min(pages.c.url)).where(_NOT_QUEUED),
            ("page is", "pages are", "missing from the queue"),
        ),
        (
            select(func.count(), func.min(queue.c.page_id)).where(_NO_PAGE),
            ("queue row has", "queue rows have", "no page"),
        ),
        (
            select(func.count(), func.min(pages.c.url)).join(queue, queue.c.page_id == pages.c.id).where(_WRONG_DUE),
            ("queue row does", "queue rows do", "not match the next visit of its page"),
        ),
    ):
        number, first = connection.execute(query).one()
        if number:
            which = f"{counted(number, one, more)} {what}"
            yield Contradiction(what=f"{which}; the first is {first}", is_derived=True)


# ── counters ──────────────────────────────────────────────────────────────────────────────────────────────────


def _count_errors(connection: Connection) -> Iterator[Contradiction]:
    for name, kept, found in totals.differences(connection):
        yield Contradiction(what=f"the counter of {name} is {kept}, the rows give {found}", is_derived=True)


def rebuild_derived(connection: Connection) -> None:
    """Rebuild counters and the queue from the rows; takes minutes on a large database."""
    totals.recount(connection)
    connection.execute(delete(queue).where(_NO_PAGE))
    enter(connection, 0)
    connection.execute(update(queue).where(queue.c.page_id == pages.c.id, _WRONG_DUE).values(due_at=DUE_AT))
