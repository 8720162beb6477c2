"""One lane per host: its pages one after the other, so that a slow host holds up nobody but itself."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator

from webstrata.permit.gate import PermitGate
from webstrata.records import Page, VisitResult, Wait


class HostQueues:
    """The pages of a round, by host."""

    def __init__(
        self,
        pages: Iterable[Page],
        *,
        visit: Callable[[Page], Awaitable[VisitResult | Wait]],
        deliver: Callable[[VisitResult], Awaitable[None]],
        stopping: Callable[[], bool],
        lane_ended: Callable[[], None],
    ) -> None:
        self._queues: dict[str, deque[Page]] = {}
        for page in pages:
            self._queues.setdefault(page.host, deque()).append(page)
        self._visit = visit
        self._deliver = deliver
        self._stopping = stopping
        self._lane_ended = lane_ended
        self._asked_to_wait: dict[str, float] = {}

    @property
    def hosts(self) -> int:
        return len(self._queues)

    async def run(self, lanes_per_host: int) -> None:
        """Visit until every queue is empty or the round is over."""
        try:
            async with asyncio.TaskGroup() as group:
                for host, queue in self._queues.items():
                    for _ in range(min(lanes_per_host, len(queue))):
                        group.create_task(self._lane(host, queue))
        except ExceptionGroup as problems:
            raise problems.exceptions[0] from None  # the first one ended the others: it is the round's problem

    def left(self, gate: PermitGate, now: float) -> Iterator[tuple[int, float | None]]:
        """Pages not visited, each with the time at which its host will have come round to it."""
        for host, queue in self._queues.items():
            free_at = max(self._asked_to_wait.get(host, 0.0), gate.earliest(host, now))
            for place, page in enumerate(queue):
                yield page.id, free_at + place * gate.gap_s(page.url)

    async def _lane(self, host: str, queue: deque[Page]) -> None:
        try:
            await self._walk(host, queue)
        finally:
            self._lane_ended()

    async def _walk(self, host: str, queue: deque[Page]) -> None:
        while queue and host not in self._asked_to_wait and not self._stopping():
            page = queue.popleft()
            try:
                visited = await self._visit(page)
            except asyncio.CancelledError:
                queue.appendleft(page)
                raise
            if isinstance(visited, Wait):
                queue.appendleft(page)
                self._asked_to_wait[host] = visited.until
                return
            await self._deliver(visited)
