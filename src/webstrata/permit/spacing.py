"""The politeness rules, and `HostSpacing`: when each host and address may be visited next, and when it last was."""

from __future__ import annotations

import math
from collections.abc import Iterable

from msgspec import Struct

from webstrata.records import AddressState, HostState

_ADDRESS_DELAY_S = 0.5


class PolitenessRules(Struct, frozen=True, kw_only=True):
    """The settings behind every permit."""

    agent: str
    """The User-Agent header: product, version, contact."""
    token: str
    """The product token: the name under which robots.txt files address this crawler."""
    delay_s: float = 2.0
    """Minimum time between the sendings of two requests to a host."""
    delay_factor: float = 1.0
    """Pause after a response, as a multiple of the response time."""
    max_delay_s: float = 300.0
    """Upper bound of Crawl-delay and of the pause after a response."""
    address_delay_s: float | None = None
    """Minimum time between the sendings of two requests to an address, for all its hosts; None: a short default."""
    connections_per_host: int = 1
    """Maximum number of concurrent requests to a host."""
    robots_max_age_s: float = 86_400.0
    """An older robots.txt is fetched again; RFC 9309 allows a day."""
    obey_robots: bool = True
    backoff_first_s: float = 60.0
    """Pause after a first 429 or 503 without Retry-After; doubles with each consecutive one."""
    backoff_max_s: float = 86_400.0
    """Upper bound of the pause after refusals, with or without Retry-After."""

    @property
    def address_gap_s(self) -> float:
        return min(_ADDRESS_DELAY_S, self.delay_s) if self.address_delay_s is None else self.address_delay_s


_FORGET_ABOVE = 100_000
"""Number of known hosts (or addresses) above which idle ones are forgotten."""


class HostActivity:
    """A mutable HostState with the number of open requests and the time of the last sending."""

    __slots__ = (
        "backoff_count",
        "backoff_until",
        "last_duration_s",
        "name",
        "next_at",
        "open_requests",
        "others_until",
        "sent_at",
    )

    def __init__(self, state: HostState) -> None:
        self.name = state.host
        self.next_at = state.next_at
        self.backoff_until = state.backoff_until
        self.backoff_count = state.backoff_count
        self.last_duration_s = state.last_duration_s
        self.open_requests = 0
        self.sent_at = -math.inf
        self.others_until = -math.inf
        """The next permitted time after the requests of another process: requests with permits wait for it too."""

    def state(self) -> HostState:
        return HostState(
            host=self.name,
            next_at=self.next_at,
            backoff_until=self.backoff_until,
            backoff_count=self.backoff_count,
            last_duration_s=self.last_duration_s,
        )

    def free_at(self) -> float:
        return max(self.next_at, self.backoff_until)

    def refresh(self, state: HostState) -> None:
        """Take over what another process did meanwhile. No time that is known here becomes earlier."""
        self.next_at = max(self.next_at, state.next_at)
        self.others_until = state.next_at
        self.backoff_until = max(self.backoff_until, state.backoff_until)
        self.backoff_count = state.backoff_count
        self.last_duration_s = state.last_duration_s


class HostSpacing:
    """The hosts and addresses that were visited recently, and which of them changed since the last `drain`."""

    def __init__(self) -> None:
        self._hosts: dict[str, HostActivity] = {}
        self._addresses: dict[str, float] = {}
        self._addresses_sent: dict[str, float] = {}
        self._changed_hosts: set[str] = set()
        self._changed_addresses: set[str] = set()

    def restore(self, hosts: Iterable[HostState], addresses: Iterable[AddressState]) -> None:
        """Load the state that an earlier process saved; of two times for an address the later one applies."""
        for state in hosts:
            self._hosts[state.host] = HostActivity(state)
        for address in addresses:
            self._addresses[address.address] = max(address.next_at, self.address_free_at(address.address))

    def refresh(self, state: HostState) -> None:
        """Load the state that another process saved while this one runs."""
        if state.host in self._hosts:
            self._hosts[state.host].refresh(state)
        else:
            self._hosts[state.host] = HostActivity(state)

    def state(self, name: str) -> HostState | None:
        """The state of a host; None if it is not known."""
        return self._hosts[name].state() if name in self._hosts else None

    def host(self, name: str) -> HostActivity:
        """The host, for reading only. An unknown host is not stored."""
        return self._hosts.get(name) or HostActivity(HostState(host=name))

    def changing_host(self, name: str) -> HostActivity:
        """The host, to be changed by the caller; the next `drain` returns it."""
        self._changed_hosts.add(name)
        host = self._hosts.get(name)
        if host is None:
            host = self._hosts[name] = HostActivity(HostState(host=name))
        return host

    def address_free_at(self, address: str) -> float:
        return self._addresses.get(address, 0.0)

    def reserve_address(self, address: str, until: float) -> None:
        self._addresses[address] = max(until, self.address_free_at(address))
        self._changed_addresses.add(address)

    def address_sent_at(self, address: str) -> float:
        """When a request was last sent to the address."""
        return self._addresses_sent.get(address, -math.inf)

    def sent(self, name: str, address: str, now: float) -> HostActivity:
        """Record that a request is being sent; returns the host, to be changed by the caller."""
        host = self.changing_host(name)
        host.sent_at = max(host.sent_at, now)
        self._addresses_sent[address] = max(now, self.address_sent_at(address))
        return host

    def drain(self) -> tuple[tuple[HostState, ...], tuple[AddressState, ...]]:
        """The hosts and addresses that changed since the last call."""
        hosts = tuple(self._hosts[name].state() for name in sorted(self._changed_hosts))
        addresses = tuple(
            AddressState(address=address, next_at=self._addresses[address])
            for address in sorted(self._changed_addresses)
        )
        self._changed_hosts.clear()
        self._changed_addresses.clear()
        return hosts, addresses

    def shift(self, seconds: float) -> None:
        """The clock was set by so much. The store moves what it has; what it does not have yet is drained as usual."""
        for host in self._hosts.values():
            host.next_at += seconds
            host.backoff_until += seconds
            host.sent_at += seconds
        for times in (self._addresses, self._addresses_sent):
            for address in times:
                times[address] += seconds

    def forget_idle(self, now: float) -> None:
        """Bound the memory: if very many are known, drop those that may be visited now and are already drained."""
        if len(self._hosts) > _FORGET_ABOVE:
            idle = [
                name
                for name, host in self._hosts.items()
                if host.free_at() <= now and not host.open_requests and not host.backoff_count
            ]
            for name in idle:
                if name not in self._changed_hosts:
                    del self._hosts[name]
        if len(self._addresses) > _FORGET_ABOVE:
            for address in [known for known, at in self._addresses.items() if at <= now]:
                if address not in self._changed_addresses:
                    del self._addresses[address]
                    self._addresses_sent.pop(address, None)
