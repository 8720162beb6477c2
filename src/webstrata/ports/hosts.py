"""The store's role for hosts: which process may send requests to a host, and the state that it leaves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from webstrata.records import HostLease, HostState, RobotsState


class HostStore(Protocol):
    """Leases of hosts. A process sends requests to a host only while it holds the lease.

    The times are those of the processes' clocks, which may differ by `clock_difference_s`.
    """

    async def lease(
        self,
        owner: str,
        wanted: Mapping[str, float],
        *,
        now: float,
        wish_until: float,
        changed_since: float,
        clock_difference_s: float,
    ) -> dict[str, HostLease]:
        """Lease hosts until the given times, or renew their leases, in one transaction.

        A host can be taken when the lease of its last owner has ended. If it has not, the wish for it is stored until
        `wish_until`; a host that is free then can be taken only by the process that wished for it. A lease that
        changes hands carries the stored state of the host if its last owner held it after `changed_since`.
        """
        ...

    async def release(self, owner: str, hosts: Sequence[str], states: Sequence[HostState], now: float) -> None:
        """End leases of the owner, and store the states of hosts in the same transaction."""
        ...

    async def save(self, states: Sequence[HostState], robots: Sequence[RobotsState]) -> None:
        """Store the states of hosts and robots.txt files now. An older state does not replace a later one."""
        ...

    async def wanted(self, owner: str, now: float) -> list[str]:
        """The hosts that the owner holds and for which another process waits."""
        ...
