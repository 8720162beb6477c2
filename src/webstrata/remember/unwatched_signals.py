"""What sources say of addresses that nobody watches yet: bounded, and handed over when one of them is watched."""

from __future__ import annotations

from sqlalchemy import Connection, bindparam, delete, func, literal, select
from sqlalchemy.types import Integer

from webstrata.clock import DAY_S
from webstrata.records import NewAnnouncements
from webstrata.remember.statements import insert_into
from webstrata.remember.tables import heard, pages, signals
from webstrata.remember.text import is_storable

MOST = 2_000
"""Addresses of one source: those with the latest times."""
LONGEST_S = 180 * DAY_S
"""How long they are kept after they were read last with a new time."""

_LATEST = (
    select(heard.c.url)
    .where(heard.c.source_id == bindparam("source"))
    .order_by(func.coalesce(heard.c.given_at, 0.0).desc(), heard.c.url)
    .limit(bindparam("most"))
)
_OF_SOURCE = delete(heard).where(heard.c.source_id == bindparam("source"))
_OLD = _OF_SOURCE.where(heard.c.seen_at < bindparam("since"))
_TOO_MANY = _OF_SOURCE.where(heard.c.url.not_in(_LATEST))


def keep(connection: Connection, source: int, one: NewAnnouncements) -> None:
    """The caller holds the source's row: nobody else writes what it said."""
    if not one.others:
        return
    latest = sorted(one.others, key=lambda other: (-(other[1] or 0.0), other[0]))[:MOST]
    values = [
        {"source_id": source, "url": url, "given_at": at, "seen_at": one.seen_at}
        for url, at in latest
        if is_storable(url)
    ]
    statement = insert_into(connection, heard)
    new = statement.excluded
    statement = statement.on_conflict_do_update(
        index_elements=["source_id", "url"],
        set_={"given_at": new.given_at, "seen_at": new.seen_at},
        where=func.coalesce(new.given_at > heard.c.given_at, new.given_at.is_not(None)),
    )
    if values:
        connection.execute(statement, values)
    connection.execute(_OLD, {"source": source, "since": one.seen_at - LONGEST_S})
    connection.execute(_TOO_MANY, {"source": source, "most": MOST})


def hand_over(connection: Connection, after: int) -> None:
    """Pages beyond this id were just added: what was said of them is theirs, and is no news of pages never seen."""
    found = (
        select(pages.c.id, heard.c.source_id, heard.c.given_at, heard.c.seen_at, literal(0, Integer))
        .join(heard, heard.c.url == pages.c.url)
        .where(pages.c.id > after)
    )
    names = ["page_id", "source_id", "given_at", "seen_at", "news"]
    statement = insert_into(connection, signals).from_select(names, found)
    connection.execute(statement.on_conflict_do_nothing(index_elements=["page_id", "source_id"]))
