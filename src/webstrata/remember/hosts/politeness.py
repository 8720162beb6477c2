"""Politeness state that survives restarts: hosts, addresses, robots.txt files."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import asdict
from sqlalchemy import Connection, select

from webstrata.records import AddressState, HostState, RobotsState
from webstrata.remember import statements
from webstrata.remember.tables import addresses, hosts, robots

Politeness = tuple[list[HostState], list[AddressState], list[RobotsState]]


def put(
    connection: Connection,
    host_states: Sequence[HostState],
    address_states: Sequence[AddressState],
    robots_states: Sequence[RobotsState],
) -> None:
    """Store states; later ones replace earlier ones, also within the batch."""
    _put_hosts(connection, {state.host: state for state in host_states})
    latest_addresses = {state.address: state for state in address_states}
    statements.put(connection, addresses, "address", [asdict(state) for state in latest_addresses.values()])
    latest_robots = {state.origin: state for state in robots_states}
    statements.put(connection, robots, "origin", [asdict(state) for state in latest_robots.values()])


def _put_hosts(connection: Connection, latest: dict[str, HostState]) -> None:
    # A host that is known only as the target of a redirect is visited but not watched.
    values = [{**asdict(state), "watched": False} for state in latest.values()]
    changing = ("next_at", "backoff_until", "backoff_count", "last_duration_s")
    statements.put(connection, hosts, "host", values, changing)


def politeness_state(connection: Connection) -> Politeness:
    known = select(
        hosts.c.host, hosts.c.next_at, hosts.c.backoff_until, hosts.c.backoff_count, hosts.c.last_duration_s
    ).where(hosts.c.next_at.is_not(None))
    return (
        [HostState(**row._mapping) for row in connection.execute(known.order_by(hosts.c.host))],
        [AddressState(**row._mapping) for row in connection.execute(select(addresses))],
        [RobotsState(**row._mapping) for row in connection.execute(select(robots))],
    )
