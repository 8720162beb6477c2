"""`ParserPool`: parses contents in other processes, so that parsing does not block the event loop.

Each parser process handles one batch after the other, within limits of time and memory, and has the next one queued. A
batch that ended its process, or took too long, is parsed again content by content in a process of its own: the content
that caused it is identified by that, and compared by its bytes only. The other processes continue meanwhile.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from msgspec.structs import replace

from webstrata.flows.crawl.parse import ParsedContent, ParseJob, parse_bytes, parse_content
from webstrata.flows.crawl.parser_process import Parse, ParseReply, ParserLostError, ParserProcess

log = logging.getLogger("webstrata.crawl")

LIMIT_S = 30.0
"""For one batch, and for each content of a batch that is parsed again."""
MEMORY_BYTES = 2 * 1024**3
_QUEUED_BATCHES = 2
"""Batches per process: one that it parses, one that it can start at once."""
_CONTENTS_PER_PROCESS = 200
"""Number of contents for which starting one more process is worthwhile."""


class ParserPool:
    """Up to `processes` parser processes; with 0, contents are parsed in this process, without limits."""

    def __init__(
        self,
        processes: int,
        *,
        limit_s: float = LIMIT_S,
        memory_bytes: int = MEMORY_BYTES,
        parse: Parse = parse_content,
        is_forked: bool = False,
    ) -> None:
        """Processes are spawned: a forked one would inherit the event loop, the database connection and the lock of the
        home. A command that has none of these may fork them, where that is safe, and saves their start-up time."""
        self._limit_s = limit_s
        self._parse = parse

        def process() -> ParserProcess:
            return ParserProcess(parse, limit_s=limit_s, memory_bytes=memory_bytes, is_forked=is_forked)

        self._processes = [process() for _ in range(processes)]
        self._free_batches = asyncio.Semaphore(_QUEUED_BATCHES * processes)
        self._single = process()
        """Parses the contents of a failed batch one by one."""
        self._single_lock = asyncio.Lock()

    def start(self, contents: int = 1) -> None:
        """Start enough parser processes for this number of contents, before there is anything to parse."""
        for process in self._processes[: 1 + contents // _CONTENTS_PER_PROCESS]:
            process.start()

    async def parse(self, jobs: Sequence[ParseJob]) -> list[ParsedContent]:
        """Parse a batch. Concurrent batches go to different processes."""
        if not self._processes:
            return self._parse(jobs)
        async with self._free_batches:
            try:
                replies = await self._least_busy().parse(jobs)
            except (ParserLostError, TimeoutError):
                log.debug("a batch of %d ended its parser process; its contents are parsed one by one", len(jobs))
                replies = await self._parse_one_by_one(jobs)
        return [_parsed(job, reply) for job, reply in zip(jobs, replies, strict=True)]

    def close(self) -> None:
        for process in (*self._processes, self._single):
            process.end()

    def _least_busy(self) -> ParserProcess:
        """A running process, or a new one if all running ones have enough batches."""
        running = [process for process in self._processes if process.is_running and process.pending < _QUEUED_BATCHES]
        return min(running or self._processes, key=lambda process: process.pending)

    async def _parse_one_by_one(self, jobs: Sequence[ParseJob]) -> list[ParseReply]:
        async with self._single_lock:
            try:
                return [await self._parse_single(job) for job in jobs]
            finally:
                self._single.end()

    async def _parse_single(self, job: ParseJob) -> ParseReply:
        try:
            return (await self._single.parse([job]))[0]
        except TimeoutError:
            return f"parsing took longer than {self._limit_s:g} s"
        except ParserLostError:
            return "parsing ended the parser process"


def _parsed(job: ParseJob, reply: ParseReply) -> ParsedContent:
    if isinstance(reply, ParsedContent):
        return reply
    log.warning("%s: %s; it is compared by its bytes only", job.url, reply)
    return replace(parse_bytes(job), problem=reply)
