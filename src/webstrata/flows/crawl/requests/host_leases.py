"""`HostLeases`: the hosts to which this process may send requests, as the store knows them.

A request may be sent only if the store holds a lease of this process that lasts at least until the sending plus the
gap of the host. So another process, or this one after a crash, that waits for the end of the lease keeps the gap,
although the sending itself is not stored (docs/decisions/0055-host-leases.md).

Leases are taken and renewed ahead of time, all that are asked for within a few milliseconds in one transaction. They
are released, with the exact next permitted time, when the host is idle, when another process waits for it, and at the
end. Back-offs and robots.txt files are stored as soon as they are known.
"""

from __future__ import annotations

import asyncio
import logging
import math
import secrets
from collections.abc import Iterable

from webstrata.errors import StoreError
from webstrata.permit.gate import PermitGate
from webstrata.ports import Clock, HostStore
from webstrata.records import HostLease, HostState, RobotsState

log = logging.getLogger("webstrata.crawl")

LEASE_S = 15.0
"""A lease lasts this long beyond the gap of its host, and at least twice this long. It is renewed when less than a
third of this is left beyond the gap."""
_IDLE_S = 10.0
"""A host that is not requested for this time, or for its gap if that is longer, is released."""
_UNUSED_S = 5.0
"""A host that was leased and not requested is kept this long beyond its gap, even if another process waits for it."""
_TICK_S = 1.0
"""How often idle hosts are released, and the wishes of other processes are read."""
_RETRY_S = 0.5
"""How long to wait before asking again for a host that another process holds."""
_WISH_S = 15.0
"""How long another process reserves a host for this one after releasing it."""
_BATCH_S = 0.003
"""Hosts that are asked for within this time are leased in one transaction."""


class _Tenure:
    """A lease that this process holds."""

    __slots__ = ("gap_s", "has_sent", "is_ending", "since", "until", "used_at")

    def __init__(self, until: float, gap_s: float, now: float) -> None:
        self.until = until
        self.gap_s = gap_s
        self.since = self.used_at = now
        self.has_sent = False
        self.is_ending = False
        """Another process waits for the host: no further request starts."""

    def may_end(self, now: float) -> bool:
        """Whether the host can be yielded: it was requested, or it could have been.

        A process that yields before its first request would let two processes exchange the host for ever.
        """
        return self.has_sent or now - self.since > self.gap_s + _UNUSED_S


