"""`ParserPool`: decodes and parses contents in other processes, within limits, and never blocks the event loop.

Every body of the web is decoded and parsed here, those of pages (`submit`) and those that handlers need (`run`). The
processes and their queues are in `flows/parsers/lanes.py`: the contents of one host do not wait for those of another.

A content that ends its process, takes too long or needs too much memory is compared by its bytes only. It is remembered
by its digest, with the digest of its decoded bytes, and is not given to a parser again. If no process works at all, the
content is not to blame: `ParserError` is raised, and the page must be visited again.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import resource
from typing import Any

import msgspec
from msgspec.structs import replace

from webstrata.clock import RealClock
from webstrata.errors import ParserError
from webstrata.flows.crawl.parse import ParsedContent, ParseJob, payload_digest, unparsed_fingerprint
from webstrata.flows.parsers.child import RunTask, Status
from webstrata.flows.parsers.lanes import ParserLanes, UnparsableError
from webstrata.flows.parsers.parser_process import ParserLimits
from webstrata.flows.parsers.process_connection import Reply
from webstrata.flows.parsers.tasks import RESULTS, TRIVIAL, BytesTask, Task, run_task
from webstrata.flows.parsers.unparsable import UnparsableContents, content_key
from webstrata.records import UnparsableContent
from webstrata.urls import host_of

log = logging.getLogger("webstrata.crawl")

_CONTENTS_PER_PROCESS = 200
"""Number of contents for which starting one more process is worthwhile."""
_DECODERS = {task: msgspec.msgpack.Decoder(result) for task, result in RESULTS.items()}


class ParserFaultError(Exception):
    """An error of the parser itself, with its traceback."""


class ParserPool:
    """Up to `processes` parser processes and one for suspects; with 0, tasks run in this process, without limits."""

    def __init__(
        self,
        processes: int,
        *,
        limits: ParserLimits | None = None,
        run: RunTask = run_task,
        is_forked: bool = False,
        lanes: ParserLanes | None = None,
        unparsable: UnparsableContents | None = None,
    ) -> None:
        """Processes are spawned: a forked one would inherit the event loop, the database connection and the lock of the
        home. A command that has none of these may fork them, where that is safe, and saves their start-up time. `lanes`
        may be shared by several pools, which then do not close them."""
        self._run_here = run if not processes else None
        self._lanes = lanes or ParserLanes(processes, run, limits=limits, is_forked=is_forked)
        self._owns_lanes = lanes is None
        self.unparsable = unparsable or UnparsableContents()
        self._clock = RealClock()

    def start(self, contents: int = 1) -> None:
        """Start enough processes for this number of contents, before there is anything to parse. Raises ParserError."""
        if self._owns_lanes:
            self._lanes.start(1 + contents // _CONTENTS_PER_PROCESS)

    async def check(self) -> None:
        """Raise ParserError if the limits that this process inherited do not let a parser process work."""
        if self._run_here is None and resource.getrlimit(resource.RLIMIT_AS)[1] != resource.RLIM_INFINITY:
            try:
                await self._lanes.reply_of(TRIVIAL, "")
            except UnparsableError as problem:
                raise ParserError(f"no parser process works: {problem}.") from None

    async def submit(self, job: ParseJob, *, lane: str = "") -> ParsedContent:
        """Parse a content; `lane` is its host, by default that of its URL.

        A content that cannot be parsed has the fingerprint of its decoded bytes. Raises ParserError.
        """
        lane = lane or host_of(job.url)
        known = await self.unparsable.find(job)
        if known is not None and known.raw:
            return await self._remembered(job, known)
        try:
            parsed: ParsedContent = await self._reply(job, lane)
        except UnparsableError as problem:
            log.warning("%s: %s; it is compared by its bytes only", job.url, problem)
            return await self._give_up(job, lane, str(problem))
        except ParserFaultError as problem:
            log.warning("%s: it is compared by its bytes only: parsing failed: %s", job.url, problem)
            return await self._by_bytes(job, lane, f"parsing failed: {str(problem).strip().splitlines()[-1]}")
        return parsed

    async def run(self, task: Task, *, lane: str) -> Any:
        """The result of a task; `lane` is the host that sent the content.

        Raises ValueError if the content has another form or cannot be parsed, and ParserError.
        """
        known = await self.unparsable.find(task)
        if known is not None:
            raise UnparsableError(known.reason)
        try:
            return await self._reply(task, lane)
        except UnparsableError as problem:
            log.warning("a content of %s cannot be parsed: %s", lane, problem)
            await self.unparsable.remember(await self._unparsable(task, str(problem)))
            raise
        except ParserFaultError as problem:
            log.warning("a content of %s cannot be parsed: %s", lane, problem)
            raise ValueError("parsing failed") from None

    def close(self) -> None:
        if self._owns_lanes:
            self._lanes.close()

    async def _reply(self, task: Task, lane: str) -> Any:
        if self._run_here is not None:
            return self._run_here(task)
        reply: Reply = await self._lanes.reply_of(task, lane)
        if reply.status is Status.DONE:
            return _DECODERS[type(task)].decode(reply.payload)
        if reply.status is Status.TOO_LARGE:
            raise UnparsableError("parsing had a result that is too large")
        message = reply.payload.decode("utf-8", "replace")
        raise ValueError(message) if reply.status is Status.VALUE_ERROR else ParserFaultError(message)

    # ── contents that cannot be parsed ──────────────────────────────────────────────────────────────────────────

    async def _give_up(self, job: ParseJob, lane: str, reason: str) -> ParsedContent:
        """Compare a content by its bytes, and remember that it cannot be parsed."""
        parsed = await self._by_bytes(job, lane, reason)
        content = await self._unparsable(job, reason)
        fingerprint = parsed.fingerprint
        content = replace(content, raw=fingerprint.raw, decoded_size=fingerprint.size, torn=parsed.torn)
        await self.unparsable.remember(content)
        return parsed

    async def _by_bytes(self, job: ParseJob, lane: str, reason: str) -> ParsedContent:
        """The digest of the decoded bytes; if these cannot be decoded within the limits, of the bytes as sent."""
        task = BytesTask(
            body=job.body, content_encoding=job.content_encoding, max_decoded=job.max_decoded, problem=reason
        )
        try:
            parsed: ParsedContent = await self._reply(task, lane)
        except (ValueError, ParserFaultError):
            raw = await asyncio.to_thread(lambda: hashlib.sha256(job.body).hexdigest())
            parsed = await self._remembered(
                job,
                UnparsableContent(
                    key="", size=len(job.body), reason=reason, at=0.0, raw=raw, decoded_size=len(job.body)
                ),
            )
        return parsed

    async def _remembered(self, job: ParseJob, known: UnparsableContent) -> ParsedContent:
        return ParsedContent(
            payload=await asyncio.to_thread(payload_digest, job.body),
            fingerprint=unparsed_fingerprint(known.raw, known.decoded_size, known.reason),
            problem=known.reason,
            torn=known.torn,
        )

    async def _unparsable(self, task: Task, reason: str) -> UnparsableContent:
        return UnparsableContent(key=await content_key(task), size=len(task.body), reason=reason, at=self._clock.now())
