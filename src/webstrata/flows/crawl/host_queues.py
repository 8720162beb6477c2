"""`HostQueues`: the pages of a round in one queue per host, so that a slow host delays only its own pages."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Iterable, Iterator

from webstrata.flows.crawl.polite_client import ChooseHandler, PoliteClient, PoliteVisit
from webstrata.flows.crawl.visit_batcher import CrawlProgress, VisitBatcher
from webstrata.permit.gate import PermitGate
from webstrata.ports import Clock
from webstrata.records import Failure, FailureKind, Page, VisitResult, Wait
from webstrata.schedule.visit_times import allowed_at, open_until

log = logging.getLogger("webstrata.crawl")


class HostQueues:
    """Visits the pages of a round and puts the results into the batcher."""

    def __init__(
        self,
        pages: Iterable[Page],
        *,
        client: PoliteClient,
        choose: ChooseHandler,
        batcher: VisitBatcher,
        clock: Clock,
        progress: CrawlProgress,
        stop: asyncio.Event,
        ends_at: float,
        patience_s: float,
    ) -> None:
        """No visit starts after `stop` is set or after `ends_at`; `patience_s` is the longest wait for one permit."""
        self._queues: dict[str, deque[Page]] = {}
        for page in pages:
            self._queues.setdefault(page.host, deque()).append(page)
        self._client = client
        self._choose = choose
        self._batcher = batcher
        self._clock = clock
        self._progress = progress
        self._stop = stop
        self._ends_at = ends_at
        self._patience_s = patience_s
        self._waiting_until: dict[str, float] = {}
        """Hosts that cannot be visited in this round, and when they can be."""
        self._closed: dict[int, float] = {}
        """Pages whose visit windows are closed, and when they open."""

    @property
    def hosts(self) -> int:
        return len(self._queues)

    async def run(self, tasks_per_host: int) -> None:
        """Visit until every queue is empty or the round is over."""
        try:
            async with asyncio.TaskGroup() as group:
                for host, queue in self._queues.items():
                    for _ in range(min(tasks_per_host, len(queue))):
                        group.create_task(self._visit_host(host, queue))
        except ExceptionGroup as problems:
            raise problems.exceptions[0] from None  # the first exception cancelled the other tasks

    def left(self, gate: PermitGate, now: float) -> Iterator[tuple[int, float | None]]:
        """The ids of the pages that were not visited, each with the time at which its host can serve it."""
        yield from self._closed.items()
        for host, queue in self._queues.items():
            free_at = max(self._waiting_until.get(host, 0.0), gate.free_at(host, now))
            for index, page in enumerate(queue):
                yield page.id, free_at + index * gate.gap_s(page.url)

    async def _visit_host(self, host: str, queue: deque[Page]) -> None:
        """Visit the pages of one host, one after the other."""
        try:
            while queue and host not in self._waiting_until and not self._is_over():
                page = queue.popleft()
                if (opens_at := allowed_at(page, self._clock.now())) > self._clock.now():
                    self._closed[page.id] = opens_at
                    continue
                closes_at = open_until(page, self._clock.now())
                patience_until = min(self._ends_at, self._clock.now() + self._patience_s, closes_at - 1.0)
                try:
                    result = await self._choose(page).visit(
                        page, PoliteVisit(self._client, patience_until=patience_until)
                    )
                except asyncio.CancelledError:
                    queue.appendleft(page)
                    raise
                except Exception as problem:  # the error of one page must not end the round
                    log.exception("the visit of %s failed with an internal error", page.url)
                    failure = Failure(kind=FailureKind.INTERNAL, detail=f"{type(problem).__name__}: {problem}")
                    result = VisitResult(page=page, at=self._clock.now(), failure=failure)
                if isinstance(result, Wait) and result.until >= closes_at:
                    self._closed[page.id] = allowed_at(page, result.until)
                    continue
                if isinstance(result, Wait):
                    queue.appendleft(page)
                    self._waiting_until[host] = result.until
                    return
                await self._batcher.put(result)
        finally:
            self._progress.host_ended()

    def _is_over(self) -> bool:
        return self._stop.is_set() or self._clock.now() >= self._ends_at
