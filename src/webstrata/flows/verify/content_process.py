"""`ContentProcess`: parses contents of a package in another process, with limits of memory and time.

Contents are hostile, and parsers are native code. A content that exceeds a limit ends its process; the next content
gets a new one.
"""

from __future__ import annotations

import multiprocessing
import sys
import threading
import warnings
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

import msgspec
from msgspec.structs import replace

from webstrata.flows.parsers.child import TooLittleMemoryError, set_process_limits
from webstrata.flows.verify.recomputed_content import ContentJob, RecomputedContent, recomputed_content

LIMIT_S = 60.0
"""For one content."""
MEMORY_BYTES = 3 * 2**30
_START_S = 60.0
_MAX_EXCEEDED = 20
"""After so many contents that exceeded a limit, further ones are not parsed: a package must not take days."""


class ContentProcess:
    """Computes layers, one content after the other."""

    def __init__(self, *, limit_s: float = LIMIT_S, memory_bytes: int = MEMORY_BYTES) -> None:
        self._limit_s = limit_s
        self._memory_bytes = memory_bytes
        self._process: BaseProcess | None = None
        self._connection: Connection | None = None
        self._exceeded = 0

    def __enter__(self) -> ContentProcess:
        return self

    def __exit__(self, *error: object) -> None:
        self._end()

    def recompute(self, job: ContentJob) -> RecomputedContent:
        """The layers of a content. If its parsing exceeds a limit, those that need no parser; else a problem."""
        for one in (job, replace(job, is_parsed=False)) if job.is_parsed else (job,):
            if self._exceeded >= _MAX_EXCEEDED:
                return RecomputedContent(problem="too many contents of this package exceed the limits of the verifier")
            found = self._reply(one)
            if found is not None:
                return found
            self._exceeded += 1
        return RecomputedContent(problem="it takes more memory or time than the verifier allows")

    def _reply(self, job: ContentJob) -> RecomputedContent | None:
        """None if the process exceeded a limit."""
        try:
            connection = self._connection or self._start()
            connection.send_bytes(msgspec.msgpack.encode(replace(job, body=b"")))
            connection.send_bytes(job.body)
            if connection.poll(self._limit_s) and (reply := connection.recv_bytes()):
                return msgspec.msgpack.decode(reply, type=RecomputedContent)
        except (EOFError, OSError):
            pass
        self._end()
        return None

    def _start(self) -> Connection:
        own, other = multiprocessing.Pipe()
        # A forked process starts faster, but must not inherit the locks of other threads.
        may_fork = sys.platform == "linux" and threading.active_count() == 1
        context = multiprocessing.get_context("fork" if may_fork else "spawn")
        process = context.Process(target=_serve, args=(other, self._memory_bytes), daemon=True)  # type: ignore[attr-defined]
        with warnings.catch_warnings():  # Python 3.12 warns of NumPy's idle threads
            warnings.simplefilter("ignore", DeprecationWarning)
            process.start()
        other.close()
        self._process, self._connection = process, own
        if not own.poll(_START_S) or not own.recv_bytes():
            raise EOFError
        return own

    def _end(self) -> None:
        if self._connection is not None:
            self._connection.close()
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process.close()
        self._process = self._connection = None


def _serve(connection: Connection, memory_bytes: int) -> None:
    """In the process: reply to jobs until the other end is closed. An empty reply: the memory is used up."""
    with suppress(EOFError, OSError):
        try:
            set_process_limits(memory_bytes)
        except TooLittleMemoryError:
            connection.send_bytes(b"")
            return
        connection.send_bytes(b"ready")
        while True:
            job = msgspec.msgpack.decode(connection.recv_bytes(), type=ContentJob)
            try:
                reply = msgspec.msgpack.encode(recomputed_content(replace(job, body=connection.recv_bytes())))
            except Exception:  # of parsers, or no memory: the content is then verified without them
                reply = b""
            connection.send_bytes(reply)
            del job, reply
