"""Gathers finished visits into batches: at most half a second, 256 records or 64 MB, then they are settled.

Batches are settled one after the other while the next one fills; a full intake makes visitors wait. The half second
is real time: it bounds what a crash can cost, whatever the clock of the schedule does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from webstrata.flows.visit import Visited
from webstrata.records import Exchange, Visit

MAX_WAIT_S = 0.5
MAX_RECORDS = 256
MAX_BYTES = 64 * 2**20

Settle = Callable[[Sequence[Visited], Sequence[Exchange]], Awaitable[list[Visit]]]


class Intake:
    """Start it, `put` visits, `flush` to wait until all of them are settled, `stop`."""

    def __init__(self, settle: Settle, settled: Callable[[Sequence[Visit]], None]) -> None:
        self._settle = settle
        self._settled = settled
        self._waiting: list[Visited] = []
        self._extras: list[Exchange] = []
        self._bytes = 0
        self._wake = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()
        self._idle = asyncio.Event()
        self._idle.set()
        self._hurry = False
        self._problem: BaseException | None = None
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._work())

    async def put(self, visited: Visited) -> None:
        while self._full():  # all who waited wake at once; most find it full again
            await self._room.wait()
        self._raise_problem()
        self._waiting.append(visited)
        self._bytes += sum(len(exchange.body) for exchange in visited.exchanges)
        self._stir()

    def keep(self, exchange: Exchange) -> None:
        """An exchange that is no page's visit (robots.txt): archived with the next batch."""
        self._extras.append(exchange)
        self._stir()

    async def flush(self) -> None:
        """Wait until everything put so far is permanent; raises what settling raised."""
        self._hurry = True
        self._wake.set()
        await self._idle.wait()
        self._raise_problem()

    async def stop(self) -> None:
        """Flush and end."""
        try:
            await self.flush()
        finally:
            if self._task is not None:
                self._task.cancel()
                await asyncio.gather(self._task, return_exceptions=True)

    def _stir(self) -> None:
        self._idle.clear()
        self._wake.set()
        if self._full():
            self._room.clear()

    def _full(self) -> bool:
        return len(self._waiting) >= MAX_RECORDS or self._bytes >= MAX_BYTES

    async def _work(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await self._wake.wait()
            deadline = loop.time() + MAX_WAIT_S
            while not self._full() and not self._hurry and (left := deadline - loop.time()) > 0:
                self._wake.clear()
                try:
                    async with asyncio.timeout(left):
                        await self._wake.wait()
                except TimeoutError:
                    break
            self._wake.clear()
            batch, extras = self._waiting, self._extras
            self._waiting, self._extras, self._bytes = [], [], 0
            self._room.set()
            if batch or extras:
                try:
                    self._settled(await self._settle(batch, extras))
                except Exception as problem:
                    self._problem = problem
            if not self._waiting and not self._extras:
                self._hurry = False
                self._idle.set()
            else:
                self._wake.set()

    def _raise_problem(self) -> None:
        if self._problem is not None:
            problem, self._problem = self._problem, None
            raise problem
