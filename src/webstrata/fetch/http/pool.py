"""Connections by where they lead: made one at a time past the guard, kept while they are idle, shared by nobody else.

Only requests to the same host at the same address share a connection, so that one host cannot answer for another.
"""

from __future__ import annotations

import asyncio
import socket
import ssl

import aiohttp

from webstrata.fetch.http.failures import AddressBlocked
from webstrata.fetch.http.guard import AddressGuard
from webstrata.fetch.http.request import ConnectionTarget, FetchLimits
from webstrata.fetch.http.wire import WireProtocol

KEEP_ALIVE_S = 15.0


class ConnectionPool:
    """All connections of one web. `take` one, ask, `give_back` what may be asked again; close every other."""

    def __init__(self, guard: AddressGuard, limits: FetchLimits, tls: ssl.SSLContext, most_idle: int) -> None:
        self._guard = guard
        self._limits = limits
        self._tls = tls
        self._most_idle = most_idle
        self._by_target: dict[ConnectionTarget, list[WireProtocol]] = {}
        self._idle: dict[WireProtocol, tuple[ConnectionTarget, float]] = {}
        """Each with its target and when it became idle; the longest idle first."""
        self._sweeping: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._idle)

    async def take(self, target: ConnectionTarget) -> WireProtocol:
        """A connection that leads there; raises what connecting raised."""
        waiting = self._by_target.get(target)
        while waiting:
            protocol = waiting[-1]  # the one used last: the least likely to have been closed
            self._forget(protocol)
            if protocol.is_connected():
                return protocol
        try:
            async with asyncio.timeout(self._limits.connect_s):
                return await self._connect(target)
        except TimeoutError as error:
            raise aiohttp.ConnectionTimeoutError(f"no connection in {self._limits.connect_s:g} s") from error

    def give_back(self, target: ConnectionTarget, protocol: WireProtocol) -> None:
        """Its answer was read to the end; it is kept if it may be asked again."""
        if protocol.should_close or not protocol.is_connected():
            protocol.abort()
            return
        loop = asyncio.get_running_loop()
        self._idle[protocol] = (target, loop.time())
        self._by_target.setdefault(target, []).append(protocol)
        if len(self._idle) > self._most_idle:
            self._drop(next(iter(self._idle)))
        if self._sweeping is None:
            self._sweeping = loop.call_later(KEEP_ALIVE_S, self._sweep)

    def close(self) -> None:
        """Cut what is idle: nothing is under way there that an orderly end would save."""
        if self._sweeping is not None:
            self._sweeping.cancel()
            self._sweeping = None
        for protocol in list(self._idle):
            self._forget(protocol)
            protocol.abort()

    async def _connect(self, target: ConnectionTarget) -> WireProtocol:
        loop = asyncio.get_running_loop()
        made = self._make_socket(target)
        try:
            made.setblocking(False)
            await loop.sock_connect(made, (target.address, target.port))
        except BaseException:
            made.close()
            raise
        _, protocol = await loop.create_connection(
            lambda: WireProtocol(loop, self._guard, self._limits, gone=self._forget),
            sock=made,
            ssl=self._tls if target.tls else None,
            server_hostname=target.server_name.rstrip(".") if target.tls else None,
        )
        return protocol

    def _make_socket(self, target: ConnectionTarget) -> socket.socket:
        """Where every socket of the crawl is made: the guard's place."""
        if not self._guard.allows(target.address, target.port):
            raise AddressBlocked(f"{target.address} port {target.port} is not public")
        return socket.socket(socket.AF_INET6 if ":" in target.address else socket.AF_INET, socket.SOCK_STREAM)

    def _forget(self, protocol: WireProtocol) -> None:
        target, _ = self._idle.pop(protocol, (None, 0.0))
        if target is None:
            return
        left = self._by_target[target]
        left.remove(protocol)
        if not left:
            del self._by_target[target]

    def _drop(self, protocol: WireProtocol) -> None:
        self._forget(protocol)
        protocol.abort()

    def _sweep(self) -> None:
        """Close what has been idle too long; come again when the next one will have been."""
        self._sweeping = None
        loop = asyncio.get_running_loop()
        oldest_kept = loop.time() - KEEP_ALIVE_S
        for protocol, (_, since) in list(self._idle.items()):
            if since > oldest_kept:
                self._sweeping = loop.call_at(since + KEEP_ALIVE_S, self._sweep)
                return
            self._drop(protocol)
