"""Leases of hosts: which process may send requests to a host, and until when.

A lease ends by itself, so a host is free again after a crash. The times are those of the processes' clocks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import BindParameter, Connection, Double, bindparam, cast, select, update

from webstrata.records import HostLease, HostState, RobotsState
from webstrata.remember import statements
from webstrata.remember.hosts import politeness
from webstrata.remember.tables import host_leases as leases

_IMPLAUSIBLE_S = 6 * 3600.0
"""No process leases a host for as long as this: a lease that ends later was written before a clock was set back."""

_UNTIL = cast(bindparam("until"), Double)
_OWNER: BindParameter[str] = bindparam("owner")


def lease(
    connection: Connection,
    owner: str,
    wanted: Mapping[str, float],
    *,
    now: float,
    wish_until: float,
    changed_since: float,
    clock_difference_s: float,
) -> dict[str, HostLease]:
    """Lease hosts until the given times, or renew their leases; see `ports.HostStore.lease`."""
    taken: list[str] = []
    renewed: list[str] = []
    wished: list[str] = []
    changed: list[str] = []
    found: dict[str, HostLease] = {}
    for row in _locked_rows(connection, wanted):
        is_over = row.lease_until + clock_difference_s <= now or row.lease_until > now + _IMPLAUSIBLE_S
        is_reserved = row.wanted_by not in (None, owner) and now <= row.wanted_until <= now + _IMPLAUSIBLE_S
        is_ours = row.lease_owner == owner
        if is_ours and not (is_reserved and row.lease_until <= now):
            renewed.append(row.host)
        elif is_over and not is_reserved:
            taken.append(row.host)
            if not is_ours and row.lease_until >= changed_since:
                changed.append(row.host)
        else:
            is_wished = row.wanted_by == owner and row.wanted_until > (now + wish_until) / 2
            if not is_reserved and not is_wished:  # a wish that has just been stored is not stored again
                wished.append(row.host)
            until = row.wanted_until if is_over else row.lease_until + clock_difference_s
            found[row.host] = HostLease(host=row.host, is_held=False, until=until)
    for until, names in _by_end(renewed, wanted).items():
        statements.execute_among_names(connection, _renewing, names, until=until)
    for until, names in _by_end(taken, wanted).items():
        statements.execute_among_names(connection, _taking, names, owner=owner, until=until)
    if wished:
        statements.execute_among_names(connection, _wishing, wished, owner=owner, until=wish_until)
    states, robots = politeness.states_of(connection, changed), politeness.robots_of(connection, changed)
    for host in (*renewed, *taken):
        found[host] = HostLease(
            host=host, is_held=True, until=wanted[host], state=states.get(host), robots=robots.get(host, ())
        )
    return found


def _locked_rows(connection: Connection, wanted: Mapping[str, float]) -> list[Any]:
    """The rows of the hosts, locked until the transaction ends; rows that are missing are inserted."""
    rows = list(statements.execute_among_names(connection, _locking, wanted))
    if len(rows) < len(wanted):
        new = wanted.keys() - {row.host for row in rows}
        free = [{"host": host, "lease_owner": "", "lease_until": 0.0} for host in sorted(new)]
        statements.insert_missing(connection, leases, ["host"], free)
        rows += statements.execute_among_names(connection, _locking, new)
    return rows


def _locking(among: Any) -> Any:
    return select(leases).where(among(leases.c.host)).order_by(leases.c.host).with_for_update()


def _by_end(names: Sequence[str], wanted: Mapping[str, float]) -> dict[float, list[str]]:
    """The hosts by the end of their leases. Most have the same gap, so few statements write all of them."""
    groups: dict[float, list[str]] = {}
    for name in names:
        groups.setdefault(wanted[name], []).append(name)
    return groups


def _renewing(among: Any) -> Any:
    return update(leases).where(among(leases.c.host)).values(lease_until=_UNTIL)


def _taking(among: Any) -> Any:
    values = {"lease_owner": _OWNER, "lease_until": _UNTIL, "wanted_by": None, "wanted_until": None}
    return update(leases).where(among(leases.c.host)).values(values)


def _wishing(among: Any) -> Any:
    return update(leases).where(among(leases.c.host)).values(wanted_by=_OWNER, wanted_until=_UNTIL)


def _ending(among: Any) -> Any:
    return update(leases).where(among(leases.c.host), leases.c.lease_owner == _OWNER).values(lease_until=_UNTIL)


def release(connection: Connection, owner: str, hosts: Sequence[str], states: Sequence[HostState], now: float) -> None:
    """End the leases of an owner and store the states of their hosts."""
    politeness.put_hosts(connection, states)
    statements.execute_among_names(connection, _ending, hosts, owner=owner, until=now)


def save(connection: Connection, states: Sequence[HostState], robots: Sequence[RobotsState]) -> None:
    """Store the states of hosts and robots.txt files."""
    politeness.put_hosts(connection, states)
    politeness.put_robots(connection, robots)


def wanted(connection: Connection, owner: str, now: float) -> list[str]:
    """The hosts of an owner for which another process waits."""
    query = select(leases.c.host).where(
        leases.c.wanted_until >= now, leases.c.lease_owner == owner, leases.c.lease_until >= now
    )
    return list(connection.execute(query.order_by(leases.c.host)).scalars())
