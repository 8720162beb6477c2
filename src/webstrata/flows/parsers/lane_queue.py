"""`LaneQueue`: tasks that wait for a parser process, lane by lane, within a budget of bytes."""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque

from webstrata.flows.parsers.process_connection import QueuedTask


class LaneQueue:
    """Tasks by lane, taken from the lanes in turn, and the budget of their bytes."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._lanes: OrderedDict[str, deque[QueuedTask]] = OrderedDict()
        self._counted: dict[QueuedTask, int] = {}
        self.bytes = 0
        """Size of the tasks that are counted."""
        self._blocked: deque[tuple[QueuedTask, asyncio.Future[None]]] = deque()

    def __bool__(self) -> bool:
        return bool(self._lanes)

    async def admit(self, item: QueuedTask) -> None:
        """Wait until the budget has room for the task, and count it."""
        if self._blocked or not self._has_room(item):
            admitted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            entry = (item, admitted)
            self._blocked.append(entry)
            try:
                await admitted
            except asyncio.CancelledError:
                if entry in self._blocked:
                    self._blocked.remove(entry)
                self.release(item)
                raise
        else:
            self._count(item)

    def release(self, item: QueuedTask) -> None:
        """The task does not count any longer."""
        self.bytes -= self._counted.pop(item, 0)
        while self._blocked and self._has_room(self._blocked[0][0]):
            blocked, admitted = self._blocked.popleft()
            if not admitted.done():
                self._count(blocked)
                admitted.set_result(None)

    def add(self, item: QueuedTask, *, first: bool) -> None:
        self._count(item)
        lane = self._lanes.setdefault(item.lane, deque())
        if first:
            lane.appendleft(item)
            self._lanes.move_to_end(item.lane, last=False)
        else:
            lane.append(item)

    def pop(self) -> QueuedTask | None:
        """The next task of the next lane; tasks that nobody waits for are left out."""
        while self._lanes:
            name, lane = next(iter(self._lanes.items()))
            item = lane.popleft()
            if lane:
                self._lanes.move_to_end(name)
            else:
                del self._lanes[name]
            if not item.future.done():
                return item
        return None

    def drain(self) -> list[QueuedTask]:
        """All tasks."""
        items = [item for lane in self._lanes.values() for item in lane]
        self._lanes.clear()
        return items

    def _has_room(self, item: QueuedTask) -> bool:
        return not self.bytes or self.bytes + item.size <= self._max_bytes

    def _count(self, item: QueuedTask) -> None:
        if item not in self._counted:
            self._counted[item] = item.size
            self.bytes += item.size
