"""Gathers finished visits into batches: at most half a second, 256 records or 64 MB, then they are settled.

    put ─► filling ─► being read ─► being settled

Three batches are on their way at a time, one in each place, and they are settled in the order in which they were
filled. A full intake makes visitors wait. The half second is real time: it bounds what a crash can cost, whatever the
clock of the schedule does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from webstrata.flows.look import Look
from webstrata.records import Exchange, Visit, Visited

MAX_WAIT_S = 0.5
MAX_RECORDS = 256
MAX_BYTES = 64 * 2**20

Looks = list[Look | None]
Read = Callable[[Sequence[Visited]], Awaitable[Looks]]
Settle = Callable[[Sequence[Visited], Looks, Sequence[Exchange]], Awaitable[list[Visit]]]


class Intake:
    """Start it, `put` visits, `flush` to wait until all of them are settled, `stop`."""

    def __init__(self, read: Read, settle: Settle, settled: Callable[[Sequence[Visit]], None]) -> None:
        self._read = read
        self._settle = settle
        self._settled = settled
        self._waiting: list[Visited] = []
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
        self._read_ones: asyncio.Queue[tuple[list[Visited], Looks, list[Exchange]]] = asyncio.Queue()
        self._problem: BaseException | None = None
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        self._tasks = [asyncio.create_task(self._keep_reading()), asyncio.create_task(self._keep_settling())]

    async def put(self, visited: Visited) -> None:
        while self._full():  # all who waited wake at once; most find it full again
            await self._room.wait()
        self._raise_problem()
        self._waiting.append(visited)
        self._bytes += sum([len(exchange.body) for exchange in visited.exchanges])
        self._bytes += sum([len(made.body) for made in (visited.content, *visited.extras) if made is not None])
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
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

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
            batch, extras = self._cut()
            try:
                self._read_ones.put_nowait((batch, await self._read(batch), extras))
            except Exception as problem:
                self._done(problem)

    async def _keep_settling(self) -> None:
        while True:
            batch, looks, extras = await self._read_ones.get()
            try:
                self._settled(await self._settle(batch, looks, extras))
            except Exception as problem:
                self._done(problem)
            else:
                self._done()

    def _cut(self) -> tuple[list[Visited], list[Exchange]]:
        """What waits becomes a batch."""
        batch, extras = self._waiting, self._extras
        self._waiting, self._extras, self._bytes = [], [], 0
        self._open += 1
        self._begun.clear()
        if not self._hurry:
            self._ripe.clear()
        self._room.set()
        return batch, extras

    def _done(self, problem: Exception | None = None) -> None:
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
