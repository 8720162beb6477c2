"""What must hold between the tables, on either engine: rows lead somewhere, places follow, counts are true.

Counts and places are derived from other rows and can be made anew (`recount`). The rest cannot.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Column, Connection, and_, delete, exists, func, select, update

from webstrata.records import Contradiction
from webstrata.remember import recount
from webstrata.remember.queue import PLACE, enter
from webstrata.remember.tables import heard, page_tags, pages, queue, signals, sites, sources, visits


def contradictions(connection: Connection) -> list[Contradiction]:
    """All that do not fit, as of one moment."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        connection.exec_driver_sql("SET LOCAL statement_timeout = 0")
    return [*_orphans(connection), *_misplaced(connection), *_miscounted(connection)]


# ── rows that lead nowhere ──────────────────────────────────────────────────────────────────────────────────

_LEADS: tuple[tuple[str, Column[Any], Column[Any]], ...] = (
    ("visits", visits.c.page_id, pages.c.id),
    ("tags", page_tags.c.page_id, pages.c.id),
    ("signals", signals.c.page_id, pages.c.id),
    ("signals", signals.c.source_id, sources.c.id),
    ("words heard", heard.c.source_id, sources.c.id),
    ("pages", pages.c.site_id, sites.c.id),
)
_NO_LOG = (pages.c.visits > 0) & ~exists().where(visits.c.page_id == pages.c.id)


def _orphans(connection: Connection) -> Iterator[Contradiction]:
    for things, key, target in _LEADS:
        lost = key.is_not(None) & ~exists().where(target == key)
        number, first = connection.execute(select(func.count(), func.min(key)).where(lost)).one()
        if number:
            what = (
                f"{number} {things} name a row of {target.table.name} that is not there, the first {key.name} {first}"
            )
            yield Contradiction(what=what)
    number, first = connection.execute(select(func.count(), func.min(pages.c.url)).where(_NO_LOG)).one()
    if number:
        yield Contradiction(what=f"{number} pages were visited and have nothing in the log, the first {first}")


# ── places in the queue ─────────────────────────────────────────────────────────────────────────────────────

_NO_PLACE = ~exists().where(queue.c.page_id == pages.c.id)
_NO_PAGE = ~exists().where(pages.c.id == queue.c.page_id)
_IS_HELD = queue.c.lease_until.is_not(None)
# A page that was paused at the moment of its lease, or had no next visit, is held and has no place.
_WRONG = queue.c.due_at.is_distinct_from(PLACE) & ~and_(_IS_HELD, queue.c.due_at.is_(None))


def _misplaced(connection: Connection) -> Iterator[Contradiction]:
    for query, what in (
        (select(func.count(), func.min(pages.c.url)).where(_NO_PLACE), "pages have no place in the queue"),
        (select(func.count(), func.min(queue.c.page_id)).where(_NO_PAGE), "places in the queue have no page"),
        (
            select(func.count(), func.min(pages.c.url)).join(queue, queue.c.page_id == pages.c.id).where(_WRONG),
            "pages are not in the queue where their next visit puts them",
        ),
    ):
        number, first = connection.execute(query).one()
        if number:
            yield Contradiction(what=f"{number} {what}, the first {first}", is_derived=True)


# ── counts ──────────────────────────────────────────────────────────────────────────────────────────────────


def _miscounted(connection: Connection) -> Iterator[Contradiction]:
    for name, kept, found in recount.differences(connection):
        yield Contradiction(what=f"the kept count of {name} is {kept}, the rows give {found}", is_derived=True)


def make_anew(connection: Connection) -> None:
    """Counts and places from the rows that they follow from: minutes on a large database."""
    recount.recount(connection)
    connection.execute(delete(queue).where(_NO_PAGE))
    enter(connection, 0)
    connection.execute(update(queue).where(queue.c.page_id == pages.c.id, _WRONG).values(due_at=PLACE))
