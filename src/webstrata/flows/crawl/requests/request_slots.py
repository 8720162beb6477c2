"""`RequestSlots`: the limit on open requests to all hosts together.

A request that is open for long does not count any more, up to a second, larger limit. So hosts that respond slowly, or
not at all, delay requests to other hosts by a few seconds at most. If so many of them are open that the second limit is
reached, a quarter of the slots is left for hosts whose last pages were quick, and a request that becomes slow in such a
slot is ended when another one needs it. So however many hosts are slow, those that were quick hardly wait for them.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from typing import Any

SLOW_S = 3.0
"""After this time (real time) an open request counts as slow."""
OPEN_PER_SLOT = 3
"""Requests that may be open in all, slow ones included, for each slot."""
_RESERVED = 4
"""One of so many slots is for hosts that were quick."""
_MAX_QUICK = 100_000
"""Quick hosts that are remembered."""


class RequestSlot:
    """The slot of one request. Free it exactly once."""

    def __init__(self, slots: RequestSlots, host: str) -> None:
        self._slots = slots
        self.host = host
        self.is_slow = False
        self.proves = True
        """Whether the host is quick if this request is; a quick robots.txt says nothing about pages."""
        self.task: asyncio.Task[Any] | None = None
        """Is cancelled when the request must end because others need its slot."""
        self.is_ended = False
        """The request was ended."""
        self.opened_at = 0.0
        """The event loop's time."""

    def free(self) -> None:
        self._slots.free(self)

    def end(self) -> None:
        if self.task is not None:
            self.is_ended = True
            self.task.cancel()


class RequestSlots:
    """Up to `count` open requests that are not slow, and `most` in all."""

    def __init__(self, count: int, most: int | None = None) -> None:
        self._most = OPEN_PER_SLOT * count if most is None else most
        self._count = min(count, self._most)
        self._reserved = self._count // _RESERVED
        self._open: dict[RequestSlot, None] = {}
        """The oldest first, so slow ones are before the others."""
        self._slow = 0
        self._timer: asyncio.TimerHandle | None = None
        """Set while a request may become slow."""
        self._quick: OrderedDict[str, None] = OrderedDict()
        """Hosts whose last page was quick."""
        self._reserved_open: dict[RequestSlot, None] = {}
        """Open requests in slots for quick hosts, the oldest first."""
        self._waiting: deque[tuple[int, RequestSlot, asyncio.Future[None]]] = deque()
        self._quick_waiting: deque[tuple[int, RequestSlot, asyncio.Future[None]]] = deque()
        self._number = 0

    async def take(self, host: str) -> RequestSlot:
        """Wait for a slot; requests are served in order, as far as their hosts may have one."""
        slot = RequestSlot(self, host)
        is_quick = host in self._quick
        queue = self._quick_waiting if is_quick else self._waiting
        if not queue and self._has_room(is_quick=is_quick):
            self._grant(slot)
            return slot
        granted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._number += 1
        queue.append((self._number, slot, granted))
        self._end_slow()
        try:
            await granted
        except asyncio.CancelledError:
            if granted.done() and not granted.cancelled():
                self.free(slot)
            raise
        return slot

    def free(self, slot: RequestSlot) -> None:
        del self._open[slot]
        self._reserved_open.pop(slot, None)
        if slot.is_slow:
            self._slow -= 1
        elif slot.proves:
            self._quick[slot.host] = None
            self._quick.move_to_end(slot.host)
            if len(self._quick) > _MAX_QUICK:
                self._quick.popitem(last=False)
        self._serve()

    def _has_room(self, *, is_quick: bool) -> bool:
        reserved = 0 if is_quick else self._reserved
        is_open = len(self._open)
        return is_open - self._slow < self._count - reserved and is_open < self._most - reserved

    def _grant(self, slot: RequestSlot) -> None:
        if not self._has_room(is_quick=False):
            self._reserved_open[slot] = None
        self._open[slot] = None
        loop = asyncio.get_running_loop()
        slot.opened_at = loop.time()
        if self._timer is None:  # one for all: most requests end long before
            self._timer = loop.call_later(SLOW_S, self._find_slow)

    def _find_slow(self) -> None:
        """Requests that are open for long become slow."""
        loop = asyncio.get_running_loop()
        self._timer = None
        for slot in self._open:
            if slot.is_slow:
                continue
            if slot.opened_at + SLOW_S > loop.time():
                self._timer = loop.call_at(slot.opened_at + SLOW_S, self._find_slow)
                break
            slot.is_slow = True
            self._slow += 1
            self._quick.pop(slot.host, None)
        self._serve()
        self._end_slow()

    def _end_slow(self) -> None:
        """If a quick host waits, end the first request that is slow in a slot for quick hosts."""
        if not self._quick_waiting:
            return
        slow = next((slot for slot in self._reserved_open if slot.is_slow), None)
        if slow is not None:
            del self._reserved_open[slow]
            slow.end()

    def _serve(self) -> None:
        """Give free slots to those that wait, in the order in which they came."""
        while True:
            queues = [
                queue
                for queue, is_quick in ((self._waiting, False), (self._quick_waiting, True))
                if queue and self._has_room(is_quick=is_quick)
            ]
            if not queues:
                return
            _, slot, granted = min(queues, key=lambda queue: queue[0][0]).popleft()
            if not granted.cancelled():
                self._grant(slot)
                granted.set_result(None)
