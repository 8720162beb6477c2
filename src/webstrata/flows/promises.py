"""What politeness promised and the store does not know yet: kept until a transaction has taken it."""

from __future__ import annotations

from webstrata.records import AddressState, HostState, RobotsState

Changed = tuple[tuple[HostState, ...], tuple[AddressState, ...], tuple[RobotsState, ...]]


class UnsavedPoliteness:
    """Gathers changes of hosts, addresses and robots files; of each the latest counts."""

    def __init__(self) -> None:
        self._hosts: dict[str, HostState] = {}
        self._addresses: dict[str, AddressState] = {}
        self._robots: dict[str, RobotsState] = {}

    def all(self, changed: Changed) -> Changed:
        """All that has to be written: these changes and those of transactions that failed."""
        hosts, addresses, robots = changed
        self._hosts |= {state.host: state for state in hosts}
        self._addresses |= {state.address: state for state in addresses}
        self._robots |= {state.origin: state for state in robots}
        return tuple(self._hosts.values()), tuple(self._addresses.values()), tuple(self._robots.values())
