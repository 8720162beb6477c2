"""How polite we are: the few numbers behind every Permit.

When hosts and addresses were last visited, who is being visited, and when each is free again.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from webstrata.records import AddressState, HostState

_ADDRESS_DELAY_S = 0.5


class PolitenessRules(Struct, frozen=True, kw_only=True):
    agent: str
    """The whole User-Agent header: product, version, contact."""
    token: str
    """Product token: the name that robots.txt files call us by."""
    delay_s: float = 2.0
    """Own gap between the starts of two requests to a host."""
    delay_factor: float = 1.0
    """A host rests this many times its last response time after it answered."""
    max_delay_s: float = 300.0
    """A longer Crawl-delay or rest is cut to this."""
    address_delay_s: float | None = None
    """Gap between the starts of two requests to one address, whatever their hosts; none: a small one."""
    connections_per_host: int = 1
    """Requests to a host that may be open at the same time."""
    robots_max_age_s: float = 86_400.0
    """A robots.txt is fetched again when older; RFC 9309 allows a day."""
    obey_robots: bool = True
    backoff_first_s: float = 60.0
    """Rest of a host after a first 429 or 503 that does not say how long; doubles with each in a row."""
    backoff_max_s: float = 86_400.0
    """No rest is longer, asked for or not."""

    @property
    def address_gap_s(self) -> float:
        return min(_ADDRESS_DELAY_S, self.delay_s) if self.address_delay_s is None else self.address_delay_s


_FORGET_ABOVE = 100_000


class HostActivity:
    """The mutable side of a HostState, with the requests that are open."""

    __slots__ = ("backoff_count", "backoff_until", "last_duration_s", "name", "next_at", "open_requests")

    def __init__(self, state: HostState) -> None:
        self.name = state.host
        self.next_at = state.next_at
        self.backoff_until = state.backoff_until
        self.backoff_count = state.backoff_count
        self.last_duration_s = state.last_duration_s
        self.open_requests = 0

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


class HostSpacing:
    """All hosts and addresses that were visited lately. What changed is kept until it is drained."""

    def __init__(self) -> None:
        self._hosts: dict[str, HostActivity] = {}
        self._addresses: dict[str, float] = {}
        self._changed_hosts: set[str] = set()
        self._changed_addresses: set[str] = set()

    def recall(self, hosts: Iterable[HostState], addresses: Iterable[AddressState]) -> None:
        """Take up what an earlier process promised; the later of two promises holds."""
        for state in hosts:
            self._hosts[state.host] = HostActivity(state)
        for address in addresses:
            self._addresses[address.address] = max(address.next_at, self.address_free_at(address.address))

    def host(self, name: str) -> HostActivity:
        """The host, to be read; one never visited is not remembered for being looked at."""
        return self._hosts.get(name) or HostActivity(HostState(host=name))

    def host_to_change(self, name: str) -> HostActivity:
        self._changed_hosts.add(name)
        return self._hosts.setdefault(name, self.host(name))

    def address_free_at(self, address: str) -> float:
        return self._addresses.get(address, 0.0)

    def hold_address(self, address: str, until: float) -> None:
        self._addresses[address] = max(until, self.address_free_at(address))
        self._changed_addresses.add(address)

    def drain(self) -> tuple[tuple[HostState, ...], tuple[AddressState, ...]]:
        """What changed since the last time, each once."""
        hosts = tuple(self._hosts[name].state() for name in sorted(self._changed_hosts))
        addresses = tuple(
            AddressState(address=address, next_at=self._addresses[address])
            for address in sorted(self._changed_addresses)
        )
        self._changed_hosts.clear()
        self._changed_addresses.clear()
        return hosts, addresses

    def forget_idle(self, now: float) -> None:
        """Keep memory flat: when very many are known, drop drained ones that no promise binds any more."""
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
