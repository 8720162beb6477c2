"""Places in the queue: when each page may be claimed, and who holds it.

A page's place is its next visit; while it is leased, the end of the lease; none if it is paused or has no next visit.
Places follow from the pages' rows. Whoever sets one holds the page's row, so that no two writers disagree; a claim
touches nothing but the queue.

Leases on due pages. A leased page's place in the queue is the end of its lease, so nobody meets it there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, Double, Select, bindparam, case, cast, func, select, update

from webstrata.records import Page, PageState
from webstrata.remember import rows
from webstrata.remember.statements import bites, execute_among, execute_many, insert_into
from webstrata.remember.tables import pages, queue
from webstrata.remember.text import is_storable

_IS_ACTIVE = pages.c.state == PageState.ACTIVE.value
PLACE = case((_IS_ACTIVE, func.coalesce(queue.c.lease_until, pages.c.next_at)))
"""Where a page belongs."""
_HOLD = select(pages.c.id).order_by(pages.c.id).with_for_update(key_share=True)
_HAS_URL = pages.c.url.in_(bindparam("urls", expanding=True))
_HOLD_URLS = _HOLD.where(_HAS_URL)
_IDS = select(pages.c.id).where(_HAS_URL)


def newest(connection: Connection) -> int:
    """The largest id of a page so far."""
    return int(connection.execute(select(func.max(pages.c.id))).scalar() or 0)


def enter(connection: Connection, after: int) -> None:
    """Give the pages that this transaction added a place. Those of others beyond that id have theirs already."""
    added = select(pages.c.id, pages.c.next_at).where(pages.c.id > after).order_by(pages.c.id)
    statement = insert_into(connection, queue).from_select(["page_id", "due_at"], added)
    connection.execute(statement.on_conflict_do_nothing(index_elements=["page_id"]))


def hold(connection: Connection, ids: Iterable[int]) -> list[int]:
    """Keep others from changing pages until the transaction ends; those that there are."""
    return list(execute_among(connection, _holding, ids).scalars())


def hold_urls(connection: Connection, urls: Iterable[str]) -> list[int]:
    """The same by address; their ids."""
    return _each_bite(connection, _HOLD_URLS, urls)


def ids_of(connection: Connection, urls: Iterable[str]) -> list[int]:
    """The pages at these addresses, as far as there are any."""
    return _each_bite(connection, _IDS, urls)


def _each_bite(connection: Connection, query: Select[Any], urls: Iterable[str]) -> list[int]:
    found: list[int] = []
    for bite in bites(sorted(set(urls))):
        found += connection.execute(query, {"urls": bite}).scalars()
    return found


def place(connection: Connection, ids: Iterable[int]) -> None:
    """Put pages that the caller holds where they belong. Leases stay."""
    execute_among(connection, _placing, ids)


def free(connection: Connection, ids: Iterable[int]) -> None:
    """End the leases of pages that the caller holds, and put them where they belong."""
    execute_among(connection, _releasing, ids)


def _holding(among: Any) -> Any:
    return _HOLD.where(among(pages.c.id))


def _placing(among: Any) -> Any:
    misplaced = queue.c.due_at.is_distinct_from(PLACE)
    return update(queue).where(queue.c.page_id == pages.c.id, among(queue.c.page_id), misplaced).values(due_at=PLACE)


def _releasing(among: Any) -> Any:
    return (
        update(queue)
        .where(queue.c.page_id == pages.c.id, among(queue.c.page_id))
        .values(lease_until=None, lease_owner=None, due_at=case((_IS_ACTIVE, pages.c.next_at)))
    )


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


def release(connection: Connection, given_back: Collection[tuple[int, float | None]]) -> None:
    found = sorted(given_back, key=lambda pair: pair[0])
    held = hold(connection, (page for page, _ in found))
    execute_many(connection, _MOVE, [{"page": page, "at": at} for page, at in found if at is not None])
    free(connection, held)


def end_leases(connection: Connection, owner: str) -> int:
    """Give back all that an owner held: for one that died and is back."""
    query = select(queue.c.page_id).where(queue.c.lease_until.is_not(None), queue.c.lease_owner == owner)
    held = hold(connection, connection.execute(query).scalars())
    free(connection, held)
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
    held = hold_urls(connection, earliest)
    if held:
        connection.execute(_WAKE, [{"page": url, "at": at} for url, at in sorted(earliest.items())])
        place(connection, held)
