"""`HostResolver`: host names to addresses, from a given table, from literal addresses or by a lookup (`NameLookup`).

A name is resolved once per visit, before the permit, and the request goes to that address. A name server that returns
another address afterwards (DNS rebinding) has no effect.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence

from webstrata.fetch.http.endpoint import is_address, parse_endpoint
from webstrata.fetch.http.guard import AddressGuard
from webstrata.fetch.http.name_lookup import NameAddresses, NameLookup
from webstrata.records import Failure, FailureKind

_KEEP_S = (10.0, 300.0)
"""Addresses are kept for their time to live, but not shorter and not longer than this."""
_KEEP_FAILURE_S = 10.0
_KEEP_LOCAL_FAILURE_S = 1.0
_MAX_LOOKUP_S = 10.0
_MAX_NAMES = 10_000
_DNS_PORT = 53


class HostResolver:
    """Resolves hosts to addresses that the guard allows, and caches the results."""

    def __init__(
        self, guard: AddressGuard, hosts: Mapping[str, str], timeout_s: float, name_servers: Sequence[str] = ()
    ) -> None:
        """A lookup takes at most `timeout_s` and at most 10 s. `name_servers` replace the system's."""
        self._guard = guard
        self._hosts = {_bare_host(host): parse_endpoint(text) for host, text in hosts.items()}
        self._lookup = NameLookup([_server(text) for text in name_servers], min(timeout_s, _MAX_LOOKUP_S))
        self._known: dict[str, tuple[float, tuple[str, ...] | Failure]] = {}
        self._lookups: dict[str, asyncio.Task[tuple[str, ...] | Failure]] = {}

    async def resolve(self, host: str, port: int) -> tuple[str, int] | Failure:
        """The first address of the host, IPv4 before IPv6. No other address is tried if it does not respond.

        A host is blocked if any of its addresses is forbidden: a mix of public and private addresses is a sign of an
        attack by DNS rebinding.
        """
        host = _bare_host(host)
        if host in self._hosts:
            address, other_port = self._hosts[host]
            return self._allowed(host, (address,), other_port or port)
        if is_address(host):
            return self._allowed(host, (host,), port)
        addresses = await self._addresses(host)
        return addresses if isinstance(addresses, Failure) else self._allowed(host, addresses, port)

    def _allowed(self, host: str, addresses: tuple[str, ...], port: int) -> tuple[str, int] | Failure:
        for address in addresses:
            if not self._guard.allows(address, port):
                detail = f"{host}: {address} port {port} is not public"
                return Failure(kind=FailureKind.BLOCKED, detail=detail)
        return addresses[0], port

    async def _addresses(self, host: str) -> tuple[str, ...] | Failure:
        now = time.monotonic()
        until, addresses = self._known.get(host, (0.0, None))
        if addresses is not None and now < until:
            return addresses
        task = self._lookups.get(host)
        if task is None:
            task = self._lookups[host] = asyncio.create_task(self._look_up(host))
            task.add_done_callback(lambda _: self._lookups.pop(host, None))
        return await asyncio.shield(task)

    async def _look_up(self, host: str) -> tuple[str, ...] | Failure:
        found = await self._lookup.addresses(host)
        self._known.pop(host, None)
        addresses = found.addresses if isinstance(found, NameAddresses) else found
        self._known[host] = (time.monotonic() + _keep_s(found), addresses)
        if len(self._known) > _MAX_NAMES:
            del self._known[next(iter(self._known))]
        return addresses

    async def close(self) -> None:
        """Cancel the lookups that are under way."""
        tasks = list(self._lookups.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._lookup.close()


def _keep_s(found: NameAddresses | Failure) -> float:
    if isinstance(found, NameAddresses):
        shortest_s, longest_s = _KEEP_S
        return min(max(found.ttl_s, shortest_s), longest_s)
    return _KEEP_LOCAL_FAILURE_S if found.kind is FailureKind.LOCAL else _KEEP_FAILURE_S


def _bare_host(host: str) -> str:
    return host.lower().strip("[]").rstrip(".")


def _server(text: str) -> str:
    """A name server as c-ares expects it."""
    address, port = parse_endpoint(text)
    literal = f"[{address}]" if ":" in address else address
    return f"{literal}:{port or _DNS_PORT}"
