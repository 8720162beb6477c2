"""Stored times after the system clock was set: schedules, leases, politeness and budgets keep their remaining times.

`machine_clocks` has, for each start of a machine, the difference between the system time and the time since that start.
If it has changed, the clock was set, by exactly that much, and all times are moved once, by whichever process notices
first. The times of politeness have readings of their own (`politeness_clocks`): several homes share them, and the first
of these homes moves them. After a restart of the machine the difference is not known; then only times that lie in the
future and cannot are corrected. The visit log, and what users set (snoozes, boosts), keep their times.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Column, Connection, Table, and_, case, delete, func, or_, select, update

from webstrata.clock import DAY_S, STEP_S
from webstrata.records import ClockReading, TimesMoved
from webstrata.remember import statements
from webstrata.remember.queue import DUE_AT
from webstrata.remember.tables import (
    addresses,
    budgets,
    host_leases,
    hosts,
    machine_clocks,
    pages,
    politeness_clocks,
    queue,
    reservations,
    robots,
    signals,
    sources,
    unwatched_signals,
    visits,
)

AHEAD_S = 60.0
"""A stored time that is later than now by more than this was written under a clock that was ahead. It is more than the
clocks of machines that share a database usually differ."""
_DRIFT = 1e-4
"""The share of the time since the last reading by which the difference may change without a step."""
_LATEST = 100
"""Visits at the end of the log among which one in the future is looked for."""
_KEPT_S = 30 * DAY_S
"""How long readings of other starts of machines are kept."""
_LONGEST_LEASE_S = DAY_S
"""Leases and reservations last a round and an hour."""

_OF_HOME: tuple[Column[Any], ...] = (
    pages.c.added_at,  # rhythms count from it
    pages.c.next_at,
    pages.c.last_visit_at,
    pages.c.last_seen_at,
    queue.c.lease_until,
    budgets.c.at,
    reservations.c.until,
    sources.c.read_at,
    signals.c.seen_at,
    unwatched_signals.c.seen_at,
)
"""Times that this program set for itself, by its clock."""
_OF_POLITENESS: tuple[Column[Any], ...] = (
    hosts.c.next_at,
    hosts.c.backoff_until,
    host_leases.c.lease_until,
    host_leases.c.wanted_until,
    addresses.c.next_at,
    robots.c.at,
)
"""The same, of the tables that several homes may share."""


def follow_clock(
    connection: Connection, reading: ClockReading, longest_gap_s: float, longest_pause_s: float
) -> TimesMoved:
    """See `ports.StoreMaintenance.follow_clock`."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("LOCK TABLE politeness_clocks, machine_clocks IN SHARE ROW EXCLUSIVE MODE")
    now, by_s, ahead = reading.at, _difference(connection, machine_clocks, reading), 0
    if by_s:
        _move(connection, _OF_HOME, by_s)
        _update_queue(connection)
    if polite_by_s := _difference(connection, politeness_clocks, reading):  # locked last, as by commits
        _move(connection, _OF_POLITENESS, polite_by_s)
    if _newest(connection) > now + AHEAD_S:
        ahead = _repair(connection, now, longest_gap_s, longest_pause_s)
    return TimesMoved(by_s=by_s, ahead_pages=ahead)


def _lock(connection: Connection, columns: Sequence[Column[Any]]) -> None:
    """Let other writers wait: whole tables are changed, in another order than theirs."""
    if connection.dialect.name == "postgresql":
        names = ", ".join(dict.fromkeys(column.table.name for column in columns))
        connection.exec_driver_sql(f"LOCK TABLE {names} IN SHARE ROW EXCLUSIVE MODE")
        connection.exec_driver_sql("SET LOCAL statement_timeout = 0")


