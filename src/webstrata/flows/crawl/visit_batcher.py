"""`VisitBatcher`: collects finished visits into batches of at most half a second, 256 visits or 64 MB.

    put ─► collected ─► parsed ─► committed

Up to three batches exist at a time, one in each state; they are committed in the order in which they were collected. A
batch is parsed in parts, the first ones while it is still being collected, so that the parser processes need not wait
for a whole batch. `put` waits while the batch is full. The half second is real time, whatever clock the schedule uses:
it limits how many visits a crash can cost.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Protocol

from webstrata.flows.crawl.discovery import Discovery
from webstrata.flows.crawl.parse import ParsedContent
from webstrata.flows.crawl.round_timer import RoundTimer
from webstrata.records import Exchange, Visit, VisitResult

MAX_WAIT_S = 0.5
MAX_VISITS = 256
MAX_BYTES = 64 * 2**20
PARSED_TOGETHER = 32
"""Visits that are sent to a parser process at once."""

ParsedContents = list[ParsedContent | None]


class CrawlProgress:
    """Receives the progress of a crawl; does nothing. Displays override the methods."""

    def round_started(self, pages: int, hosts: int) -> None: ...

    def visited(self, visits: Sequence[Visit]) -> None:
        """These visits are committed."""

    def host_ended(self) -> None:
        """All pages of one host are visited, or the round is over for it."""

    def round_ended(self, left: int) -> None: ...


class BatchPipeline(Protocol):
    """What becomes of the visits of a batch: `VisitPipeline`."""

    async def parse(self, batch: Sequence[VisitResult], discovery: Discovery) -> ParsedContents: ...

    async def commit(
        self, batch: Sequence[VisitResult], parsed: ParsedContents, robots: Sequence[Exchange], discovery: Discovery
    ) -> list[Visit]: ...


class VisitBatcher:
    """Call `start`, `put` visits, `flush` to wait until all of them are committed, and `stop`."""

    def __init__(
        self,
        pipeline: BatchPipeline,
        discovery: Discovery,
        progress: CrawlProgress,
        *,
        whole_batches: bool = False,
        timer: RoundTimer | None = None,
    ) -> None:
        """`whole_batches`: batches end only when they are flushed, or by their size in bytes."""
        self._pipeline = pipeline
        self._discovery = discovery
        self._progress = progress
        self._timer = timer
        self._max_wait_s = None if whole_batches else MAX_WAIT_S
        self._max_visits = None if whole_batches else MAX_VISITS
        self.visits = 0
        """Visits committed so far."""
        self.committed_pages: set[int] = set()
        """Their pages."""
        self._collected: list[VisitResult] = []
        self._unparsed: list[VisitResult] = []
        """The last ones of `_collected`, of which no parser process has been sent the content."""
        self._parsing: list[asyncio.Task[ParsedContents]] = []
        """The tasks that parse the other ones, in order."""
        self._robots: list[Exchange] = []
        self._bytes = 0
        self._nonempty = asyncio.Event()
        """Something is collected."""
        self._due = asyncio.Event()
        """The batch must not wait any longer: it is full, or being flushed."""
        self._has_room = asyncio.Event()
        self._has_room.set()
        self._idle = asyncio.Event()
        self._idle.set()
        self._flushing = False
        self._free_batches = asyncio.Semaphore(2)
        self._open_batches = 0
        """Batches that are being parsed or committed."""
        self._parsed_batches: asyncio.Queue[tuple[list[VisitResult], ParsedContents, list[Exchange]]] = asyncio.Queue()
        self._problem: BaseException | None = None
        self._workers: list[asyncio.Task[None]] = []
        self._parse_tasks: set[asyncio.Task[ParsedContents]] = set()

    def start(self) -> None:
        self._workers = [asyncio.create_task(self._parse_batches()), asyncio.create_task(self._commit_batches())]

    async def put(self, result: VisitResult) -> None:
        """Add a visit; waits while the batch is full. Raises the error of an earlier batch."""
        while self._is_full():  # all waiting tasks wake at the same time, so the batch may be full again
            await self._has_room.wait()
        self._raise_problem()
        self._collected.append(result)
        self._bytes += sum([len(exchange.body) for exchange in result.exchanges])
        if result.content is not None or result.extras:
            resources = (result.content, *result.extras)
            self._bytes += sum([len(resource.body) for resource in resources if resource is not None])
        self._unparsed.append(result)
        if len(self._unparsed) >= PARSED_TOGETHER:
            self._start_parsing()
        self._added()

    def add_robots(self, exchange: Exchange) -> None:
        """Archive the exchange of a robots.txt request, which belongs to no visit, with the current batch."""
        self._robots.append(exchange)
        self._added()

    async def flush(self) -> None:
        """Wait until everything put so far is committed; raises the error of a batch."""
        if not self._idle.is_set():
            self._flushing = True
            self._due.set()
            await self._idle.wait()
        self._raise_problem()

    async def stop(self) -> None:
        """Flush, then end the tasks."""
        try:
            await self.flush()
        finally:
            tasks = [*self._workers, *self._parse_tasks]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _added(self) -> None:
        self._idle.clear()
        self._nonempty.set()
        if self._is_full():
            self._has_room.clear()
            self._due.set()
            if self._timer is not None:
                self._timer.batch_is_full()

    def _is_full(self) -> bool:
        is_long = self._max_visits is not None and len(self._collected) >= self._max_visits
        return is_long or self._bytes >= MAX_BYTES

    async def _parse_batches(self) -> None:
        while True:
            await self._nonempty.wait()
            with suppress(TimeoutError):
                async with asyncio.timeout(self._max_wait_s):
                    await self._due.wait()
            await self._free_batches.acquire()
            batch, parsing, robots = self._take_batch()
            if parsing:
                await asyncio.wait(parsing)
            problems = [problem for task in parsing if (problem := task.exception()) is not None]
            if problems:
                self._batch_ended(problems[0])
            else:
                parsed = [content for task in parsing for content in task.result()]
                self._parsed_batches.put_nowait((batch, parsed, robots))

    async def _commit_batches(self) -> None:
        while True:
            batch, parsed, robots = await self._parsed_batches.get()
            try:
                visits = await self._pipeline.commit(batch, parsed, robots, self._discovery)
                self.visits += len(visits)
                self.committed_pages.update([visit.page_id for visit in visits])
                self._progress.visited(visits)
            except Exception as problem:
                self._batch_ended(problem)
            else:
                self._batch_ended()

    def _start_parsing(self) -> None:
        task = asyncio.create_task(self._pipeline.parse(self._unparsed, self._discovery))
        self._unparsed = []
        self._parsing.append(task)
        self._parse_tasks.add(task)
        task.add_done_callback(self._parse_tasks.discard)

    def _take_batch(self) -> tuple[list[VisitResult], list[asyncio.Task[ParsedContents]], list[Exchange]]:
        """Everything collected becomes a batch."""
        if self._unparsed:
            self._start_parsing()
        batch, parsing, robots = self._collected, self._parsing, self._robots
        self._collected, self._parsing, self._robots, self._bytes = [], [], [], 0
        self._open_batches += 1
        self._nonempty.clear()
        if not self._flushing:
            self._due.clear()
        self._has_room.set()
        if self._timer is not None:
            self._timer.batch_has_room()
        return batch, parsing, robots

    def _batch_ended(self, problem: BaseException | None = None) -> None:
        self._problem = problem or self._problem
        self._open_batches -= 1
        self._free_batches.release()
        if not self._open_batches and not self._nonempty.is_set():
            self._flushing = False
            self._due.clear()
            self._idle.set()

    def _raise_problem(self) -> None:
        if self._problem is not None:
            problem, self._problem = self._problem, None
            raise problem
