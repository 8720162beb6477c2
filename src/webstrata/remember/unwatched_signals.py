"""Announcements about URLs that are not watched yet: kept within bounds, assigned once the URL is watched."""

from __future__ import annotations

from sqlalchemy import Connection, bindparam, delete, func, literal, select
from sqlalchemy.types import Integer

from webstrata.clock import DAY_S
from webstrata.records import NewAnnouncements
from webstrata.remember.statements import insert_into
from webstrata.remember.tables import pages, signals, unwatched_signals
from webstrata.remember.text import is_storable

MAX_PER_SOURCE = 2_000
"""URLs kept for one source: those with the latest times."""
MAX_AGE_S = 180 * DAY_S
"""How long an announcement is kept after the source last changed it."""

_LATEST = (
    select(unwatched_signals.c.url)
    .where(unwatched_signals.c.source_id == bindparam("source"))
    .order_by(func.coalesce(unwatched_signals.c.given_at, 0.0).desc(), unwatched_signals.c.url)
    .limit(bindparam("limit"))
)
_OF_SOURCE = delete(unwatched_signals).where(unwatched_signals.c.source_id == bindparam("source"))
_DELETE_OLD = _OF_SOURCE.where(unwatched_signals.c.seen_at < bindparam("since"))
_DELETE_EXCESS = _OF_SOURCE.where(unwatched_signals.c.url.not_in(_LATEST))


def keep(connection: Connection, source: int, announced: NewAnnouncements) -> None:
    """Store the announcements about unwatched URLs. The caller holds the lock on the source's row."""
    if not announced.unwatched:
        return
    latest = sorted(announced.unwatched, key=lambda other: (-(other[1] or 0.0), other[0]))[:MAX_PER_SOURCE]
    values = [
        {"source_id": source, "url": url, "given_at": at, "seen_at": announced.seen_at}
        for url, at in latest
        if is_storable(url)
    ]
    statement = insert_into(connection, unwatched_signals)
    new = statement.excluded
    statement = statement.on_conflict_do_update(
        index_elements=["source_id", "url"],
        set_={"given_at": new.given_at, "seen_at": new.seen_at},
        where=func.coalesce(new.given_at > unwatched_signals.c.given_at, new.given_at.is_not(None)),
    )
    if values:
        connection.execute(statement, values)
    connection.execute(_DELETE_OLD, {"source": source, "since": announced.seen_at - MAX_AGE_S})
    connection.execute(_DELETE_EXCESS, {"source": source, "limit": MAX_PER_SOURCE})


def assign(connection: Connection, after: int) -> None:
    """Copy announcements to the pages that were just added (ids above `after`). They are not news of these pages."""
    found = (
        select(
            pages.c.id,
            unwatched_signals.c.source_id,
            unwatched_signals.c.given_at,
            unwatched_signals.c.seen_at,
            literal(0, Integer),
        )
        .join(unwatched_signals, unwatched_signals.c.url == pages.c.url)
        .where(pages.c.id > after)
    )
    names = ["page_id", "source_id", "given_at", "seen_at", "news"]
    statement = insert_into(connection, signals).from_select(names, found)
    connection.execute(statement.on_conflict_do_nothing(index_elements=["page_id", "source_id"]))