class HostLeases:
    """Takes, renews and releases the leases of one process. Create one for each process, and close it at the end."""

    def __init__(
        self,
        *,
        store: HostStore,
        gate: PermitGate,
        clock: Clock,
        node_name: str,
        clock_difference_s: float,
        lease_s: float = LEASE_S,
    ) -> None:
        """`clock_difference_s`: the clocks of the processes that share the store differ by at most this."""
        self._store = store
        self._gate = gate
        self._clock = clock
        self._clock_difference_s = clock_difference_s
        self._lease_s = lease_s
        self._renew_s = lease_s / 3
        self._owner = f"{node_name}-{secrets.token_hex(4)}"
        """A new name for each process: a restarted one must not use the lease of the killed one."""
        self._known_since = clock.now() - LEASE_S
        """The gate has read the stored states of hosts after this time."""
        self._held: dict[str, _Tenure] = {}
        self._asked: dict[str, float] = {}
        self._states: dict[str, HostState] = {}
        self._robots: dict[str, RobotsState] = {}
        self._changing = asyncio.Lock()
        """One transaction at a time, so that what is held here is what the store holds."""
        self._batch: asyncio.Task[None] | None = None
        self._keeper: asyncio.Task[None] | None = None

    async def hold(self, host: str, gap_s: float, *, is_open: bool = False) -> float | None:
        """Hold the lease of a host for a request with this gap: None if it is held, else when to ask again.

        A host without a gap (a server of one's own) needs no lease: there is nothing to keep after a crash.

        `is_open`: the request has its permit already, so it may be sent although another process waits for the host.
        """
        if gap_s <= 0:
            return None
        tenure = self._held.get(host)
        is_refused = tenure is not None and tenure.is_ending and not is_open
        if not is_refused and not self._covers(host, self._clock.now() + gap_s + self._renew_s):
            await self._ask({host: gap_s})
            tenure = self._held.get(host)
        if tenure is None or (tenure.is_ending and not is_open):
            # All hosts that wait ask at the same moments, so in one transaction.
            return math.floor(self._clock.now() / _RETRY_S + 1) * _RETRY_S
        tenure.gap_s = gap_s
        tenure.used_at = self._clock.now()
        return None

    async def hold_many(self, hosts: Iterable[str]) -> None:
        """Take the leases of hosts that will be requested in one transaction, as far as no other process has them."""
        missing = dict.fromkeys((host for host in hosts if host not in self._held), 0.0)
        if missing:
            await self._ask(missing)

    def allows(self, host: str, gap_s: float) -> bool:
        """Whether a request with this gap may be sent now: the lease lasts until the next request is permitted.

        It lasts a little longer, in case that this process is interrupted before it sends the request.
        """
        return gap_s <= 0 or self._covers(host, self._clock.now() + gap_s + self._renew_s / 2)

    def _covers(self, host: str, until: float) -> bool:
        tenure = self._held.get(host)
        return tenure is not None and tenure.until >= until

    def sent(self, host: str) -> None:
        """Record that a request is being sent."""
        tenure = self._held.get(host)
        if tenure is not None:
            tenure.has_sent = True
            tenure.used_at = self._clock.now()

    async def save(self, host: str, origin: str | None = None) -> None:
        """Store the state of a host, and the robots.txt of an origin, before the visit goes on."""
        state = self._gate.host_state(host)
        if state is not None:
            self._states[host] = state
        robots = self._gate.robots_state(origin) if origin is not None else None
        if robots is not None:
            self._robots[robots.origin] = robots
        await self._ask({})

    def shift(self, seconds: float) -> None:
        """The clock was set by so much; the store moves the leases by as much."""
        self._known_since += seconds
        for tenure in self._held.values():
            tenure.until += seconds
            tenure.since += seconds
            tenure.used_at += seconds

    async def close(self) -> None:
        """Release everything, so that the next process need not wait."""
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.gather(self._keeper, return_exceptions=True)
        if self._batch is not None:
            await asyncio.gather(self._batch, return_exceptions=True)
        try:
            async with self._changing:
                await self._release(list(self._held))
        except StoreError as problem:
            log.warning("the leases of hosts end by themselves in less than a minute: %s", problem)

    # ── one transaction for all that ask ────────────────────────────────────────────────────────────────────────

    async def _ask(self, gaps_s: dict[str, float]) -> None:
        """Join the next transaction. It ends even if the task that asked is cancelled."""
        for host, gap_s in gaps_s.items():
            self._asked[host] = max(gap_s, self._asked.get(host, 0.0))
        if self._batch is None:
            self._batch = asyncio.create_task(self._next_batch())
        await asyncio.shield(self._batch)

    async def _next_batch(self) -> None:
        async with self._changing:
            await asyncio.sleep(_BATCH_S)
            self._batch = None
            asked, self._asked = self._asked, {}
            states, self._states = self._states, {}
            robots, self._robots = self._robots, {}
            if states or robots:
                await self._store.save(list(states.values()), list(robots.values()))
            if asked:
                await self._lease(asked)

    async def _lease(self, asked: dict[str, float]) -> None:
        now = self._clock.now()
        # Hosts in use whose leases end soon are renewed in the same transaction.
        gaps_s = {host: tenure.gap_s for host, tenure in self._held.items() if self._is_renewed_early(tenure, now)}
        gaps_s |= asked
        found = await self._store.lease(
            self._owner,
            {host: now + max(gap_s, self._lease_s) + self._lease_s for host, gap_s in gaps_s.items()},
            now=now,
            wish_until=now + _WISH_S,
            changed_since=self._known_since,
            clock_difference_s=self._clock_difference_s,
        )
        for host, lease in found.items():
            self._apply(lease, gaps_s[host], now)
        if self._held and self._keeper is None:
            self._keeper = asyncio.create_task(self._keep())

    def _is_renewed_early(self, tenure: _Tenure, now: float) -> bool:
        return not tenure.is_ending and self._is_used(tenure, now) and tenure.until < now + tenure.gap_s + self._lease_s

    def _apply(self, lease: HostLease, gap_s: float, now: float) -> None:
        tenure = self._held.get(lease.host)
        if not lease.is_held:
            self._held.pop(lease.host, None)
        elif tenure is None:
            self._held[lease.host] = _Tenure(lease.until, gap_s, now)
            if lease.state is not None:
                self._gate.refresh(lease.state, lease.robots, self._clock_difference_s)
        else:
            tenure.until = max(tenure.until, lease.until)

    # ── release ─────────────────────────────────────────────────────────────────────────────────────────────────

    async def _keep(self) -> None:
        """Release idle hosts, and hosts for which another process waits."""
        try:
            while self._held:
                await asyncio.sleep(_TICK_S)
                try:
                    for host in await self._store.wanted(self._owner, self._clock.now()):
                        self._yield(host)
                    async with self._changing:
                        await self._release(self._releasable())
                except StoreError as problem:
                    log.warning("the leases of hosts cannot be released now: %s", problem)
        finally:
            self._keeper = None

    def _yield(self, host: str) -> None:
        tenure = self._held.get(host)
        if tenure is not None and tenure.may_end(self._clock.now()):
            tenure.is_ending = True

    def _is_used(self, tenure: _Tenure, now: float) -> bool:
        return now - tenure.used_at < max(_IDLE_S, tenure.gap_s + self._renew_s)

    def _releasable(self) -> list[str]:
        now = self._clock.now()
        return [
            host
            for host, tenure in self._held.items()
            if (tenure.is_ending or not self._is_used(tenure, now)) and not self._gate.open_requests(host)
        ]

    async def _release(self, hosts: list[str]) -> None:
        """End leases. No request starts from here on, also while the transaction is in progress."""
        if not hosts:
            return
        states = [state for host in hosts if (state := self._gate.host_state(host)) is not None]
        tenures = {host: self._held.pop(host) for host in hosts}
        try:
            await self._store.release(self._owner, hosts, states, self._clock.now())
        except StoreError:
            self._held |= {host: tenure for host, tenure in tenures.items() if host not in self._held}
            raise
