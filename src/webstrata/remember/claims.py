"""Leases on due pages. A leased page's place in the queue is the end of its lease, so nobody meets it there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, Double, bindparam, case, cast, func, select, update

from webstrata.records import Page, PageState
from webstrata.remember import places, rows
from webstrata.remember.among import execute_among
from webstrata.remember.many import execute_many
from webstrata.remember.tables import pages, queue
from webstrata.remember.text import is_storable

_AT = cast(bindparam("at"), Double)
_UNTIL = cast(bindparam("until"), Double)

_DUE = (
    select(queue.c.page_id)
    .where(queue.c.due_at <= bindparam("now"))
    .order_by(queue.c.due_at, queue.c.page_id)
    .limit(bindparam("most"))
    .with_for_update(skip_locked=True)
    .cte("due")  # not a subselect: PostgreSQL might run that more than once and lock more than the limit
)
_LEASED: dict[str, Any] = {
    "lease_until": _UNTIL,
    "lease_owner": bindparam("owner"),
    # One that was paused at this very moment keeps out of the queue.
    "due_at": case((queue.c.due_at.is_not(None), _UNTIL)),
}
_LEASE = {
    "sqlite": update(queue).where(queue.c.page_id.in_(select(_DUE.c.page_id))),
    # Joined: in the order of the due pages, which mostly lie side by side; IN would shuffle them.
    "postgresql": update(queue).where(queue.c.page_id == _DUE.c.page_id),
}
_CLAIM = {engine: found.values(_LEASED).returning(queue.c.page_id) for engine, found in _LEASE.items()}

# A lease that a crash of the database forgets costs a visit made twice, never a fact: nobody waits for its sync.
_UNHURRIED = "SET LOCAL synchronous_commit = off"


def claim(connection: Connection, now: float, limit: int, until: float, owner: str) -> list[Page]:
    """Lease the most overdue pages: by next visit, or for those whose lease ran out by when it did."""
    if limit <= 0:
        return []
    _do_not_wait_for_the_disk(connection)
    wanted = {"now": now, "most": limit, "until": until, "owner": owner}
    ids = connection.execute(_CLAIM[connection.dialect.name], wanted).scalars().all()
    claimed = _pages(connection, ids)
    claimed.sort(key=lambda page: (page.next_at or 0.0, page.id))
    return claimed


def claim_pages(connection: Connection, ids: Sequence[int], now: float, until: float, owner: str) -> list[Page]:
    """Lease exactly these, as far as they are watched and nobody holds them, in the order given."""
    _do_not_wait_for_the_disk(connection)
    leased = execute_among(connection, _choosing, ids, now=now, until=until, owner=owner).scalars().all()
    found = {page.id: page for page in _pages(connection, leased)}
    return [found[id_] for id_ in dict.fromkeys(ids) if id_ in found]


def _choosing(among: Any) -> Any:
    is_free = queue.c.lease_until.is_(None) | (queue.c.lease_until <= bindparam("now"))
    chosen = (
        select(queue.c.page_id)
        .join(pages, pages.c.id == queue.c.page_id)
        .where(among(queue.c.page_id), pages.c.state == PageState.ACTIVE.value, is_free)
        .order_by(queue.c.page_id)
        .with_for_update(of=queue, skip_locked=True)
        .cte("chosen")
    )
    return update(queue).where(queue.c.page_id == chosen.c.page_id).values(_LEASED).returning(queue.c.page_id)


def _pages(connection: Connection, ids: Sequence[int]) -> list[Page]:
    """Read after the lease: nobody visits them meanwhile."""
    return [rows.page(row) for row in execute_among(connection, _reading, ids).all()]


def _reading(among: Any) -> Any:
    return select(*rows.PAGE_COLUMNS).where(among(pages.c.id))


def _do_not_wait_for_the_disk(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(_UNHURRIED)


_MOVE = update(pages).where(pages.c.id == bindparam("page")).values(next_at=_AT)


def release(connection: Connection, given_back: Iterable[tuple[int, float | None]]) -> None:
    found = sorted(given_back, key=lambda pair: pair[0])
    held = places.hold(connection, (page for page, _ in found))
    execute_many(connection, _MOVE, [{"page": page, "at": at} for page, at in found if at is not None])
    places.release(connection, held)


def end_leases(connection: Connection, owner: str) -> int:
    """Give back all that an owner held: for one that died and is back."""
    query = select(queue.c.page_id).where(queue.c.lease_until.is_not(None), queue.c.lease_owner == owner)
    held = places.hold(connection, connection.execute(query).scalars())
    places.release(connection, held)
    return len(held)


def stale(connection: Connection, now: float) -> int:
    """Leases that ran out."""
    return int(connection.execute(select(func.count()).where(queue.c.lease_until <= now)).scalar_one())


_WAKE = (
    update(pages)
    .where(pages.c.url == bindparam("page"), func.coalesce(pages.c.next_at > _AT, True))
    .values(next_at=_AT)
)


def wake(connection: Connection, calls: Iterable[tuple[str, float]]) -> None:
    """Bring known pages' next visits forward; never back."""
    earliest: dict[str, float] = {}
    for url, at in calls:
        if is_storable(url):
            earliest[url] = min(at, earliest.get(url, at))
    held = places.hold_urls(connection, earliest)
    if held:
        connection.execute(_WAKE, [{"page": url, "at": at} for url, at in sorted(earliest.items())])
        places.place(connection, held)
