"""What passes on one connection, kept as it was: aiohttp's protocol with a tee for the answer's head.

aiohttp parses and forgets; an archive wants the bytes. `WireProtocol` keeps the head, and sees to what a shared
connection must never do: hand bytes of one answer to the next request. All that leans on aiohttp's inner parts
(`ResponseHandler`, the stream's buffer) is in this file. Requests, sessions and the pool are our own: aiohttp's do
much that a crawler has no use for, at several times the cost of the parser (docs/decisions/0004-http-client.md).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.http_parser import RawResponseMessage
from aiohttp.streams import StreamReader

from webstrata.fetch.http.failures import AddressBlocked, ConnectionLost, HeadTooLarge
from webstrata.fetch.http.guard import AddressGuard
from webstrata.fetch.http.head import HeadKeeper
from webstrata.fetch.http.request import FetchLimits

_SWITCHING_PROTOCOLS = 101


class WireProtocol(ResponseHandler):
    """One connection of the pool."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        guard: AddressGuard,
        limits: FetchLimits,
        gone: Callable[[WireProtocol], None],
    ) -> None:
        """`gone` hears when the connection ends."""
        super().__init__(loop=loop)
        self._guard = guard
        self._limits = limits
        self._gone = gone
        self._in_use = False
        self._left: int | None = None
        """Bytes of the present body still to come, where its head announced them."""
        self._requests = 0
        self.keeper = HeadKeeper(limits.header_bytes, limits.header_count)
        self.broken = False
        """The connection ended with an error, not with an end."""

    # ── asking ──────────────────────────────────────────────────────────────────────────────────────────────

    async def ask(self, request: bytes) -> tuple[RawResponseMessage, StreamReader]:
        """Send a request and read the head of its answer; the body is read from the stream.

        ConnectionLost where the connection ended first; other errors are aiohttp's.
        """
        if self._exception is not None:
            raise self._exception
        if self.transport is None or self.transport.is_closing():
            raise ConnectionLost(ConnectionResetError("closed before anything was sent"), stale=self._requests > 0)
        self._expect_answer()
        self.transport.write(request)
        self.start_timeout()
        try:
            message, body = await self.read()
            while message.code < 200 and message.code != _SWITCHING_PROTOCOLS:
                message, body = await self.read()
        except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
            stale = self._requests > 1 and not self.keeper.received
            raise ConnectionLost(error, stale=stale) from error
        body.on_eof(self._answered)
        return message, body

    def _expect_answer(self) -> None:
        """A request is about to be sent: its answer's head comes next."""
        limits = self._limits
        self._requests += 1
        self._in_use = True
        self.keeper.start()
        self.set_response_params(
            read_until_eof=True,
            auto_decompress=False,
            read_timeout=limits.first_byte_s,
            # the keeper bounds the head as a whole; these must not be the narrower door
            max_line_size=limits.header_bytes,
            max_field_size=limits.header_bytes,
            max_headers=limits.header_count,
        )

    def _answered(self) -> None:
        """The answer has ended; whatever comes now belongs to no request."""
        self._in_use = False

    # ── what the loop calls ─────────────────────────────────────────────────────────────────────────────────

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        peer = transport.get_extra_info("peername")
        if peer is None or not self._guard.allows(peer[0], peer[1]):
            blocked = AddressBlocked(f"connected to {peer}")
            self.set_exception(blocked)
            # not at once: a transport that ends while it begins leaves its socket open on uvloop
            self._loop.call_soon(self._give_up, blocked)

    def connection_lost(self, exc: BaseException | None) -> None:
        self._gone(self)
        self.broken = exc is not None
        super().connection_lost(exc)

    def set_exception(self, exc: BaseException, *cause: BaseException) -> None:
        if isinstance(exc, HttpProcessingError):
            if self.keeper.open and self.keeper.has_too_many_lines:
                exc = HeadTooLarge("too many header lines")
            if self._payload is not None and not self._payload.is_eof():
                self._payload.set_exception(exc)  # aiohttp would leave who reads the body waiting
        super().set_exception(exc, *cause)

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


def unread(body: StreamReader) -> bytes:
    """What has come of a body and was not read yet, though the connection broke."""
    inner: Any = body
    chunks = []
    while inner._buffer:  # the public ways raise again what broke it
        chunks.append(inner._read_nowait_chunk(-1))
    return b"".join(chunks)
