"""Gathers finished visits into batches: at most half a second, 256 records or 64 MB, then they are settled.

    put ─► filling ─► being read ─► being settled

Three batches are on their way at a time, one in each place, and they are settled in the order in which they were
filled. A batch is read in parts, and the first of them while it still fills: the readers never wait for a whole batch.
A full intake makes visitors wait. The half second is real time: it bounds what a crash can cost, whatever the clock of
the schedule does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress

from webstrata.flows.crawl.parse import ParsedContent
from webstrata.records import Exchange, Visit, VisitResult

MAX_WAIT_S = 0.5
MAX_RECORDS = 256
MAX_BYTES = 64 * 2**20
READ_TOGETHER = 32
"""Visits that are handed to the readers at once."""

Looks = list[ParsedContent | None]
Read = Callable[[Sequence[VisitResult]], Coroutine[None, None, Looks]]
Settle = Callable[[Sequence[VisitResult], Looks, Sequence[Exchange]], Awaitable[list[Visit]]]


class VisitBatcher:
    """Start it, `put` visits, `flush` to wait until all of them are settled, `stop`."""

    def __init__(self, read: Read, settle: Settle, settled: Callable[[Sequence[Visit]], None]) -> None:
        self._read = read
        self._settle = settle
        self._settled = settled
        self._waiting: list[VisitResult] = []
        self._unread: list[VisitResult] = []
        """The last of those that wait: nobody reads them yet."""
        self._parts: list[asyncio.Task[Looks]] = []
        """The readings of the others, in order."""
        self._extras: list[Exchange] = []
        self._bytes = 0
        self._begun = asyncio.Event()
        """Something waits."""
        self._ripe = asyncio.Event()
        """It waits no longer: the batch is full, or somebody is in a hurry."""
        self._room = asyncio.Event()
        self._room.set()
        self._idle = asyncio.Event()
        self._idle.set()
        self._hurry = False
        self._places = asyncio.Semaphore(2)
        self._open = 0
        """Batches that are being read or settled."""
        self._read_ones: asyncio.Queue[tuple[list[VisitResult], Looks, list[Exchange]]] = asyncio.Queue()
        self._problem: BaseException | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._reading: set[asyncio.Task[Looks]] = set()

    def start(self) -> None:
        self._tasks = [asyncio.create_task(self._keep_reading()), asyncio.create_task(self._keep_settling())]

    async def put(self, visited: VisitResult) -> None:
        while self._full():  # all who waited wake at once; most find it full again
            await self._room.wait()
        self._raise_problem()
        self._waiting.append(visited)
        self._bytes += sum([len(exchange.body) for exchange in visited.exchanges])
        if visited.content is not None or visited.extras:
            self._bytes += sum([len(made.body) for made in (visited.content, *visited.extras) if made is not None])
        self._unread.append(visited)
        if len(self._unread) >= READ_TOGETHER:
            self._begin_reading()
        self._stir()

    def keep(self, exchange: Exchange) -> None:
        """An exchange that is no page's visit (robots.txt): archived with the next batch."""
        self._extras.append(exchange)
        self._stir()

    async def flush(self) -> None:
        """Wait until everything put so far is permanent; raises what settling raised."""
        if not self._idle.is_set():
            self._hurry = True
            self._ripe.set()
            await self._idle.wait()
        self._raise_problem()

    async def stop(self) -> None:
        """Flush and end."""
        try:
            await self.flush()
        finally:
            ending = [*self._tasks, *self._reading]
            for task in ending:
                task.cancel()
            await asyncio.gather(*ending, return_exceptions=True)

    def _stir(self) -> None:
        self._idle.clear()
        self._begun.set()
        if self._full():
            self._room.clear()
            self._ripe.set()

    def _full(self) -> bool:
        return len(self._waiting) >= MAX_RECORDS or self._bytes >= MAX_BYTES

    async def _keep_reading(self) -> None:
        while True:
            await self._begun.wait()
            with suppress(TimeoutError):
                async with asyncio.timeout(MAX_WAIT_S):
                    await self._ripe.wait()
            await self._places.acquire()
            batch, parts, extras = self._cut()
            if parts:
                await asyncio.wait(parts)
            problems = [problem for part in parts if (problem := part.exception()) is not None]
            if problems:
                self._done(problems[0])
            else:
                self._read_ones.put_nowait((batch, [look for part in parts for look in part.result()], extras))

    async def _keep_settling(self) -> None:
        while True:
            batch, looks, extras = await self._read_ones.get()
            try:
                self._settled(await self._settle(batch, looks, extras))
            except Exception as problem:
                self._done(problem)
            else:
                self._done()

    def _begin_reading(self) -> None:
        part = asyncio.create_task(self._read(self._unread))
        self._unread = []
        self._parts.append(part)
        self._reading.add(part)
        part.add_done_callback(self._reading.discard)

    def _cut(self) -> tuple[list[VisitResult], list[asyncio.Task[Looks]], list[Exchange]]:
        """What waits becomes a batch."""
        if self._unread:
            self._begin_reading()
        batch, parts, extras = self._waiting, self._parts, self._extras
        self._waiting, self._parts, self._extras, self._bytes = [], [], [], 0
        self._open += 1
        self._begun.clear()
        if not self._hurry:
            self._ripe.clear()
        self._room.set()
        return batch, parts, extras

    def _done(self, problem: BaseException | None = None) -> None:
        self._problem = problem or self._problem
        self._open -= 1
        self._places.release()
        if not self._open and not self._begun.is_set():
            self._hurry = False
            self._ripe.clear()
            self._idle.set()

    def _raise_problem(self) -> None:
        if self._problem is not None:
            problem, self._problem = self._problem, None
            raise problem
