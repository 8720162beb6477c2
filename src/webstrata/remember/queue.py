"""The visit queue: when each page may be claimed, and which process has leased it.

`due_at` is the page's next visit, or the end of its snooze if that is later; while the page is leased, the end of the
lease; null if the page is paused or has no next visit. It is derived from the page's row. A transaction that sets it
holds the lock on the page's row, so that two writers cannot disagree; a claim changes only the queue.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, Double, Select, bindparam, case, cast, exists, func, select, text, update

from webstrata.records import DuePage, Page, PageRole, PageState, UpcomingVisit
from webstrata.remember import rows
from webstrata.remember.statements import chunks, execute_among, execute_many, insert_into
from webstrata.remember.tables import is_timed, pages, queue
from webstrata.remember.text import is_storable
from webstrata.remember.visit_log import readable_alone

_REQUISITE = PageRole.REQUISITE.value
_IS_ACTIVE = pages.c.state == PageState.ACTIVE.value
_NEXT_AT = case((pages.c.snoozed_until > pages.c.next_at, pages.c.snoozed_until), else_=pages.c.next_at)
DUE_AT = case((_IS_ACTIVE, func.coalesce(queue.c.lease_until, _NEXT_AT)))
"""The value of `due_at` that follows from the page's row."""
_LOCK_PAGES = select(pages.c.id).order_by(pages.c.id).with_for_update(key_share=True)
_HAS_URL = pages.c.url.in_(bindparam("urls", expanding=True))
_LOCK_URLS = _LOCK_PAGES.where(_HAS_URL)
_IDS = select(pages.c.id).where(_HAS_URL)


def largest_id(connection: Connection) -> int:
    """The largest page id; 0 without pages."""
    return int(connection.execute(select(func.max(pages.c.id))).scalar() or 0)


def enter(connection: Connection, after: int) -> None:
    """Add the pages that this transaction inserted. Pages of other transactions above that id are queued already."""
    added = select(pages.c.id, pages.c.next_at).where(pages.c.id > after).order_by(pages.c.id)
    statement = insert_into(connection, queue).from_select(["page_id", "due_at"], added)
    connection.execute(statement.on_conflict_do_nothing(index_elements=["page_id"]))


def lock(connection: Connection, ids: Iterable[int]) -> list[int]:
    """Lock the page rows until the transaction ends; returns the ids that exist."""
    return list(execute_among(connection, _locking, ids).scalars())


def lock_urls(connection: Connection, urls: Iterable[str]) -> list[int]:
    """The same by URL."""
    return _in_chunks(connection, _LOCK_URLS, urls)


def ids_of(connection: Connection, urls: Iterable[str]) -> list[int]:
    """The ids of the pages with these URLs."""
    return _in_chunks(connection, _IDS, urls)


def _in_chunks(connection: Connection, query: Select[Any], urls: Iterable[str]) -> list[int]:
    found: list[int] = []
    for chunk in chunks(sorted(set(urls))):
        found += connection.execute(query, {"urls": chunk}).scalars()
    return found


def update_due(connection: Connection, ids: Iterable[int]) -> None:
    """Recompute `due_at` of pages that the caller has locked. Leases stay."""
    execute_among(connection, _updating_due, ids)


def end_page_leases(connection: Connection, ids: Iterable[int]) -> None:
    """End the leases of pages that the caller has locked, and recompute `due_at`."""
    execute_among(connection, _ending_leases, ids)


def _locking(among: Any) -> Any:
    return _LOCK_PAGES.where(among(pages.c.id))


def _updating_due(among: Any) -> Any:
    differs = queue.c.due_at.is_distinct_from(DUE_AT)
    return update(queue).where(queue.c.page_id == pages.c.id, among(queue.c.page_id), differs).values(due_at=DUE_AT)


def _ending_leases(among: Any) -> Any:
    return (
        update(queue)
        .where(queue.c.page_id == pages.c.id, among(queue.c.page_id))
        .values(lease_until=None, lease_owner=None, due_at=case((_IS_ACTIVE, _NEXT_AT)))
    )


_AT = cast(bindparam("at"), Double)
_UNTIL = cast(bindparam("until"), Double)

