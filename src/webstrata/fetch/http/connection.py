"""`HttpConnection`: one connection of the pool; it sends a request and collects the response to it.

Bytes that arrive while no request is outstanding close the connection, so that they can never become part of the
response to a later request.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import cast

from webstrata.fetch.http.failures import AddressBlocked, ConnectionLost, ResponseTimeout, TotalTimeout
from webstrata.fetch.http.guard import AddressGuard
from webstrata.fetch.http.request import FetchLimits
from webstrata.fetch.http.response import Response, ResponseParser


class HttpConnection(asyncio.Protocol):
    """A connection that carries one request at a time."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        guard: AddressGuard,
        limits: FetchLimits,
        on_lost: Callable[[HttpConnection], None],
    ) -> None:
        """`on_lost` is called when the connection ends."""
        self._loop = loop
        self._guard = guard
        self._limits = limits
        self._on_lost = on_lost
        self._transport: asyncio.Transport | None = None
        self._blocked: AddressBlocked | None = None
        self._requests = 0
        self._parser: ResponseParser | None = None
        """Of the outstanding request."""
        self._done: asyncio.Future[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._received_at = 0.0
        """When bytes last arrived, or the request was sent (the event loop's time)."""
        self._ends_at = 0.0
        self.reusable = False
        """The last response is complete and another request may be sent."""

    @property
    def is_connected(self) -> bool:
        return self._transport is not None and not self._transport.is_closing()

    async def exchange(self, request: bytes, ends_at: float) -> Response:
        """Send a request and collect the response until `ends_at` (the event loop's time).

        A response whose head is complete is returned, however its body ended. Before that, ConnectionLost, a timeout,
        or the reason why the response is refused is raised. The caller aborts a connection that is not `reusable`.
        """
        if self._blocked is not None:
            raise self._blocked
        if self._transport is None or self._transport.is_closing():
            raise ConnectionLost("closed before the request was sent", stale=self._requests > 0)
        parser = self._parser = ResponseParser(self._limits)
        self._requests += 1
        self.reusable = False
        self._ends_at = ends_at
        self._received_at = self._loop.time()
        self._done = self._loop.create_future()
        self._timer = self._loop.call_at(self._expires_at(), self._check_time)
        self._transport.write(request)
        try:
            await self._done
        finally:
            self._timer.cancel()
            self._parser = self._done = self._timer = None
            parser.release()
        if parser.error is not None:
            raise parser.error
        assert parser.response is not None
        self.reusable = parser.reusable
        return parser.response

    def abort(self) -> None:
        """Cut the connection. Nothing is outstanding that an orderly end would preserve."""
        if self._transport is not None:
            self._transport.abort()

    # ── callbacks of the event loop ─────────────────────────────────────────────────────────────────────────

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        peer = transport.get_extra_info("peername")
        if peer is None or not self._guard.allows(peer[0], peer[1]):
            self._blocked = AddressBlocked(f"connected to {peer}")
            # Not immediately: uvloop leaves the socket open if a transport is aborted in this callback.
            self._loop.call_soon(self.abort)

    def data_received(self, data: bytes) -> None:
        parser = self._parser
        if parser is None or parser.done:
            self.reusable = False
            self.abort()
            return
        self._received_at = self._loop.time()
        parser.feed(data)
        self._wake(parser)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._on_lost(self)
        parser = self._parser
        if parser is None or parser.done:
            return
        reason = str(exc) if exc is not None else "closed before the response"
        parser.end(exc, ConnectionLost(reason, stale=self._requests > 1 and not parser.received))
        self._wake(parser)

    # ── waiting ─────────────────────────────────────────────────────────────────────────────────────────────

    def _expires_at(self) -> float:
        return min(self._received_at + self._limits.first_byte_s, self._ends_at)

    def _check_time(self) -> None:
        """End the exchange if its time is over; otherwise check again when it can be."""
        parser = self._parser
        if parser is None or parser.done:
            return
        expires_at = self._expires_at()
        if self._loop.time() < expires_at:
            self._timer = self._loop.call_at(expires_at, self._check_time)
            return
        if expires_at >= self._ends_at:
            parser.expire(TotalTimeout(f"no complete response in {self._limits.total_s:g} s"))
        else:
            parser.expire(ResponseTimeout(f"no data for {self._limits.first_byte_s:g} s"))
        self._wake(parser)

    def _wake(self, parser: ResponseParser) -> None:
        if parser.done and self._done is not None and not self._done.done():
            self._done.set_result(None)
