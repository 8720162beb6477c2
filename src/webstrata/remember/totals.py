"""Counters that every transaction keeps up to date, so that `status` needs no scan; comparing and rebuilding them."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator
from typing import Any

from sqlalchemy import ColumnElement, Connection, Integer, cast, delete, func, select

from webstrata.clock import DAY_S
from webstrata.records import HostDayTotals, PageRole, PageState, StoreTotals, Visit
from webstrata.remember.statements import add_up
from webstrata.remember.tables import (
    day_totals,
    host_days,
    page_tags,
    pages,
    queue,
    sites,
    totals,
    visits,
    watched_hosts,
)

_RATE_UNIT = 1_000_000
_SLOTS = 16
_ACTIVE, _CAPTURED, _REQUISITE = PageState.ACTIVE.value, PageState.CAPTURED.value, PageRole.REQUISITE.value
SUMS = ("visits", "changes", "errors", "bytes", "duration_s")
COUNTS = ("pages", "paused", "requisites", "hosts", "rate")


class TotalsDelta:
    """Changes that one transaction makes to the counters."""

    def __init__(self) -> None:
        self.counts = dict.fromkeys(COUNTS, 0)

    def count(self, role: str, state: str, times: int = 1) -> None:
        """Add pages of this role and state (a negative number removes them). Captured pages are not counted."""
        if state == _CAPTURED:
            return
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
    """The visits per day at this interval, in millionths."""
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
            for i, value in enumerate(one):
                sums[i] += value
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


def _named(sums: Iterable[Any]) -> dict[str, Any]:
    return dict(zip(SUMS, sums, strict=True))


def next_due(connection: Connection) -> float | None:
    # Not min(): SQLite would not use the partial index for it.
    query = select(queue.c.due_at).where(queue.c.due_at.is_not(None)).order_by(queue.c.due_at).limit(1)
    return connection.execute(query).scalar()


def store_totals(connection: Connection, now: float) -> StoreTotals:
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
        last_visit_at=connection.execute(select(visits.c.at).order_by(visits.c.id.desc()).limit(1)).scalar(),
        cut=_count(connection, CUT),
    )


# An index has the cut bodies only, so this reads as many rows as there were cut bodies.
CUT = (
    select(func.count())
    .select_from(visits.join(pages, (pages.c.id == visits.c.page_id) & (pages.c.last_visit_at == visits.c.at)))
    .where(visits.c.truncated.is_not(None))
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
    # PostgreSQL returns sums of integers as decimals.
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


_SCHEMA_BYTES = (
    "SELECT coalesce(sum(pg_total_relation_size(oid)), 0) FROM pg_class "
    "WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'"
)


def size_bytes(connection: Connection) -> int:
    """The size of the database file; on PostgreSQL, of the tables of the home, with their indexes."""
    if connection.dialect.name == "postgresql":
        return int(connection.exec_driver_sql(_SCHEMA_BYTES).scalar_one())
    return int(
        connection.exec_driver_sql(
            "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
        ).scalar_one()
    )


Sums = tuple[Any, ...]
"""Visits, changes, errors, bytes, seconds."""

_WHOLE = SUMS[:4]
"""Integer sums: the sum of seconds depends on the order of addition."""
_LOGGED = (
    func.count(),
    func.count().filter(visits.c.counts),
    func.count(visits.c.failure),
    func.coalesce(func.sum(visits.c.bytes), 0),
    func.coalesce(func.sum(visits.c.duration_s), 0.0),
)
_LOCK = "LOCK TABLE pages, visits, queue, totals, host_days, day_totals IN SHARE ROW EXCLUSIVE MODE"


def differences(connection: Connection) -> Iterator[tuple[str, int, int]]:
    """(counter, stored value, value computed from the rows) where they differ."""
    kept = connection.execute(select(*(func.coalesce(func.sum(totals.c[name]), 0) for name in COUNTS + _WHOLE))).one()
    logged = connection.execute(select(*_LOGGED[:4]).select_from(visits)).one()
    found = [*_current(connection).counts.values(), *logged]
    for name, before, now in zip(COUNTS + _WHOLE, kept, found, strict=True):
        if int(before) != int(now):
            yield name, int(before), int(now)
    yield from _days(connection)


def _days(connection: Connection) -> Iterator[tuple[str, int, int]]:
    by_host = _by_host(connection)
    days: dict[int, list[int]] = {}
    for (_, day), sums in by_host.items():
        days[day] = [a + int(b) for a, b in zip(days.get(day, [0] * 4), sums, strict=False)]
    columns = [host_days.c[name] for name in _WHOLE]
    kept = {
        (row[0], row[1]): row[2:] for row in connection.execute(select(host_days.c.host, host_days.c.day, *columns))
    }
    for key in sorted(by_host.keys() | kept.keys()):
        yield from _differing(f"of {key[0]} on day {key[1]}", kept.get(key, (0,) * 4), by_host.get(key, (0,) * 4))
    summed = [func.sum(day_totals.c[name]) for name in _WHOLE]
    by_day = select(day_totals.c.day, *summed).group_by(day_totals.c.day)
    whole = {row[0]: row[1:] for row in connection.execute(by_day)}
    for day in sorted(days.keys() | whole.keys()):
        yield from _differing(f"on day {day}", whole.get(day, (0,) * 4), days.get(day, (0,) * 4))


def _differing(where: str, kept: Any, found: Any) -> Iterator[tuple[str, int, int]]:
    for name, before, now in zip(_WHOLE, kept, found, strict=False):
        if int(before) != int(now):
            yield f"{name} {where}", int(before), int(now)


def _by_host(connection: Connection) -> dict[tuple[str, int], Sums]:
    """Sums of the visit log by host and UTC day."""
    day = _utc_day(connection)
    query = select(pages.c.host, day, *_LOGGED).join(pages, pages.c.id == visits.c.page_id).group_by(pages.c.host, day)
    return {(host, int(number)): tuple(sums) for host, number, *sums in connection.execute(query)}


def _utc_day(connection: Connection) -> ColumnElement[Any]:
    days = visits.c.at / DAY_S
    # A cast truncates on SQLite, which may lack floor(), and rounds on PostgreSQL.
    return func.floor(days) if connection.dialect.name == "postgresql" else cast(days, Integer)


def _current(connection: Connection) -> TotalsDelta:
    delta = TotalsDelta()
    kinds = select(pages.c.role, pages.c.state, func.count()).group_by(pages.c.role, pages.c.state)
    for role, state, number in connection.execute(kinds):
        delta.count(role, state, number)
    for state, interval_s in connection.execute(select(pages.c.state, pages.c.interval_s)):
        delta.rate(0, rate(state, interval_s))
    watched = select(func.count()).select_from(watched_hosts)
    delta.counts["hosts"] = int(connection.execute(watched).scalar_one())
    return delta


def recount(connection: Connection) -> None:
    """Rebuild all counters from the rows; other writers wait."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("SET LOCAL statement_timeout = 0")
        connection.exec_driver_sql(_LOCK)
    by_host = _by_host(connection)
    by_day: dict[int, list[Any]] = {}
    for (_, day), sums in by_host.items():
        by_day[day] = [a + b for a, b in zip(by_day.get(day, [0] * 5), sums, strict=True)]
    for table in (totals, host_days, day_totals):
        connection.execute(delete(table))
    _current(connection).write(connection)
    add_up(
        connection, host_days, ["host", "day"], [{"host": h, "day": d, **_named(s)} for (h, d), s in by_host.items()]
    )
    add_up(connection, day_totals, ["day", "slot"], [{"day": d, "slot": 0, **_named(s)} for d, s in by_day.items()])
    logged = connection.execute(select(*_LOGGED).select_from(visits)).one()
    add_up(connection, totals, ["slot"], [{"slot": 0, **dict.fromkeys(COUNTS, 0), **_named(logged)}])