_DUE = (
    select(queue.c.page_id)
    .where(queue.c.due_at <= bindparam("now"))
    .order_by(queue.c.due_at, queue.c.page_id)
    .limit(bindparam("limit"))
    .with_for_update(skip_locked=True)
    .cte("due")  # not a subselect: PostgreSQL might run it more than once and lock more rows than the limit
)
_LEASED: dict[str, Any] = {
    "lease_until": _UNTIL,
    "lease_owner": bindparam("owner"),
    # A page that was paused in the meantime stays out of the queue.
    "due_at": case((queue.c.due_at.is_not(None), _UNTIL)),
}
_LEASE = {
    "sqlite": update(queue).where(queue.c.page_id.in_(select(_DUE.c.page_id))),
    # A join visits the rows in the order of the due pages, which are mostly adjacent; IN would visit them in any order.
    "postgresql": update(queue).where(queue.c.page_id == _DUE.c.page_id),
}
_CLAIM = {engine: found.values(_LEASED).returning(queue.c.page_id) for engine, found in _LEASE.items()}

# A lease lost in a database crash costs one repeated visit and no data, so claims do not wait for the sync.
_NO_SYNC = "SET LOCAL synchronous_commit = off"


def claim(connection: Connection, now: float, limit: int, until: float, owner: str, home: str = "") -> list[Page]:
    """Lease the most overdue pages, ordered by next visit, or by the end of an expired lease.

    `home`: the home that will visit them, if several share the tables.
    """
    if limit <= 0:
        return []
    _skip_sync(connection)
    values = {"now": now, "limit": limit, "until": until, "owner": owner}
    ids = connection.execute(_CLAIM[connection.dialect.name], values).scalars().all()
    claimed = _pages(connection, ids, home)
    claimed.sort(key=lambda page: (page.next_at or 0.0, page.id))
    return claimed


def claim_pages(
    connection: Connection, ids: Sequence[int], now: float, until: float, owner: str, home: str = ""
) -> list[Page]:
    """Lease exactly these pages, as far as they are active and not leased, in the given order."""
    _skip_sync(connection)
    leased = execute_among(connection, _choosing, ids, now=now, until=until, owner=owner).scalars().all()
    found = {page.id: page for page in _pages(connection, leased, home)}
    return [found[id_] for id_ in dict.fromkeys(ids) if id_ in found]


def _choosing(among: Any) -> Any:
    is_free = queue.c.lease_until.is_(None) | (queue.c.lease_until <= bindparam("now"))
    is_awake = pages.c.snoozed_until.is_(None) | (pages.c.snoozed_until <= bindparam("now"))
    chosen = (
        select(queue.c.page_id)
        .join(pages, pages.c.id == queue.c.page_id)
        .where(among(queue.c.page_id), pages.c.state == PageState.ACTIVE.value, is_free, is_awake)
        .order_by(queue.c.page_id)
        .with_for_update(of=queue, skip_locked=True)
        .cte("chosen")
    )
    return update(queue).where(queue.c.page_id == chosen.c.page_id).values(_LEASED).returning(queue.c.page_id)


def _pages(connection: Connection, ids: Sequence[int], home: str) -> list[Page]:
    """Read after the lease, so that no other process visits the pages meanwhile."""
    found = [rows.page(row) for row in execute_among(connection, _reading, ids).all()]
    return readable_alone(connection, found, home) if home else found


def _reading(among: Any) -> Any:
    return select(*rows.PAGE_COLUMNS).where(among(pages.c.id))


