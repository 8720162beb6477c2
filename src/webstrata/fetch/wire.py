"""What passes on one connection, kept as it was: aiohttp's protocol with a tee for the answer's head.

aiohttp parses and forgets; an archive wants the bytes. `WireProtocol` keeps the head, and sees to what a shared
connection must never do: hand bytes of one answer to the next request. All that leans on aiohttp's inner parts
(`ResponseHandler`, the connector's factory, the stream's buffer) is in this file.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any, cast

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import Connection
from aiohttp.http_exceptions import HttpProcessingError

from webstrata.fetch.failures import AddressBlocked, ConnectionLost, HeadTooLarge
from webstrata.fetch.guard import Guard
from webstrata.fetch.head import HeadKeeper
from webstrata.fetch.limits import Limits


class IdleConnections:
    """Kept-alive connections, the longest idle first; aiohttp's pool itself would keep any number."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._protocols: dict[WireProtocol, None] = {}

    def add(self, protocol: WireProtocol) -> None:
        self._protocols[protocol] = None
        if len(self._protocols) > self._most:
            oldest = next(iter(self._protocols))
            self.discard(oldest)
            oldest.close()

    def discard(self, protocol: WireProtocol) -> None:
        self._protocols.pop(protocol, None)

    def __len__(self) -> int:
        return len(self._protocols)


class WireProtocol(ResponseHandler):
    """One connection of the pool."""

    def __init__(self, loop: asyncio.AbstractEventLoop, guard: Guard, limits: Limits, idle: IdleConnections) -> None:
        super().__init__(loop=loop)
        self._guard = guard
        self._idle = idle
        self._in_use = False
        self._left: int | None = None
        """Bytes of the present body still to come, where its head announced them."""
        self.keeper = HeadKeeper(limits.header_bytes, limits.header_count)
        self.requests = 0
        self.broken = False
        """The connection ended with an error, not with an end."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        peer = transport.get_extra_info("peername")
        if peer is None or not self._guard.allows(peer[0], peer[1]):
            # not at once: a transport that ends while it begins leaves its socket open on uvloop
            self._loop.call_soon(self._give_up, AddressBlocked(f"connected to {peer}"))

    def connection_lost(self, exc: BaseException | None) -> None:
        self._idle.discard(self)
        self.broken = exc is not None
        super().connection_lost(exc)

    def set_exception(self, exc: BaseException, *cause: BaseException) -> None:
        if isinstance(exc, HttpProcessingError):
            if self.keeper.open and self.keeper.has_too_many_lines:
                exc = HeadTooLarge("too many header lines")
            if self._payload is not None and not self._payload.is_eof():
                self._payload.set_exception(exc)  # aiohttp would leave who reads the body waiting
        super().set_exception(exc, *cause)

    def set_response_params(self, **params: Any) -> None:
        """A request is about to be sent: its answer's head comes next."""
        self._idle.discard(self)
        self.requests += 1
        self._in_use = True
        self.keeper.start()
        super().set_response_params(**params)

    def answered(self) -> None:
        """The answer has ended; whatever comes now belongs to no request."""
        self._in_use = False
        if self.is_connected():
            self._idle.add(self)

    def data_received(self, data: bytes) -> None:
        if data:
            if not self._in_use:
                self.close()
                return
            try:
                data = self._of_this_answer(data)
            except HeadTooLarge as error:
                self._give_up(error)
                return
        super().data_received(data)
        if not self._in_use and self.should_close:
            self.close()  # there were bytes behind the answer's end

    def _of_this_answer(self, data: bytes) -> bytes:
        """Without bytes beyond the announced length: no parser may take them for another answer."""
        behind: int | None = len(data)
        if self.keeper.open:
            behind = self.keeper.feed(data)
            self._left = None if behind is None else self.keeper.body_length()
        if self._left is None or behind is None:
            return data
        extra = behind - self._left
        self._left = max(0, -extra)
        if extra <= 0:
            return data
        self.force_close()
        return data[:-extra]

    def _give_up(self, error: Exception) -> None:
        self.set_exception(error)
        if self.transport is not None:
            self.transport.abort()


class WireResponse(aiohttp.ClientResponse):
    """An answer that knows its head's bytes."""

    wire: WireProtocol
    wire_head: bytes = b""

    async def start(self, connection: Connection) -> aiohttp.ClientResponse:
        protocol = connection.protocol
        assert isinstance(protocol, WireProtocol)
        try:
            await super().start(connection)
        except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
            # Left as it is, aiohttp would send the request a second time, on fresh connections too.
            stale = protocol.requests > 1 and not protocol.keeper.received
            raise ConnectionLost(error, stale=stale) from error
        self.wire, self.wire_head = protocol, protocol.keeper.head
        self.content.on_eof(protocol.answered)
        return self

    def unread(self) -> bytes:
        """What has come of the body and was not read yet, though the connection broke."""
        content = self.content
        chunks = []
        while content._buffer:  # the public ways raise again what broke it
            chunks.append(content._read_nowait_chunk(-1))
        return b"".join(chunks)


def use_wire_protocol(connector: aiohttp.TCPConnector, guard: Guard, limits: Limits, idle: IdleConnections) -> None:
    """Make a connector build `WireProtocol`s; aiohttp has no public way to say so."""
    factory = partial(WireProtocol, asyncio.get_running_loop(), guard, limits, idle)
    connector._factory = cast("partial[ResponseHandler]", factory)
