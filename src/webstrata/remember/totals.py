"""Counts that are kept as facts are written, so that showing them needs no scan."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, func, select

from webstrata.clock import DAY_S
from webstrata.records import HostDayTotals, PageRole, PageState, StoreTotals, Visit
from webstrata.remember.statements import add_up
from webstrata.remember.tables import day_totals, host_days, page_tags, pages, queue, sites, totals

_RATE_UNIT = 1_000_000
_SLOTS = 16
_ACTIVE, _REQUISITE = PageState.ACTIVE.value, PageRole.REQUISITE.value
SUMS = ("visits", "changes", "errors", "bytes", "duration_s")
COUNTS = ("pages", "paused", "requisites", "hosts", "rate")


class TotalsDelta:
    """Differences that one transaction makes to the totals."""

    def __init__(self) -> None:
        self.counts = dict.fromkeys(COUNTS, 0)

    def place(self, role: str, state: str, times: int = 1) -> None:
        """So many pages came to this kind (a negative number: left it)."""
        kind = "paused" if state != _ACTIVE else "requisites" if role == _REQUISITE else "pages"
        self.counts[kind] += times

    def rate(self, before: int, after: int) -> None:
        self.counts["rate"] += after - before

    def write(self, connection: Connection) -> None:
        if any(self.counts.values()):
            row = {"slot": _slot(), **self.counts, **dict.fromkeys(SUMS, 0)}
            add_up(connection, totals, ["slot"], [row])


def _slot() -> int:
    """The counter row of this process: processes add to different rows, so that they do not wait for each other."""
    return os.getpid() % _SLOTS


def rate(state: str, interval_s: float | None) -> int:
    """Millionths of a visit a day that a page asks for."""
    if state != _ACTIVE or interval_s is None or not math.isfinite(interval_s) or interval_s <= 0:
        return 0
    return round(_RATE_UNIT * DAY_S / interval_s)


def count_visits(connection: Connection, found: Iterable[tuple[str, Visit]]) -> None:
    """Add visits, each with its page's host, to the aggregates by host and day, by day, and overall."""
    by_host: dict[tuple[str, int], list[float]] = {}
    by_day: dict[int, list[float]] = {}
    overall: list[float] = [0, 0, 0, 0, 0.0]
    for host, visit in found:
        day = int(visit.at // DAY_S)
        one = (1, visit.counts, visit.failure is not None, visit.bytes, visit.duration_s)
        for sums in (
            by_host.setdefault((host, day), [0, 0, 0, 0, 0.0]),
            by_day.setdefault(day, [0, 0, 0, 0, 0.0]),
            overall,
        ):
            for place, value in enumerate(one):
                sums[place] += value
    if not by_day:
        return
    rows = [{"host": host, "day": day, **_named(sums)} for (host, day), sums in by_host.items()]
    add_up(connection, host_days, ["host", "day"], rows)
    add_up(
        connection,
        day_totals,
        ["day", "slot"],
        [{"day": day, "slot": _slot(), **_named(sums)} for day, sums in by_day.items()],
    )
    add_up(connection, totals, ["slot"], [{"slot": _slot(), **dict.fromkeys(COUNTS, 0), **_named(overall)}])


def _named(sums: list[float]) -> dict[str, float]:
    return dict(zip(SUMS, sums, strict=True))


def next_due(connection: Connection) -> float | None:
    # Not min(): SQLite would not take the partial index for it.
    query = select(queue.c.due_at).where(queue.c.due_at.is_not(None)).order_by(queue.c.due_at).limit(1)
    return connection.execute(query).scalar()


def census(connection: Connection, now: float) -> StoreTotals:
    kept = connection.execute(select(*(func.coalesce(func.sum(totals.c[name]), 0) for name in COUNTS + SUMS[:4]))).one()
    watched, paused, requisites, host_count, asked, visited, changes, errors, size = (int(n) for n in kept)
    return StoreTotals(
        pages=watched,
        paused=paused,
        requisites=requisites,
        sites=_count(connection, select(func.count()).select_from(sites)),
        due=_count(connection, select(func.count()).where(queue.c.due_at <= now)),
        in_flight=_count(connection, select(func.count()).where(queue.c.lease_until > now)),
        visits=visited,
        changes=changes,
        errors=errors,
        bytes=size,
        hosts=host_count,
        next_at=next_due(connection),
        expected_per_day=asked / _RATE_UNIT,
    )


def _count(connection: Connection, query: Any) -> int:
    return int(connection.execute(query).scalar_one())


def by_host_and_day(connection: Connection, since_day: int = 0, host: str | None = None) -> list[HostDayTotals]:
    query = select(host_days).where(host_days.c.day >= since_day).order_by(host_days.c.day, host_days.c.host)
    if host is not None:
        query = query.where(host_days.c.host == host)
    return [_day(*row) for row in connection.execute(query)]


def by_day(connection: Connection, since_day: int = 0) -> list[HostDayTotals]:
    columns = (func.sum(day_totals.c[name]) for name in SUMS)
    query = select(day_totals.c.day, *columns).where(day_totals.c.day >= since_day)
    rows = connection.execute(query.group_by(day_totals.c.day).order_by(day_totals.c.day))
    return [_day("", *row) for row in rows]


def _day(host: str, day: int, visited: Any, changes: Any, errors: Any, size: Any, duration_s: float) -> HostDayTotals:
    # PostgreSQL sums whole numbers as decimals.
    return HostDayTotals(
        host=host,
        day=day,
        visits=int(visited),
        changes=int(changes),
        errors=int(errors),
        bytes=int(size),
        duration_s=duration_s,
    )


def tag_counts(connection: Connection) -> dict[str, int]:
    query = select(page_tags.c.tag, func.count()).group_by(page_tags.c.tag)
    return {row[0]: row[1] for row in connection.execute(query)}


def site_sizes(connection: Connection) -> dict[int, int]:
    query = select(pages.c.site_id, func.count()).where(pages.c.site_id.is_not(None)).group_by(pages.c.site_id)
    return {row[0]: row[1] for row in connection.execute(query)}


def size_bytes(connection: Connection) -> int:
    if connection.dialect.name == "postgresql":
        return _count(connection, select(func.pg_database_size(func.current_database())))
    return int(
        connection.exec_driver_sql(
            "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
        ).scalar_one()
    )
