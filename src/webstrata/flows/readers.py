"""Reading pages in other processes, so that parsing leaves the event loop's core; hostile pages may kill a process.

A batch that broke its process is read again answer by answer: the one that kills is known then, and counts by its
bytes alone.
"""

from __future__ import annotations

import asyncio
import ctypes
import logging
import multiprocessing
import signal
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

from webstrata.flows.look import Job, Look, look, look_at_bytes

log = logging.getLogger("webstrata.readers")


_PR_SET_PDEATHSIG = 1


def _die_with_parent() -> None:
    """A reader whose crawler was killed would wait for work for ever; Linux ends it with its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the crawler's to handle
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


class Readers:
    """`processes` readers; none: read in this process."""

    def __init__(self, processes: int) -> None:
        self._processes = processes
        self._pool: ProcessPoolExecutor | None = None

    def start(self) -> None:
        """Have the processes ready before there is anything to read."""
        if self._processes and self._pool is None:
            self._pool = self._open()
            for _ in range(self._processes):
                self._pool.submit(look, ())

    async def look(self, jobs: Sequence[Job]) -> list[Look]:
        if not self._processes:
            return look(jobs)
        try:
            return await self._in_pool(jobs)
        except BrokenProcessPool:
            self.close()
        return [await self._alone(job) for job in jobs]

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    async def _in_pool(self, jobs: Sequence[Job]) -> list[Look]:
        if self._pool is None:
            self._pool = self._open()
        loop = asyncio.get_running_loop()
        share = -(-len(jobs) // self._processes) or 1
        parts = [jobs[start : start + share] for start in range(0, len(jobs), share)]
        read = await asyncio.gather(*(loop.run_in_executor(self._pool, look, part) for part in parts))
        return [found for part in read for found in part]

    def _open(self) -> ProcessPoolExecutor:
        # spawn: a forked child would inherit the loop, the database connection and the lock of the home.
        return ProcessPoolExecutor(
            self._processes, mp_context=multiprocessing.get_context("spawn"), initializer=_die_with_parent
        )

    async def _alone(self, job: Job) -> Look:
        try:
            return (await self._in_pool([job]))[0]
        except BrokenProcessPool:
            self.close()
            log.warning("%s killed the process that read it; it is compared by its bytes only", job.url)
            return look_at_bytes(job)
