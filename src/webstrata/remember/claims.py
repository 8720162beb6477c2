"""Leases on due pages. A leased page's place in the due index is the end of its lease, so nobody meets it there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import BindParameter, Connection, Double, bindparam, case, cast, func, select, update

from webstrata.records import Page, PageState
from webstrata.remember import rows
from webstrata.remember.tables import pages
from webstrata.remember.text import is_storable
from webstrata.remember.upsert import bites

_AT = cast(bindparam("at"), Double)
_IS_ACTIVE = pages.c.state == PageState.ACTIVE.value

_DUE = (
    select(pages.c.id)
    .where(pages.c.due_at <= bindparam("now"))
    .order_by(pages.c.due_at, pages.c.id)
    .limit(bindparam("most"))
    .with_for_update(skip_locked=True)
    .cte("due")  # not a subselect: PostgreSQL might run that more than once and lock more than the limit
)
LEASED: dict[str, BindParameter[Any]] = {
    "lease_until": bindparam("until"),
    "lease_owner": bindparam("owner"),
    "due_at": bindparam("until"),
}
_CLAIM = {
    "sqlite": update(pages).where(pages.c.id.in_(select(_DUE.c.id))).values(LEASED).returning(*rows.PAGE_COLUMNS),
    # Joined: in the order of the due pages, which mostly lie side by side; IN would shuffle them.
    "postgresql": update(pages).where(pages.c.id == _DUE.c.id).values(LEASED).returning(*rows.PAGE_COLUMNS),
}
# A lease that a crash of the database forgets costs a visit made twice, never a fact: nobody waits for its sync.
_UNHURRIED = "SET LOCAL synchronous_commit = off"

FREE = {"lease_until": None, "lease_owner": None}


def claim(connection: Connection, now: float, limit: int, until: float, owner: str) -> list[Page]:
    """Lease the most overdue pages: by next visit, or for those whose lease ran out by when it did."""
    if limit <= 0:
        return []
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(_UNHURRIED)
    wanted = {"now": now, "most": limit, "until": until, "owner": owner}
    claimed = [rows.page(row) for row in connection.execute(_CLAIM[connection.dialect.name], wanted)]
    claimed.sort(key=lambda page: (page.next_at or 0.0, page.id))
    return claimed


_RELEASE = (
    update(pages).where(pages.c.id == bindparam("page")).values(**FREE, due_at=case((_IS_ACTIVE, pages.c.next_at)))
)
_RELEASE_AT = (
    update(pages).where(pages.c.id == bindparam("page")).values(**FREE, next_at=_AT, due_at=case((_IS_ACTIVE, _AT)))
)


def release(connection: Connection, given_back: Iterable[tuple[int, float | None]]) -> None:
    found = sorted(given_back, key=lambda pair: pair[0])
    as_before = [{"page": page} for page, at in found if at is None]
    moved = [{"page": page, "at": at} for page, at in found if at is not None]
    if as_before:
        connection.execute(_RELEASE, as_before)
    if moved:
        connection.execute(_RELEASE_AT, moved)


def end_leases(connection: Connection, owner: str) -> int:
    """Give back all that an owner held: for one that died and is back."""
    query = select(pages.c.id).where(pages.c.lease_until.is_not(None), pages.c.lease_owner == owner)
    held = sorted(connection.execute(query).scalars())
    for bite in bites(held):
        freed = update(pages).where(pages.c.id.in_(bite)).values(**FREE, due_at=case((_IS_ACTIVE, pages.c.next_at)))
        connection.execute(freed)
    return len(held)


def wake(connection: Connection, calls: Iterable[tuple[str, float]]) -> None:
    """Bring known pages' next visits forward; never back."""
    earliest: dict[str, float] = {}
    for url, at in calls:
        if is_storable(url):
            earliest[url] = min(at, earliest.get(url, at))
    if earliest:
        connection.execute(_WAKE, [{"page": url, "at": at} for url, at in sorted(earliest.items())])


_LATER = case((pages.c.lease_until > _AT, pages.c.lease_until), else_=_AT)
_WAKE = (
    update(pages)
    .where(pages.c.url == bindparam("page"), func.coalesce(pages.c.next_at > _AT, True))
    .values(next_at=_AT, due_at=case((_IS_ACTIVE, _LATER)))
)