def _difference(connection: Connection, clocks: Table, reading: ClockReading) -> float:
    """By how much the clock was set since the last reading on this machine; the reading is stored."""
    query = select(clocks.c.uptime_s, clocks.c.at).where(clocks.c.machine == reading.machine)
    row = connection.execute(query).first()
    values = {"machine": reading.machine, "uptime_s": reading.uptime_s, "at": reading.at}
    statements.put(connection, clocks, "machine", [values])
    if row is None:
        connection.execute(delete(clocks).where(clocks.c.at < reading.at - _KEPT_S))
        return 0.0
    uptime_s, at = row
    by_s: float = reading.offset_s - (at - uptime_s)
    return by_s if abs(by_s) > STEP_S + _DRIFT * max(reading.uptime_s - uptime_s, 0.0) else 0.0


def _move(connection: Connection, columns: Sequence[Column[Any]], by_s: float) -> None:
    _lock(connection, columns)
    by_table: dict[Any, dict[str, Any]] = {}
    for column in columns:
        by_table.setdefault(column.table, {})[column.name] = column + by_s
    for table, values in by_table.items():
        connection.execute(update(table).values(values))


def _update_queue(connection: Connection) -> None:
    differs = queue.c.due_at.is_distinct_from(DUE_AT)
    connection.execute(update(queue).where(queue.c.page_id == pages.c.id, differs).values(due_at=DUE_AT))


def _newest(connection: Connection) -> float:
    """The latest time among those that were written last."""
    latest = select(visits.c.at).order_by(visits.c.id.desc()).limit(_LATEST).subquery()
    added = select(pages.c.added_at).order_by(pages.c.id.desc()).limit(1).subquery()
    found = (select(func.max(latest.c.at)), select(func.max(added.c.added_at)), select(func.max(budgets.c.at)))
    return max(connection.execute(query).scalar() or 0.0 for query in found)


def _repair(connection: Connection, now: float, longest_gap_s: float, longest_pause_s: float) -> int:
    """Correct times that lie in the future and cannot; returns the number of pages among them."""
    _lock(connection, (*_OF_HOME, *_OF_POLITENESS))
    latest = connection.execute(select(func.max(pages.c.last_visit_at))).scalar() or now
    shift: Any = min(now - latest, 0.0)
    # The order and distance of visits stay. But no page looks older than its interval: that would be false evidence.
    shift = _larger(shift, now - func.coalesce(pages.c.interval_s, 0.0) - pages.c.last_visit_at)
    moved = {
        "next_at": pages.c.next_at + shift,
        "last_visit_at": pages.c.last_visit_at + shift,
        "last_seen_at": case((pages.c.last_seen_at > now, pages.c.last_seen_at + shift), else_=pages.c.last_seen_at),
    }
    late = pages.c.last_visit_at > now + AHEAD_S
    number = connection.execute(update(pages).where(late).values(moved)).rowcount
    new = and_(pages.c.last_visit_at.is_(None), pages.c.added_at > now + AHEAD_S)
    number += connection.execute(update(pages).where(new, pages.c.next_at > now).values(next_at=now)).rowcount
    connection.execute(update(pages).where(pages.c.added_at > now).values(added_at=now))
    # Visits that were put off under the clock that was ahead: not later than the page's own interval allows.
    regular = _larger(now, pages.c.last_visit_at + pages.c.interval_s)
    connection.execute(update(pages).where(pages.c.next_at > regular).values(next_at=regular))
    ended = {"lease_until": None, "lease_owner": None}
    connection.execute(update(queue).where(queue.c.lease_until > now + _LONGEST_LEASE_S).values(ended))
    _update_queue(connection)
    for column, most in (
        (hosts.c.next_at, now + longest_gap_s),
        (hosts.c.backoff_until, now + longest_pause_s),
        (addresses.c.next_at, now + longest_gap_s),
        (budgets.c.at, now),
        (reservations.c.until, now + _LONGEST_LEASE_S),
        (sources.c.read_at, now),
        (signals.c.seen_at, now),
        (unwatched_signals.c.seen_at, now),
    ):
        connection.execute(update(column.table).where(column > most).values({column.name: most}))
    return number


def _larger(one: Any, other: Any) -> Any:
    return case((or_(other.is_(None), one > other), one), else_=other)
