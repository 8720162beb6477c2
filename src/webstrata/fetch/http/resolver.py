"""`HostResolver`: host names to addresses, from a given table, from literal addresses or from the system's resolver.

A name is resolved once per visit, before the permit, and the request goes to that address. A name server that returns
another address afterwards (DNS rebinding) has no effect.
"""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Mapping
from functools import lru_cache
from ipaddress import ip_address

from webstrata.errors import BadSettings
from webstrata.fetch.http.guard import AddressGuard
from webstrata.records import Failure, FailureKind

_KEEP_S = 60.0
_KEEP_FAILURE_S = 10.0
_MAX_NAMES = 10_000


class HostResolver:
    """Resolves hosts to addresses that the guard allows, and caches the results."""

    def __init__(self, guard: AddressGuard, hosts: Mapping[str, str], timeout_s: float) -> None:
        self._guard = guard
        self._hosts = {_bare_host(host): _endpoint(text) for host, text in hosts.items()}
        self._timeout_s = timeout_s
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
        if _is_address(host):
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
        addresses = await self._query(host)
        keep_s = _KEEP_FAILURE_S if isinstance(addresses, Failure) else _KEEP_S
        self._known.pop(host, None)
        self._known[host] = (time.monotonic() + keep_s, addresses)
        if len(self._known) > _MAX_NAMES:
            del self._known[next(iter(self._known))]
        return addresses

    async def _query(self, host: str) -> tuple[str, ...] | Failure:
        try:
            async with asyncio.timeout(self._timeout_s):
                rows = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
        except TimeoutError:
            return Failure(kind=FailureKind.DNS, detail=f"{host}: no response in {self._timeout_s:g} s")
        except (OSError, UnicodeError) as error:  # UnicodeError: a name that DNS cannot contain
            return Failure(kind=FailureKind.DNS, detail=f"{host}: {getattr(error, 'strerror', None) or error}")
        ordered = sorted(rows, key=lambda row: row[0] != socket.AF_INET)
        addresses = tuple(dict.fromkeys(str(row[4][0]) for row in ordered))
        return addresses or Failure(kind=FailureKind.DNS, detail=f"{host}: no address")

    async def close(self) -> None:
        """Cancel the lookups that are under way."""
        tasks = list(self._lookups.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _bare_host(host: str) -> str:
    return host.lower().strip("[]").rstrip(".")


@lru_cache(maxsize=4096)
def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def _endpoint(text: str) -> tuple[str, int | None]:
    """Parse `address`, `address:port` or `[address]:port`."""
    address, port = text.strip(), ""
    if not _is_address(address.strip("[]")):
        address, _, port = address.rpartition(":")
    address = address.strip("[]")
    if not _is_address(address) or (port and not (port.isdecimal() and 0 < int(port) < 65536)):
        raise BadSettings(f"not an address: {text!r}. Write 127.0.0.2, 127.0.0.2:8480 or [::1]:8480.")
    return address, int(port) if port else None
