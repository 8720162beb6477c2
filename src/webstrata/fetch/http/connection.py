"""`HttpConnection`: one connection of the pool; it sends a request and collects the response to it.

Bytes that arrive while no request is outstanding close the connection, so that they can never become part of the
response to a later request.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import perf_counter
from typing import cast

from webstrata.fetch.http.body_memory import MIN_RATE, RATE_WINDOW_S, BodyMemory, BodyReservation
from webstrata.fetch.http.body_spool import BodySpool, BodyWriter, SpooledBody, SpoolError
from webstrata.fetch.http.failures import (
    AddressBlocked,
    ConnectionLost,
    FetchError,
    LocalFault,
    NotSent,
    ResponseTimeout,
    TotalTimeout,
    is_local,
)
from webstrata.fetch.http.guard import AddressGuard
from webstrata.fetch.http.receive_time import ReceiveTime, ReceiveUse
from webstrata.fetch.http.request import FetchLimits
from webstrata.fetch.http.response import Response, ResponseParser
from webstrata.records import Failure, FailureKind


class HttpConnection(asyncio.Protocol):
    """A connection that carries one request at a time."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        guard: AddressGuard,
        limits: FetchLimits,
        memory: BodyMemory,
        time: ReceiveTime,
        on_lost: Callable[[HttpConnection], None],
        spool: BodySpool | None = None,
    ) -> None:
        """`on_lost` is called when the connection ends. Without a `spool` all bodies are held in memory."""
        self._loop = loop
        self._guard = guard
        self._limits = limits
        self._memory = memory
        self._time = time
        self._on_lost = on_lost
        self._spool = spool
        self._transport: asyncio.Transport | None = None
        self._blocked: AddressBlocked | None = None
        self._requests = 0
        self._parser: ResponseParser | None = None
        """Of the outstanding request."""
        self._done: asyncio.Future[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._received_at = 0.0
        """When bytes last arrived, or the request was sent (the event loop's time)."""
        self._starts_at = self._ends_at = 0.0
        self._is_paused = False
        """Nothing is read: the body waits for memory."""
        self._writer: BodyWriter | None = None
        """Of a body that goes to a file."""
        self._is_writing = False
        """Nothing is read: too much of the body waits for the disk."""
        self._timed_bytes = 0
        """Bytes of a body that goes to a file when its time limit last began."""
        self._use = ReceiveUse()
        self._pause_timer: asyncio.TimerHandle | None = None
        """Set while nothing is read because the connection has used its share of the event loop's time."""
        self._rate_timer: asyncio.TimerHandle | None = None
        self.reusable = False
        """The last response is complete and another request may be sent."""
        self.reservation: BodyReservation | None = None
        """The memory of the last response's body, if it is large. The caller releases it or keeps it for the body."""
        self.large: SpooledBody | None = None
        """The last response's body, if it went to a file. The caller takes it."""

    @property
    def is_connected(self) -> bool:
        return self._transport is not None and not self._transport.is_closing()

    @property
    def was_used(self) -> bool:
        """Whether a request was sent on this connection before."""
        return self._requests > 0

    def problem(self) -> FetchError | None:
        """Why no request can be sent, or None."""
        if self._blocked is not None:
            return self._blocked
        return None if self.is_connected else NotSent("closed before the request was sent")

    async def exchange(self, request: bytes, ends_at: float, *, large_body: bool = False) -> Response:
        """Send a request and collect the response until `ends_at` (the event loop's time).

        There must be no `problem`. A response whose head is complete is returned, however its body ended. Before that,
        ConnectionLost, a timeout, or the reason why the response is refused is raised. The caller aborts a connection
        that is not `reusable`. `large_body`: a body that is too large for memory goes to a file.
        """
        assert self._transport is not None
        open_sink = self._open_writer if large_body and self._spool is not None else None
        parser = self._parser = ResponseParser(self._limits, open_sink)
        self._requests += 1
        self.reusable = False
        self._ends_at = ends_at
        self._starts_at = self._received_at = self._loop.time()
        self._done = self._loop.create_future()
        self._timer = self._loop.call_at(self._expires_at(), self._check_time)
        self._transport.write(request)
        is_complete = False
        response = None
        try:
            await self._done
            response = parser.response
            is_complete = response is not None
            if response is not None and self._writer is not None:
                response = await self._stored(response, self._writer)
        finally:
            if self._writer is not None:
                self._writer.discard()
                self._writer = None
                self._is_writing = False
            self._timer.cancel()
            self._parser = self._done = self._timer = None
            parser.release()
            if self._pause_timer is not None:
                self._pause_timer.cancel()
                self._pause_ended()
            if self.reservation is not None:
                self._end_reservation(is_kept=is_complete)
        if parser.error is not None:
            raise parser.error
        assert response is not None
        self.reusable = parser.reusable
        return response

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
        began_s = perf_counter()
        self._received_at = self._loop.time()
        parser.feed(data)
        if not parser.done:
            self._limit_time(perf_counter() - began_s)
        if self._writer is not None:
            self._receive_large(parser)
        elif parser.body_bytes > self._memory.free_bytes and self.reservation is None and not parser.done:
            self._reserve(parser)
        self._wake(parser)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._on_lost(self)
        parser = self._parser
        if parser is None or parser.done:
            return
        reason = str(exc) if exc is not None else "closed before the response"
        stale = self._requests > 1 and not parser.received
        parser.end(exc, LocalFault(reason) if is_local(exc) else ConnectionLost(reason, stale=stale))
        self._wake(parser)

    # ── time of the event loop ──────────────────────────────────────────────────────────────────────────────

    def _limit_time(self, spent_s: float) -> None:
        """Stop reading for a while if parsing took more than this connection's share of the event loop's time."""
        pause_s = self._time.pause_s(self._use, spent_s, self._received_at)
        if pause_s and self._pause_timer is None and self._transport is not None:
            self._transport.pause_reading()
            self._pause_timer = self._loop.call_later(pause_s, self._pause_ended)

    def _pause_ended(self) -> None:
        self._pause_timer = None
        self._resume()

    def _resume(self) -> None:
        """Read again, unless there is another reason not to."""
        if self._transport is not None and not (self._is_paused or self._is_writing) and self._pause_timer is None:
            self._transport.resume_reading()

    # ── memory of large bodies ──────────────────────────────────────────────────────────────────────────────

    def _reserve(self, parser: ResponseParser) -> None:
        """Reserve memory for the whole body; stop reading until it is granted."""
        assert self._transport is not None
        self.reservation = self._memory.reserve(parser.max_body_bytes, self._granted)
        if not self.reservation.is_granted:
            self._is_paused = True
            if self._pause_timer is None:
                self._transport.pause_reading()

    def _granted(self) -> None:
        parser = self._parser
        if parser is None or parser.done:
            return
        self._rate_timer = self._loop.call_later(RATE_WINDOW_S, self._check_rate, parser.body_bytes)
        if self._is_paused:
            self._is_paused = False
            self._received_at = self._loop.time()
            self._resume()

    def _check_rate(self, previous_bytes: int) -> None:
        """End a body that arrives too slowly while others wait for the memory that is reserved for it."""
        parser = self._parser
        if parser is None or parser.done:
            return
        if self._memory.is_short and parser.body_bytes - previous_bytes < MIN_RATE * RATE_WINDOW_S:
            parser.expire(TotalTimeout("too slow for a large body"))
            self._wake(parser)
            return
        self._rate_timer = self._loop.call_later(RATE_WINDOW_S, self._check_rate, parser.body_bytes)

    def _end_reservation(self, *, is_kept: bool) -> None:
        """The exchange ends: the memory is kept only if there is a body that has it."""
        assert self.reservation is not None
        self._is_paused = False
        if self._rate_timer is not None:
            self._rate_timer.cancel()
            self._rate_timer = None
        if not is_kept or not self.reservation.is_granted:
            self.reservation.release()
            self.reservation = None

    # ── bodies that go to a file ────────────────────────────────────────────────────────────────────────────

    def _open_writer(self, expected_bytes: int) -> BodyWriter:
        assert self._spool is not None
        # What waits for the disk has no reservation: it must fit into the free share of the connection.
        self._writer = self._spool.open(expected_bytes, self._memory.free_bytes, self._written)
        self._timed_bytes = 0
        return self._writer

    def _receive_large(self, parser: ResponseParser) -> None:
        """After a part of the body has arrived: begin the time limit anew, and stop reading if the disk is slow."""
        assert self._writer is not None
        if parser.body_bytes - self._timed_bytes >= self._limits.memory_bytes:
            self._timed_bytes = parser.body_bytes
            self._ends_at = max(self._ends_at, self._received_at + self._limits.total_s)
        if self._writer.is_full and not self._is_writing and not parser.done and self._transport is not None:
            self._is_writing = True
            if self._pause_timer is None:
                self._transport.pause_reading()

    def _written(self) -> None:
        """The file has all that was received so far, or cannot be written."""
        parser, writer = self._parser, self._writer
        if parser is None or parser.done or writer is None:
            return
        if writer.problem:
            parser.refuse(_not_stored(writer.problem))
            self._wake(parser)
            return
        if self.reservation is not None:
            self._end_reservation(is_kept=False)
        if self._is_writing:
            self._is_writing = False
            self._received_at = self._loop.time()
            self._resume()

    async def _stored(self, response: Response, writer: BodyWriter) -> Response:
        """The response when its file is complete. A response that failed has no body."""
        if response.failure is not None:
            return response._replace(truncated=response.truncated or "disconnect")
        try:
            self.large = await writer.finish()
        except SpoolError as problem:
            return response._replace(truncated="length", failure=_not_stored(str(problem)))
        return response

    # ── waiting ─────────────────────────────────────────────────────────────────────────────────────────────

    def _expires_at(self) -> float:
        if self._is_paused or self._is_writing:  # the server is not waited for
            return self._ends_at
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
            parser.expire(TotalTimeout(f"no complete response in {self._ends_at - self._starts_at:.3g} s"))
        else:
            parser.expire(ResponseTimeout(f"no data for {self._limits.first_byte_s:g} s"))
        self._wake(parser)

    def _wake(self, parser: ResponseParser) -> None:
        if not parser.done:
            return
        if not parser.reusable:
            self.abort()  # at once: the server may go on sending
        if self._done is not None and not self._done.done():
            self._done.set_result(None)


def _not_stored(problem: str) -> Failure:
    """The fault is not the server's, but the page has to wait as after any failure: it may never fit on this disk."""
    return Failure(kind=FailureKind.HANDLER, detail=problem)
