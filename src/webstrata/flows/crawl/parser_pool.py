"""Reading pages in other processes, so that parsing leaves the event loop's core; hostile pages may kill a process.

Each reader reads one batch after the other, within limits of time and memory, and has the next one ready beside it. A
batch that broke its reader, or did not end, is read again answer by answer in a process of its own: the one to blame is
known then, and counts by its bytes alone. Other readers go on meanwhile.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from msgspec.structs import replace

from webstrata.flows.crawl.parse import ParsedContent, ParseJob, parse_bytes, parse_content
from webstrata.flows.crawl.parser_process import Answer, ParserLostError, ParserProcess, Read

log = logging.getLogger("webstrata.readers")

LIMIT_S = 30.0
"""For one batch, and for each answer of a batch that is read again."""
MEMORY_BYTES = 2 * 1024**3
_AT_A_TIME = 2
"""Batches that a reader has: one that it reads, one that it can begin with at once."""
_WORTH_A_READER = 200
"""Contents for which it pays to start one more."""


class ParserPool:
    """Up to `processes` readers; none: read in this process, without limits."""

    def __init__(
        self,
        processes: int,
        *,
        limit_s: float = LIMIT_S,
        memory_bytes: int = MEMORY_BYTES,
        read: Read = parse_content,
        is_forked: bool = False,
    ) -> None:
        """Readers are spawned: a forked one would inherit the loop, the database connection and the lock of the home.

        A command that has none of these may fork them (where that is safe): nothing has to be loaded again then.
        """
        self._limit_s = limit_s
        self._read = read

        def reader() -> ParserProcess:
            return ParserProcess(read, limit_s=limit_s, memory_bytes=memory_bytes, is_forked=is_forked)

        self._readers = [reader() for _ in range(processes)]
        self._room = asyncio.Semaphore(_AT_A_TIME * processes)
        self._careful = reader()
        self._careful_one = asyncio.Lock()

    def start(self, contents: int = 1) -> None:
        """Have as many processes ready as so many contents are worth, before there is anything to read."""
        for reader in self._readers[: 1 + contents // _WORTH_A_READER]:
            reader.start()

    async def look(self, jobs: Sequence[ParseJob]) -> list[ParsedContent]:
        """Batches asked for side by side are read by different readers."""
        if not self._readers:
            return self._read(jobs)
        async with self._room:
            reader = self._least_busy()
            try:
                answers = await reader.read(jobs)
            except (ParserLostError, TimeoutError):
                log.debug("a batch of %d ended its reader; its answers are read one by one", len(jobs))
                answers = await self._one_by_one(jobs)
        return [_judged(job, answer) for job, answer in zip(jobs, answers, strict=True)]

    def close(self) -> None:
        for reader in (*self._readers, self._careful):
            reader.end()

    def _least_busy(self) -> ParserProcess:
        """One more is started only when all that run have enough to do."""
        running = [reader for reader in self._readers if reader.is_running and reader.asked < _AT_A_TIME]
        return min(running or self._readers, key=lambda reader: reader.asked)

    async def _one_by_one(self, jobs: Sequence[ParseJob]) -> list[Answer]:
        async with self._careful_one:
            try:
                return [await self._alone(job) for job in jobs]
            finally:
                self._careful.end()

    async def _alone(self, job: ParseJob) -> Answer:
        try:
            return (await self._careful.read([job]))[0]
        except TimeoutError:
            return f"reading it took longer than {self._limit_s:g} s"
        except ParserLostError:
            return "it killed the process that read it"


def _judged(job: ParseJob, answer: Answer) -> ParsedContent:
    if isinstance(answer, ParsedContent):
        return answer
    log.warning("%s: %s; it is compared by its bytes only", job.url, answer)
    return replace(parse_bytes(job), problem=answer)
