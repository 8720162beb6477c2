"""What planning asks of the facts: how long requests took, what is due when, what the schedule asks of each host."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection, Double, bindparam, case, cast, exists, func, select, update

from webstrata.clock import DAY_S
from webstrata.records import PageState, UpcomingVisit
from webstrata.remember import queue as queue_rows
from webstrata.remember import rows
from webstrata.remember.tables import host_days, pages, queue, visits

_IS_ACTIVE = pages.c.state == PageState.ACTIVE.value
_LATEST = (
    select(pages.c.host, visits.c.duration_s, visits.c.status, visits.c.hops)
    .join(pages, pages.c.id == visits.c.page_id)
    .order_by(visits.c.id.desc())
)


def download_times(connection: Connection, limit: int) -> list[tuple[str, float, int]]:
    """(host, seconds, requests) of the latest visits; a visit that was given up before its first request has 0."""
    found = connection.execute(_LATEST.limit(limit))
    return [
        (host, seconds, 1 + len(rows.hops(hops)) if status is not None or seconds > 0 else 0)
        for host, seconds, status, hops in found
    ]


def download_sums(connection: Connection) -> dict[str, tuple[int, float]]:
    """(visits, seconds) of every host, ever."""
    sums = select(host_days.c.host, func.sum(host_days.c.visits), func.sum(host_days.c.duration_s))
    return {host: (int(n), float(s)) for host, n, s in connection.execute(sums.group_by(host_days.c.host))}


_UPCOMING = (
    select(pages.c.id, pages.c.url, pages.c.host, pages.c.next_at, pages.c.interval_s, pages.c.weight)
    .join(queue, queue.c.page_id == pages.c.id)
    .where(queue.c.due_at <= bindparam("until"), queue.c.lease_until.is_(None))
    .order_by(queue.c.due_at, queue.c.page_id)
)


def upcoming(connection: Connection, until: float, limit: int) -> list[UpcomingVisit]:
    found = connection.execute(_UPCOMING.limit(limit), {"until": until})
    return [
        UpcomingVisit(page_id=id_, url=url, host=host, at=at or 0.0, interval_s=interval_s, weight=weight)
        for id_, url, host, at, interval_s, weight in found
    ]


_AT = cast(bindparam("at"), Double)
_MOVE = (
    update(pages)
    .where(
        pages.c.id == bindparam("page"),
        ~exists().where(queue.c.page_id == bindparam("page"), queue.c.lease_until.is_not(None)),
    )
    .values(next_at=_AT, reason=bindparam("why"))
)


def move(connection: Connection, moves: Collection[tuple[int, float, str]]) -> None:
    """Give pages that nobody holds another next visit, and say why."""
    wanted = sorted(moves)
    values = [{"page": page, "at": at, "why": why} for page, at, why in wanted]
    held = queue_rows.hold(connection, (page for page, _, _ in wanted))
    if held:
        connection.execute(_MOVE, values)
        queue_rows.place(connection, held)


def demand(connection: Connection) -> list[tuple[str, str, int, float]]:
    """(host, one of its pages, how many it has, visits a day that their intervals amount to), active pages only."""
    has_interval = pages.c.interval_s > 0
    asked = func.coalesce(func.sum(case((has_interval, DAY_S / pages.c.interval_s), else_=0.0)), 0.0)
    query = select(pages.c.host, func.min(pages.c.url), func.count(), asked).where(
        _IS_ACTIVE, pages.c.next_at.is_not(None)
    )
    found = connection.execute(query.group_by(pages.c.host).order_by(pages.c.host))
    return [(host, url, int(number), float(per_day)) for host, url, number, per_day in found]
