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
            # spawn: a forked child would inherit the loop, the database connection and the lock of the home.
            self._pool = ProcessPoolExecutor(
                self._processes, mp_context=multiprocessing.get_context("spawn"), initializer=_die_with_parent
            )
        return await asyncio.get_running_loop().run_in_executor(self._pool, look, jobs)

    async def _alone(self, job: Job) -> Look:
        try:
            return (await self._in_pool([job]))[0]
        except BrokenProcessPool:
            self.close()
            log.warning("%s killed the process that read it; it is compared by its bytes only", job.url)
            return look_at_bytes(job)
