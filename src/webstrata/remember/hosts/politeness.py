"""Politeness state that survives restarts: hosts, addresses, robots.txt files."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from msgspec.structs import asdict
from sqlalchemy import Connection, or_, select
from sqlalchemy.dialects import sqlite

from webstrata import urls
from webstrata.records import AddressState, HostState, RobotsState
from webstrata.remember import statements
from webstrata.remember.tables import addresses, hosts, robots

Politeness = tuple[list[HostState], list[AddressState], list[RobotsState]]


_STATE = ("next_at", "backoff_until", "backoff_count", "last_duration_s")
_CLOCK_WAS_SET_BACK_S = 3600.0
"""A stored time that is later than a new one by more than this was written before the clock was set back."""


def put(
    connection: Connection,
    host_states: Sequence[HostState],
    address_states: Sequence[AddressState],
    robots_states: Sequence[RobotsState],
) -> None:
    """Store states; later ones replace earlier ones, also within the batch."""
    put_hosts(connection, host_states)
    latest_addresses = {state.address: state for state in address_states}
    statements.put(connection, addresses, "address", [asdict(state) for state in latest_addresses.values()])
    put_robots(connection, robots_states)


def put_robots(connection: Connection, states: Sequence[RobotsState]) -> None:
    latest = {state.origin: {**asdict(state), "host": urls.host_of(state.origin)} for state in states}
    statements.put(connection, robots, "origin", list(latest.values()))


def put_hosts(connection: Connection, states: Sequence[HostState]) -> None:
    """Store the states of hosts, unless another process has stored a later one since it took over the host."""
    latest = {state.host: asdict(state) for state in states}
    ordered = sorted(latest.values(), key=lambda row: row["host"])  # one order prevents deadlocks
    statements.execute_many(connection, _putting_hosts(connection.dialect.name), ordered)


@cache
def _putting_hosts(dialect: str) -> sqlite.Insert:
    statement = statements.insert_for(dialect, hosts)
    new, old = statement.excluded, hosts.c
    is_later = or_(new.next_at >= old.next_at, old.next_at > new.next_at + _CLOCK_WAS_SET_BACK_S)
    changed = {name: new[name] for name in _STATE}
    return statement.on_conflict_do_update(index_elements=["host"], set_=changed, where=is_later)


def politeness_state(connection: Connection) -> Politeness:
    return (
        [HostState(**row._mapping) for row in connection.execute(_HOST_STATES.order_by(hosts.c.host))],
        [AddressState(**row._mapping) for row in connection.execute(select(addresses))],
        [RobotsState(**row._mapping) for row in connection.execute(_ROBOTS_STATES)],
    )


_HOST_STATES = select(hosts.c.host, *(hosts.c[name] for name in _STATE))
_ROBOTS_STATES = select(robots.c.origin, robots.c.at, robots.c.status, robots.c.body)


def states_of(connection: Connection, names: Sequence[str]) -> dict[str, HostState]:
    """The stored states of these hosts."""
    found = statements.execute_among_names(connection, _host_states, names) if names else ()
    return {row.host: HostState(**row._mapping) for row in found}


def _host_states(among: Any) -> Any:
    return _HOST_STATES.where(among(hosts.c.host))


def robots_of(connection: Connection, names: Sequence[str]) -> dict[str, tuple[RobotsState, ...]]:
    """The stored robots.txt files of the origins of these hosts, by host."""
    found: dict[str, tuple[RobotsState, ...]] = {}
    for row in statements.execute_among_names(connection, _robots_states, names) if names else ():
        host = urls.host_of(row.origin)
        found[host] = (*found.get(host, ()), RobotsState(**row._mapping))
    return found


def _robots_states(among: Any) -> Any:
    return _ROBOTS_STATES.where(among(robots.c.host))
