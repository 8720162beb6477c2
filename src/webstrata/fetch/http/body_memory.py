"""`BodyMemory`: a common bound on the memory of all bodies that are being received or not yet processed.

A small body needs nothing: each connection has a free share. A body that outgrows it reserves the length that its head
announces, or the limit of a body, from a common amount. If too little is left, its connection stops reading and waits
for its turn, first come, first served. A reservation covers the whole body, so a body that has one never waits again,
and the bodies that wait get theirs when others are dropped.
"""

from __future__ import annotations

import asyncio
import contextlib
import weakref
from collections import deque
from collections.abc import Callable

from webstrata.records import Exchange

_MIN_FREE_BYTES = 1_000_000
_FREE_PART = 4
"""The free shares of all connections together are this part of the bound."""

MIN_RATE = 64 * 1024
"""Bytes per second at which a body with a reservation must arrive while others wait for theirs."""
RATE_WINDOW_S = 10.0
"""The time over which that rate is averaged."""


class BodyReservation:
    """The memory of one large body. It is granted at once or later, and released once."""

    def __init__(self, memory: BodyMemory, size: int, on_granted: Callable[[], None]) -> None:
        self._memory = memory
        self._on_granted = on_granted
        self.size = size
        self.is_granted = False

    def grant(self) -> None:
        self.is_granted = True
        self._on_granted()

    def release(self) -> None:
        """Free the memory, or stop waiting for it."""
        self._memory.release(self)

    def keep_for(self, exchange: Exchange) -> None:
        """Hold as much as the body of the exchange needs, until the exchange is dropped."""
        self._memory.shrink(self, len(exchange.body))
        dropped = weakref.finalize(exchange, self._memory.release_from_any_thread, self)
        dropped.atexit = False


class BodyMemory:
    """The memory of the bodies of one `HttpWeb`. Create and use it in one event loop."""

    def __init__(self, max_bytes: int, body_bytes: int, connections: int) -> None:
        """`body_bytes` is the limit of one body.

        The bound is `max_bytes`, but at least 1 MB for each connection and one body of the largest size.
        """
        self.free_bytes = max(_MIN_FREE_BYTES, max_bytes // _FREE_PART // connections)
        """A body up to this size needs no reservation."""
        self._common_bytes = max(max_bytes - connections * self.free_bytes, body_bytes)
        self.reserved_bytes = 0
        """Of the common amount, by bodies that are being received or kept."""
        self._waiting: deque[BodyReservation] = deque()
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def is_short(self) -> bool:
        """Whether a body waits for memory."""
        return bool(self._waiting)

    def reserve(self, size: int, on_granted: Callable[[], None]) -> BodyReservation:
        """Reserve memory for a body of up to `size` bytes. `on_granted` may be called before this returns."""
        self._loop = asyncio.get_running_loop()
        reservation = BodyReservation(self, min(size, self._common_bytes), on_granted)
        self._waiting.append(reservation)
        self._grant()
        return reservation

    def shrink(self, reservation: BodyReservation, size: int) -> None:
        if reservation.is_granted and size < reservation.size:
            self.reserved_bytes -= reservation.size - size
            reservation.size = size
            self._grant()

    def release(self, reservation: BodyReservation) -> None:
        if reservation.is_granted:
            self.reserved_bytes -= reservation.size
            reservation.size = 0
        elif reservation in self._waiting:
            self._waiting.remove(reservation)
        self._grant()

    def release_from_any_thread(self, reservation: BodyReservation) -> None:
        """An exchange may be dropped by any thread, and after the end of the event loop."""
        assert self._loop is not None
        with contextlib.suppress(RuntimeError):  # the event loop is closed
            self._loop.call_soon_threadsafe(self.release, reservation)

    def _grant(self) -> None:
        while self._waiting and self.reserved_bytes + self._waiting[0].size <= self._common_bytes:
            reservation = self._waiting.popleft()
            self.reserved_bytes += reservation.size
            reservation.grant()
