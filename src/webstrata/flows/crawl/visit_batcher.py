"""`VisitBatcher`: parses each finished visit on its own, and commits parsed visits in batches.

    put ─► parsed ─► committed

A batch is committed at the latest half a second after its first visit was parsed, and holds at most 256 visits or
64 MB. The half second is real time, whatever clock the schedule uses: it limits how many visits a crash can cost.

No visit waits for the parsing of another one. `put` waits while too much is uncommitted; a visit that is parsed for
longer than three seconds does not count any more, so that a content that is hard to parse delays only its own host.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from typing import Protocol

from msgspec.structs import replace

from webstrata.flows.crawl.clock_steps import moved
from webstrata.flows.crawl.discovery import Discovery
from webstrata.flows.crawl.parse import ParsedContent
from webstrata.flows.crawl.round_timer import RoundTimer
from webstrata.records import Exchange, Visit, VisitResult

MAX_WAIT_S = 0.5
MAX_VISITS = 256
MAX_BYTES = 64 * 2**20
MAX_UNCOMMITTED = 3 * MAX_VISITS
MAX_UNCOMMITTED_BYTES = 2 * MAX_BYTES
MAX_UNPARSED_OF_HOST = 32
"""Visits of one host that are being parsed; its next one waits."""
SLOW_PARSE_S = 3.0
"""After this time a visit that is still being parsed does not count as uncommitted."""


class CrawlProgress:
    """Receives the progress of a crawl; does nothing. Displays override the methods."""

    def claimed(self, pages: int, hosts: int) -> None:
        """Pages were leased; this number of hosts has pages to visit now."""

    def visited(self, visits: Sequence[Visit]) -> None:
        """These visits are committed."""

    def host_ended(self) -> None:
        """All pages of one host are visited or given back."""

    def released(self, pages: int) -> None:
        """Leased pages were given back without a visit."""

    def batch_failed(self) -> None:
        """A batch could not be committed."""


class BatchPipeline(Protocol):
    """What becomes of the visits of a batch: `VisitPipeline`."""

    async def parse_visit(self, result: VisitResult, discovery: Discovery) -> ParsedContent | None: ...

    async def commit(
        self,
        batch: Sequence[VisitResult],
        parsed: Sequence[ParsedContent | None],
        robots: Sequence[Exchange],
        discovery: Discovery,
    ) -> list[Visit]: ...


class _Uncommitted:
    """A visit on its way to the store."""

    __slots__ = ("counts", "number", "parsed", "put_at", "result", "size")

    def __init__(self, number: int, result: VisitResult) -> None:
        self.number = number
        self.result = result
        self.parsed: ParsedContent | None = None
        self.size = _size(result)
        self.counts = True
        """It counts as uncommitted."""
        self.put_at = asyncio.get_running_loop().time()


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
        """`whole_batches`: all visits up to a flush are one batch, in the order in which they were put."""
        self._pipeline = pipeline
        self.discovery = discovery
        """It may be replaced at any time."""
        self._progress = progress
        self.timer = timer
        self._whole_batches = whole_batches
        self.visits = 0
        """Visits committed so far."""
        self._number = 0
        self._parsing: dict[asyncio.Task[None], _Uncommitted] = {}
        self._unparsed_of_host: Counter[str] = Counter()
        self._slow_timer: asyncio.TimerHandle | None = None
        """Set while visits are parsed."""
        self._parsed: list[_Uncommitted] = []
        self._parsed_bytes = 0
        self._robots: list[Exchange] = []
        self._counted = 0
        self._counted_bytes = 0
        self._is_committing = False
        self._batch: list[VisitResult] = []
        """The visits that are committed next, or now."""
        self._flushing = False
        self._is_hurried = False
        """What is parsed is committed at once, since no more visits are to be expected."""
        self._changed = asyncio.Event()
        """There may be room for a waiting visit, everything may be committed, or a batch failed."""
        self._wake = asyncio.Event()
        """Something is parsed, or a flush began."""
        self._due = asyncio.Event()
        """The parsed visits must not wait any longer."""
        self._problem: BaseException | None = None
        self._worker: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._worker = asyncio.create_task(self._commit_batches())

    @property
    def is_idle(self) -> bool:
        """Nothing is uncommitted."""
        return not (self._parsing or self._parsed or self._robots or self._is_committing)

    async def put(self, result: VisitResult) -> None:
        """Add a visit; waits while too much is uncommitted. Raises the error of an earlier batch."""
        host = result.page.host
        while not self._has_room(host) and self._problem is None:
            await self._next_change()
        self.raise_problem()
        visit = _Uncommitted(self._number, result)
        self._is_hurried = False
        self._number += 1
        self._counted += 1
        self._counted_bytes += visit.size
        self._unparsed_of_host[host] += 1
        task = asyncio.create_task(self._parse(visit))
        self._parsing[task] = visit
        if self._slow_timer is None:
            self._slow_timer = asyncio.get_running_loop().call_later(SLOW_PARSE_S, self._uncount_slow)
        task.add_done_callback(self._parse_ended)
        if self.timer is not None and not self._has_room(""):
            self.timer.batch_is_full()

    def add_robots(self, exchange: Exchange) -> None:
        """Archive the exchange of a robots.txt request, which belongs to no visit, with the next batch."""
        self._robots.append(exchange)
        self._wake.set()

    def hurry(self) -> None:
        """Until the next `put`, commit visits as soon as they are parsed. Does not wait for those that are not."""
        self._is_hurried = True
        if self._parsed or self._robots:
            self._due.set()

    def shift(self, seconds: float) -> None:
        """The clock was set by so much. A batch may wait for its commit, but none is being committed
        (`ClockSteps.lock`)."""
        for visit in (*self._parsing.values(), *self._parsed):
            visit.result = _moved(visit.result, seconds)
        self._batch[:] = [_moved(result, seconds) for result in self._batch]

    async def flush(self) -> None:
        """Wait until everything put so far is committed; raises the error of a batch."""
        if not self.is_idle:
            self._flushing = True
            self._due.set()
            self._wake.set()
        while not self.is_idle:
            await self._next_change()
        self._flushing = False
        self.raise_problem()

    async def stop(self, grace_s: float | None = None) -> None:
        """Flush, then end the tasks. Visits that are not parsed after `grace_s` (real time) are dropped."""
        try:
            if self._parsing and grace_s is not None:
                await asyncio.wait(self._parsing, timeout=grace_s)
                await self._cancel(list(self._parsing))
            await self.flush()
        finally:
            if self._slow_timer is not None:
                self._slow_timer.cancel()
            await self._cancel([*self._parsing, *([self._worker] if self._worker is not None else [])])

    async def _cancel(self, tasks: Sequence[asyncio.Task[None]]) -> None:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _next_change(self) -> None:
        self._changed.clear()
        await self._changed.wait()

    def _has_room(self, host: str) -> bool:
        is_full = self._counted >= MAX_UNCOMMITTED or self._counted_bytes >= MAX_UNCOMMITTED_BYTES
        if self._whole_batches:
            is_full = self._counted_bytes >= MAX_UNCOMMITTED_BYTES
        return not is_full and self._unparsed_of_host[host] < MAX_UNPARSED_OF_HOST

    # ── parse ───────────────────────────────────────────────────────────────────────────────────────────────────

    async def _parse(self, visit: _Uncommitted) -> None:
        visit.parsed = await self._pipeline.parse_visit(visit.result, self.discovery)

    def _parse_ended(self, task: asyncio.Task[None]) -> None:
        visit = self._parsing.pop(task)
        host = visit.result.page.host
        if self._unparsed_of_host[host] >= MAX_UNPARSED_OF_HOST:
            self._changed.set()
        self._unparsed_of_host[host] -= 1
        if not self._unparsed_of_host[host]:
            del self._unparsed_of_host[host]
        if task.cancelled():
            self._uncount(visit)
        elif (problem := task.exception()) is not None:
            self._fail(problem)
            self._uncount(visit)
        else:
            self._parsed.append(visit)
            self._parsed_bytes += visit.size
        if self._is_full():
            self._due.set()
        self._wake.set()

    def _uncount_slow(self) -> None:
        """Visits that are parsed for long do not count any more."""
        loop = asyncio.get_running_loop()
        self._slow_timer = None
        for visit in self._parsing.values():  # the oldest first
            if visit.put_at + SLOW_PARSE_S > loop.time():
                self._slow_timer = loop.call_at(visit.put_at + SLOW_PARSE_S, self._uncount_slow)
                return
            self._uncount(visit)

    def _uncount(self, visit: _Uncommitted) -> None:
        """This visit is committed, dropped, or parsed for so long that it does not count any more."""
        if visit.counts:
            visit.counts = False
            self._counted -= 1
            self._counted_bytes -= visit.size
            if self.timer is not None and self._has_room(""):
                self.timer.batch_has_room()
        self._changed.set()

    # ── commit ──────────────────────────────────────────────────────────────────────────────────────────────────

    async def _commit_batches(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            if not self._parsed and not self._robots:
                continue
            if not (self._due.is_set() or self._is_hurried or self._whole_batches):
                with suppress(TimeoutError):
                    async with asyncio.timeout(MAX_WAIT_S):
                        await self._due.wait()
            if self._whole_batches and self._parsed_bytes < MAX_BYTES and (self._parsing or not self._flushing):
                continue
            await self._commit_batch(self._take_batch())
            if self._parsed or self._robots or self._flushing:
                self._wake.set()

    def _is_full(self) -> bool:
        """The parsed visits fill a batch."""
        return len(self._parsed) >= MAX_VISITS or self._parsed_bytes >= MAX_BYTES

    def _take_batch(self) -> list[_Uncommitted]:
        """The visits that were put first, of those that are parsed."""
        self._parsed.sort(key=lambda visit: visit.number)
        count = size = 0
        for visit in self._parsed:
            if count and not self._whole_batches and (count >= MAX_VISITS or size + visit.size > MAX_BYTES):
                break
            count += 1
            size += visit.size
        batch, self._parsed = self._parsed[:count], self._parsed[count:]
        self._parsed_bytes -= size
        if not self._flushing and not self._is_full():
            self._due.clear()
        return batch

    async def _commit_batch(self, batch: list[_Uncommitted]) -> None:
        robots, self._robots = self._robots, []
        self._is_committing = True
        self._batch = [visit.result for visit in batch]
        try:
            visits = await self._pipeline.commit(self._batch, [visit.parsed for visit in batch], robots, self.discovery)
            self.visits += len(visits)
            self._progress.visited(visits)
        except Exception as problem:
            self._fail(problem)
        finally:
            self._is_committing = False
            self._batch = []
            for visit in batch:
                self._uncount(visit)
            self._changed.set()

    def _fail(self, problem: BaseException) -> None:
        """The next `put` or `flush` raises the error."""
        self._problem = problem
        self._changed.set()
        self._progress.batch_failed()

    def raise_problem(self) -> None:
        """Raise the error of a batch, once."""
        if self._problem is not None:
            problem, self._problem = self._problem, None
            raise problem


def _moved(result: VisitResult, seconds: float) -> VisitResult:
    """A visit that ended before the clock was set by so much."""
    return replace(result, page=moved(result.page, seconds), at=result.at + seconds)


def _size(result: VisitResult) -> int:
    size = sum([len(exchange.body) for exchange in result.exchanges])
    if result.content is not None or result.extras:
        resources = (result.content, *result.extras)
        size += sum([len(resource.body) for resource in resources if resource is not None])
    return size
