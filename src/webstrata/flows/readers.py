"""Reading pages in other processes, so that parsing leaves the event loop's core; hostile pages may kill a process.

Each reader is one process that reads one batch at a time, within limits of time and memory: native code cannot be
interrupted, but its process can be ended. A batch that broke its reader, or did not end, is read again answer by
answer: the one to blame is known then, and counts by its bytes alone. Other readers go on meanwhile.
"""

from __future__ import annotations

import asyncio
import ctypes
import logging
import multiprocessing
import os
import resource
import signal
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from msgspec.structs import replace

from webstrata.flows.look import Job, Look, look, look_at_bytes

log = logging.getLogger("webstrata.readers")

LIMIT_S = 30.0
"""For one batch, and for each answer of a batch that is read again."""
MEMORY_BYTES = 2 * 1024**3

_PR_SET_PDEATHSIG = 1


def _begin(memory_bytes: int) -> None:
    """In the reader. It ends with its crawler: one whose crawler was killed would wait for work for ever."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the crawler's to handle
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        used = int(Path("/proc/self/statm").read_text("ascii").split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + memory_bytes, used + memory_bytes))


def _ready(read: Callable[[Sequence[Job]], list[Look]]) -> int:
    """In the reader: load all that reading needs, and say who reads."""
    read(())
    return os.getpid()


class _Reader:
    """One process, started when first needed and again after it was ended."""

    def __init__(self, read: Callable[[Sequence[Job]], list[Look]], memory_bytes: int) -> None:
        self._read = read
        self._memory_bytes = memory_bytes
        self._pool: ProcessPoolExecutor | None = None
        self._born: Future[int] | None = None
        """Its process id, as soon as it runs."""

    def start(self) -> ProcessPoolExecutor:
        if self._pool is None:
            # spawn: a forked child would inherit the loop, the database connection and the lock of the home.
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(1, mp_context=context, initializer=_begin, initargs=(self._memory_bytes,))
            self._born = self._pool.submit(_ready, self._read)
        return self._pool

    async def read(self, jobs: Sequence[Job], limit_s: float) -> list[Look]:
        """TimeoutError, MemoryError or BrokenProcessPool if that cannot be done; the process is ended then."""
        try:
            pool = self.start()
            if self._born is not None:  # the limit is on reading, not on starting
                await asyncio.wrap_future(self._born)
            return await asyncio.wait_for(asyncio.wrap_future(pool.submit(self._read, jobs)), limit_s)
        except BaseException:  # cancelled too: a process that may still be at work is of no use to the next batch
            self.end()
            raise

    def end(self) -> None:
        """End the process, whatever it does; at once, without waiting for it."""
        pool, born, self._pool, self._born = self._pool, self._born, None, None
        if pool is None:
            return
        if born is not None and born.done() and not born.cancelled() and born.exception() is None:
            try:
                os.kill(born.result(), signal.SIGKILL)
            except ProcessLookupError:
                log.debug("reader %d had ended", born.result())
        pool.shutdown(wait=False, cancel_futures=True)


class Readers:
    """`processes` readers; none: read in this process, without limits."""

    def __init__(
        self,
        processes: int,
        *,
        limit_s: float = LIMIT_S,
        memory_bytes: int = MEMORY_BYTES,
        read: Callable[[Sequence[Job]], list[Look]] = look,
    ) -> None:
        self._limit_s = limit_s
        self._read = read
        self._readers = [_Reader(read, memory_bytes) for _ in range(processes)]
        self._idle: asyncio.LifoQueue[_Reader] = asyncio.LifoQueue()
        for reader in self._readers:
            self._idle.put_nowait(reader)

    def start(self) -> None:
        """Have the processes ready before there is anything to read."""
        for reader in self._readers:
            reader.start()

    async def look(self, jobs: Sequence[Job]) -> list[Look]:
        """Each reader takes a share."""
        if not self._readers:
            return self._read(jobs)
        share = -(-len(jobs) // len(self._readers)) or 1
        parts = [jobs[start : start + share] for start in range(0, len(jobs), share)]
        read = await asyncio.gather(*(self._share(part) for part in parts))
        return [found for part in read for found in part]

    def close(self) -> None:
        for reader in self._readers:
            reader.end()

    async def _share(self, jobs: Sequence[Job]) -> list[Look]:
        reader = await self._idle.get()
        try:
            if len(jobs) > 1:
                try:
                    return await reader.read(jobs, self._limit_s)
                except (BrokenProcessPool, TimeoutError, MemoryError):
                    log.debug("a batch of %d ended its reader; its answers are read one by one", len(jobs))
            return [await self._alone(reader, job) for job in jobs]
        finally:
            self._idle.put_nowait(reader)

    async def _alone(self, reader: _Reader, job: Job) -> Look:
        try:
            return (await reader.read([job], self._limit_s))[0]
        except TimeoutError:
            problem = f"reading it took longer than {self._limit_s:g} s"
        except MemoryError:
            problem = "reading it took more memory than it may"
        except BrokenProcessPool:
            problem = "it killed the process that read it"
        log.warning("%s: %s; it is compared by its bytes only", job.url, problem)
        return replace(look_at_bytes(job), problem=problem)
