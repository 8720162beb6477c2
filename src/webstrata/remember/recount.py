"""Kept counts against the rows that they count, and made anew from them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import ColumnElement, Connection, Integer, cast, delete, func, select

from webstrata.clock import DAY_S
from webstrata.remember.statements import add_up
from webstrata.remember.tables import day_totals, host_days, hosts, pages, totals, visits
from webstrata.remember.totals import COUNTS, SUMS, TotalsDelta, rate

Sums = tuple[Any, ...]
"""Visits, changes, errors, bytes, seconds."""

_WHOLE = SUMS[:4]
"""Sums of whole numbers: those of seconds depend on the order in which they were added."""
_LOGGED = (
    func.count(),
    func.count().filter(visits.c.counts),
    func.count(visits.c.failure),
    func.coalesce(func.sum(visits.c.bytes), 0),
    func.coalesce(func.sum(visits.c.duration_s), 0.0),
)
_LOCK = "LOCK TABLE pages, visits, queue, totals, host_days, day_totals IN SHARE ROW EXCLUSIVE MODE"


def differences(connection: Connection) -> Iterator[tuple[str, int, int]]:
    """(count, as it is kept, as the rows give it) where these differ."""
    kept = connection.execute(select(*(func.coalesce(func.sum(totals.c[name]), 0) for name in COUNTS + _WHOLE))).one()
    logged = connection.execute(select(*_LOGGED[:4]).select_from(visits)).one()
    found = [*_tally(connection).counts.values(), *logged]
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
        yield from _unlike(f"of {key[0]} on day {key[1]}", kept.get(key, (0,) * 4), by_host.get(key, (0,) * 4))
    summed = [func.sum(day_totals.c[name]) for name in _WHOLE]
    by_day = select(day_totals.c.day, *summed).group_by(day_totals.c.day)
    whole = {row[0]: row[1:] for row in connection.execute(by_day)}
    for day in sorted(days.keys() | whole.keys()):
        yield from _unlike(f"on day {day}", whole.get(day, (0,) * 4), days.get(day, (0,) * 4))


def _unlike(where: str, kept: Any, found: Any) -> Iterator[tuple[str, int, int]]:
    for name, before, now in zip(_WHOLE, kept, found, strict=False):
        if int(before) != int(now):
            yield f"{name} {where}", int(before), int(now)


def _by_host(connection: Connection) -> dict[tuple[str, int], Sums]:
    """The log summed by host and UTC day."""
    day = _day(connection)
    query = select(pages.c.host, day, *_LOGGED).join(pages, pages.c.id == visits.c.page_id).group_by(pages.c.host, day)
    return {(host, int(number)): tuple(sums) for host, number, *sums in connection.execute(query)}


def _day(connection: Connection) -> ColumnElement[Any]:
    days = visits.c.at / DAY_S
    # A cast cuts on SQLite, which may lack floor(), and rounds on PostgreSQL.
    return func.floor(days) if connection.dialect.name == "postgresql" else cast(days, Integer)


def _tally(connection: Connection) -> TotalsDelta:
    tally = TotalsDelta()
    kinds = select(pages.c.role, pages.c.state, func.count()).group_by(pages.c.role, pages.c.state)
    for role, state, number in connection.execute(kinds):
        tally.place(role, state, number)
    for state, interval_s in connection.execute(select(pages.c.state, pages.c.interval_s)):
        tally.rate(0, rate(state, interval_s))
    watched = select(func.count()).where(hosts.c.watched)
    tally.counts["hosts"] = int(connection.execute(watched).scalar_one())
    return tally


def recount(connection: Connection) -> None:
    """Make all counts anew from the rows themselves; nobody else writes meanwhile."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("SET LOCAL statement_timeout = 0")
        connection.exec_driver_sql(_LOCK)
    by_host = _by_host(connection)
    by_day: dict[int, list[Any]] = {}
    for (_, day), sums in by_host.items():
        by_day[day] = [a + b for a, b in zip(by_day.get(day, [0] * 5), sums, strict=True)]
    for table in (totals, host_days, day_totals):
        connection.execute(delete(table))
    _tally(connection).write(connection)
    add_up(
        connection, host_days, ["host", "day"], [{"host": h, "day": d, **_named(s)} for (h, d), s in by_host.items()]
    )
    add_up(connection, day_totals, ["day", "slot"], [{"day": d, "slot": 0, **_named(s)} for d, s in by_day.items()])
    logged = connection.execute(select(*_LOGGED).select_from(visits)).one()
    add_up(connection, totals, ["slot"], [{"slot": 0, **dict.fromkeys(COUNTS, 0), **_named(logged)}])


def _named(sums: Any) -> dict[str, Any]:
    return dict(zip(SUMS, sums, strict=True))
