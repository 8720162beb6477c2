"""`NameLookup`: the addresses of a name from /etc/hosts or from name servers, by c-ares.

c-ares waits for any number of lookups at once, so that names which no server answers delay no other name. A lookup that
fails says whose fault it is: a name that does not exist is the host's; if no name server responds at all, it is ours.
"""

from __future__ import annotations

import asyncio
import math
import socket
from collections.abc import Sequence
from typing import NamedTuple

import pycares
from aiodns import DNSResolver
from aiodns.error import DNSError
from pycares import errno

from webstrata.records import Failure, FailureKind

_TRIES = 5
"""c-ares waits longer at each try, and at the first one for 250 ms if its servers are fast: 8 s in all."""
_FIRST_TRY_PART = 7
"""The first try of the first query waits for this part of the time of a lookup."""
_PROBE_S = 3.0
_AI_NOSORT = 1 << 7
"""ARES_AI_NOSORT, which pycares does not name. To sort addresses, c-ares would open a socket for each of them."""

_NO_NAME = frozenset([errno.ARES_ENOTFOUND, errno.ARES_ENODATA, errno.ARES_ENONAME])
"""Answers of a name server: the name does not exist, or has no address."""
_BAD_NAME = frozenset([errno.ARES_EBADNAME, errno.ARES_EBADSTR])
_LOCAL = frozenset([errno.ARES_ENOMEM, errno.ARES_EFILE])


class NameAddresses(NamedTuple):
    """The addresses of a name, IPv4 before IPv6."""

    addresses: tuple[str, ...]
    ttl_s: float
    """How long they are valid; 0 for names in /etc/hosts."""


class NameLookup:
    """Looks up names. Create and use it in one event loop."""

    def __init__(self, name_servers: Sequence[str], timeout_s: float) -> None:
        """`name_servers` (`address:port`) are used instead of the system's if there are any."""
        self._name_servers = list(name_servers)
        self._timeout_s = timeout_s
        self._resolver: DNSResolver | None = None
        self._answered_at = -math.inf
        """When a name server last answered a query (the event loop's time)."""
        self._probe: asyncio.Task[bool] | None = None

    async def addresses(self, name: str) -> NameAddresses | Failure:
        """The addresses of a name, or why there are none.

        A name that does not exist or has no address is a failure of the host (`DNS`). If no server answers the query,
        or all refuse it or fail, it is a failure of the host if a name server answered another query since this one
        began, or answers one for the root zone now; otherwise it is ours (`LOCAL`). It is also ours if no socket can be
        created.
        """
        started_at = asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout(self._timeout_s):
                found = await self._channel().getaddrinfo(
                    name, socket.AF_UNSPEC, type=socket.SOCK_STREAM, flags=_AI_NOSORT
                )
        except TimeoutError:
            return await self._unanswered(name, f"no response in {self._timeout_s:g} s", started_at)
        except DNSError as error:
            return await self._failed(name, error, started_at)
        except pycares.AresError as error:
            return Failure(kind=FailureKind.LOCAL, detail=f"names cannot be looked up: {error}")
        except UnicodeError as error:  # DNS cannot contain the name
            return Failure(kind=FailureKind.DNS, detail=f"{name}: {error}")
        nodes = sorted(found.nodes, key=lambda node: node.family != socket.AF_INET)
        if not nodes:
            return Failure(kind=FailureKind.DNS, detail=f"{name}: no address")
        ttl_s = min(node.ttl for node in nodes)
        if ttl_s > 0:  # else it may be a name in /etc/hosts
            self._answered()
        return NameAddresses(tuple(dict.fromkeys(node.addr[0].decode("ascii") for node in nodes)), ttl_s)

    async def close(self) -> None:
        if self._probe is not None:
            self._probe.cancel()
            await asyncio.gather(self._probe, return_exceptions=True)
        if self._resolver is not None:
            await self._resolver.close()
            self._resolver = None

    def _channel(self) -> DNSResolver:
        """Not with the option `lookups`, whose text pycares frees too early: /etc/nsswitch.conf gives the order."""
        if self._resolver is None:
            self._resolver = DNSResolver(
                self._name_servers or None,
                asyncio.get_running_loop(),
                timeout=self._timeout_s / _FIRST_TRY_PART,
                tries=_TRIES,
                flags=pycares.ARES_FLAG_NOSEARCH | pycares.ARES_FLAG_EDNS,
            )
        return self._resolver

    def _answered(self) -> None:
        self._answered_at = asyncio.get_running_loop().time()

    async def _failed(self, name: str, error: DNSError, started_at: float) -> Failure:
        code, reason = error.args[0], str(error.args[1])
        if code in _LOCAL:
            return Failure(kind=FailureKind.LOCAL, detail=f"names cannot be looked up: {reason}")
        if code in _NO_NAME:
            self._answered()
        if code in _NO_NAME or code in _BAD_NAME:
            return Failure(kind=FailureKind.DNS, detail=f"{name}: {reason}")
        return await self._unanswered(name, reason, started_at)

    async def _unanswered(self, name: str, reason: str, started_at: float) -> Failure:
        """Whose fault it is that no name server answered a query."""
        try:
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM).close()
        except OSError as error:
            return Failure(kind=FailureKind.LOCAL, detail=f"names cannot be looked up: {error}")
        if self._answered_at >= started_at or await self._is_answering():
            return Failure(kind=FailureKind.DNS, detail=f"{name}: {reason}")
        return Failure(kind=FailureKind.LOCAL, detail=f"no name server responds: {name}: {reason}")

    async def _is_answering(self) -> bool:
        """Whether a name server answers a query for the root zone. One such query serves all lookups that wait."""
        if self._probe is None:
            self._probe = asyncio.create_task(self._query_root())
            self._probe.add_done_callback(self._forget_probe)
        return await asyncio.shield(self._probe)

    def _forget_probe(self, _: asyncio.Task[bool]) -> None:
        self._probe = None

    async def _query_root(self) -> bool:
        try:
            async with asyncio.timeout(min(_PROBE_S, self._timeout_s)):
                await self._channel().query_dns(".", "NS")
        except DNSError as error:
            if error.args[0] not in _NO_NAME:
                return False
        except (TimeoutError, pycares.AresError):
            return False
        self._answered()
        return True