def _skip_sync(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(_NO_SYNC)


_MOVE = update(pages).where(pages.c.id == bindparam("page")).values(next_at=_AT)


def release(connection: Connection, released: Collection[tuple[int, float | None]]) -> None:
    pairs = sorted(released, key=lambda pair: pair[0])
    locked = lock(connection, (page for page, _ in pairs))
    execute_many(connection, _MOVE, [{"page": page, "at": at} for page, at in pairs if at is not None])
    end_page_leases(connection, locked)


def end_leases(connection: Connection, owner: str) -> int:
    """End all leases of an owner that was restarted."""
    query = select(queue.c.page_id).where(queue.c.lease_until.is_not(None), queue.c.lease_owner == owner)
    locked = lock(connection, connection.execute(query).scalars())
    end_page_leases(connection, locked)
    return len(locked)


def stale_leases(connection: Connection, now: float) -> int:
    """The number of expired leases."""
    return int(connection.execute(select(func.count()).where(queue.c.lease_until <= now)).scalar_one())


_WAKE = (
    update(pages)
    .where(pages.c.url == bindparam("page"), func.coalesce(pages.c.next_at > _AT, True))
    .values(next_at=_AT)
)


def wake(connection: Connection, wakes: Iterable[tuple[str, float]]) -> None:
    """Move the next visits of known pages forward, never back."""
    earliest: dict[str, float] = {}
    for url, at in wakes:
        if is_storable(url):
            earliest[url] = min(at, earliest.get(url, at))
    locked = lock_urls(connection, earliest)
    if locked:
        connection.execute(_WAKE, [{"page": url, "at": at} for url, at in sorted(earliest.items())])
        update_due(connection, locked)


# ── reading ahead and moving ─────────────────────────────────────────────────────────────────────────────────

_DUE_PAGES = (
    select(
        *(pages.c[name] for name in ["id", "host", "tags", "role", "last_seen_at", "interval_s", "every_s", "windows"])
    )
    .join(queue, queue.c.page_id == pages.c.id)
    .where(queue.c.due_at <= bindparam("now"))
    .order_by(queue.c.due_at, queue.c.page_id)
    .limit(bindparam("limit"))
)


def due_pages(connection: Connection, now: float, limit: int) -> list[DuePage]:
    """Pages that may be claimed now, most overdue first."""
    found = connection.execute(_DUE_PAGES, {"now": now, "limit": limit})
    return [
        DuePage(
            id=id_,
            host=host,
            tags=rows.unpacked(tags),
            is_extra=role == _REQUISITE or seen_at is None or interval_s is None,
            is_fixed=every_s is not None,
            windows=windows,
            is_unscheduled=interval_s is None,
        )
        for id_, host, tags, role, seen_at, interval_s, every_s, windows in found
    ]


_UPCOMING = (
    select(pages.c.id, pages.c.url, pages.c.host, queue.c.due_at, pages.c.interval_s, pages.c.weight, is_timed)
    .join(queue, queue.c.page_id == pages.c.id)
    .where(queue.c.due_at <= bindparam("until"), queue.c.lease_until.is_(None))
    .order_by(queue.c.due_at, queue.c.page_id)
)


def upcoming(connection: Connection, until: float, limit: int) -> list[UpcomingVisit]:
    found = connection.execute(_UPCOMING.limit(limit), {"until": until})
    return [
        UpcomingVisit(
            page_id=id_, url=url, host=host, at=at, interval_s=interval_s, weight=weight, is_timed=bool(timed)
        )
        for id_, url, host, at, interval_s, weight, timed in found
    ]


_BY_HOST = (
    "SELECT pages.host, min(pages.id), count(*) FROM {tables} "
    "WHERE queue.due_at <= :until AND queue.lease_until IS NULL GROUP BY pages.host ORDER BY pages.host"
)
_FROM_DUE = "queue CROSS JOIN pages ON pages.id = queue.page_id"
_FROM_HOSTS = "pages INDEXED BY ix_pages_host CROSS JOIN queue ON queue.page_id = pages.id"
"""SQLite joins in this order. With many due pages, the index of hosts and the narrow queue are read instead of the wide
rows of all due pages: about a fifth of the time."""
_FROM_BOTH = "pages JOIN queue ON queue.page_id = pages.id"
_MANY_DUE = 20_000


def due_by_host(connection: Connection, until: float) -> list[tuple[str, str, int]]:
    """(host, one of its pages, number of pages) of the pages that `upcoming` lists."""
    tables = _FROM_BOTH
    if connection.dialect.name == "sqlite":
        due = select(queue.c.page_id).where(queue.c.due_at <= until).limit(_MANY_DUE).subquery()
        many = connection.execute(select(func.count()).select_from(due)).scalar_one() == _MANY_DUE
        tables = _FROM_HOSTS if many else _FROM_DUE
    found = connection.execute(text(_BY_HOST.format(tables=tables)), {"until": until}).all()
    urls = {row.id: row.url for row in execute_among(connection, _urls, [id_ for _, id_, _ in found])}
    return [(host, urls[id_], number) for host, id_, number in found]


def _urls(among: Any) -> Any:
    return select(pages.c.id, pages.c.url).where(among(pages.c.id))


_MOVE_UNLEASED = (
    update(pages)
    .where(
        pages.c.id == bindparam("page"),
        ~exists().where(queue.c.page_id == bindparam("page"), queue.c.lease_until.is_not(None)),
    )
    .values(next_at=_AT, reason=bindparam("why"))
)


def move(connection: Connection, moves: Collection[tuple[int, float, str]]) -> None:
    """Set another next visit, with its reason, for pages that are not leased."""
    ordered = sorted(moves)
    values = [{"page": page, "at": at, "why": why} for page, at, why in ordered]
    locked = lock(connection, (page for page, _, _ in ordered))
    if locked:
        connection.execute(_MOVE_UNLEASED, values)
        update_due(connection, locked)
