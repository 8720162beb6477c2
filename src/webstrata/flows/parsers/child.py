"""`serve`: the main function of a parser process. It runs tasks one after the other and replies to them in order.

    request   length of the record (4 bytes), length of the body (8 bytes), record, body
    reply     length (8 bytes), status (1 byte), result or message

The first reply, before any request, says whether the process can work at all: its modules are loaded, its memory is
sufficient, and it has parsed a trivial content. Replies are sent together if they follow each other within some
milliseconds. The number of tasks that were begun is in shared memory, so that the crawler knows which task is running.
"""

from __future__ import annotations

import ctypes
import os
import resource
import select
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from enum import IntEnum
from pathlib import Path
from struct import Struct as Layout
from typing import Any, Protocol

import msgspec
from msgspec.structs import replace

from webstrata.flows.crawl.parse import ParseJob
from webstrata.flows.parsers.tasks import TRIVIAL, Task, run_task

RunTask = Callable[[Task], Any]

REQUEST = Layout(">IQ")
REPLY = Layout(">QB")
LEAST_BYTES = 256 * 2**20
"""A process that may use less memory than this, beyond what it uses at its start, does not work."""
_NICE = 5
"""Parsing gives way to the event loop of the crawler where both need a processor."""
_PR_SET_PDEATHSIG = 1
_RECEIVED_BYTES = 2**16
_SENT_BYTES = 2**18
_SENT_S = 0.005
"""Replies wait at most for this size, and this time, for the next ones."""
_MAX_MESSAGE = 1000
"""Characters of a message."""
_KEPT_LINES = -3
"""Lines of a traceback that are reported: the last ones."""


class Status(IntEnum):
    """The status of a reply."""

    DONE = 0
    VALUE_ERROR = 1
    """The content has another form; the message of the ValueError follows."""
    NO_MEMORY = 2
    FAILED = 3
    """An error of the parser; its traceback follows."""
    TOO_LARGE = 4
    """The result is larger than a reply may be."""
    UNFIT = 5
    """The process cannot work; the reason follows."""


class TooLittleMemoryError(Exception):
    """The limits that this process inherited leave too little memory."""


class StartedCount(Protocol):
    """The number of tasks that a process has begun, in memory that it shares with the crawler."""

    value: int


def serve(connection: socket.socket, run: RunTask, memory_bytes: int, reply_bytes: int, started: StartedCount) -> None:
    """Run tasks until the other end is closed."""
    # The crawler may have ended meanwhile, even before all modules were loaded.
    with suppress(ConnectionError, MemoryError), connection:
        problem = _start(memory_bytes)
        replies = _Replies(connection)
        replies.add(Status.UNFIT if problem else Status.DONE, problem.encode())
        replies.send()
        requests = _Requests(connection, started)
        decoder, encoder = msgspec.msgpack.Decoder(Task), msgspec.msgpack.Encoder()
        while not problem and (task := requests.next(decoder)) is not None:
            replies.add(*_reply(run, task, encoder, reply_bytes))
            del task  # its body may be large
            if replies.are_due or not requests.are_waiting:
                replies.send()


class _Replies:
    """Replies that are sent together."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._parts: list[bytes] = []
        self._size = 0
        self._since = 0.0

    def add(self, status: Status, payload: bytes) -> None:
        if not self._parts:
            self._since = time.monotonic()
        self._parts += (REPLY.pack(len(payload), status), payload)
        self._size += len(payload)

    @property
    def are_due(self) -> bool:
        return self._size > _SENT_BYTES or time.monotonic() - self._since > _SENT_S

    def send(self) -> None:
        data, self._parts, self._size = b"".join(self._parts), [], 0
        self._connection.sendall(data)


class _Requests:
    """The tasks that arrive on a connection."""

    def __init__(self, connection: socket.socket, started: StartedCount) -> None:
        self._connection = connection
        self._started = started
        self._buffer = bytearray()

    @property
    def are_waiting(self) -> bool:
        return bool(self._buffer) or bool(select.select([self._connection], [], [], 0)[0])

    def next(self, decoder: msgspec.msgpack.Decoder[Task]) -> Task | None:
        """The next task; None at the end."""
        lengths = self._read(REQUEST.size)
        if len(lengths) < REQUEST.size:
            return None
        self._started.value += 1  # receiving a body can take all memory, too
        record_bytes, body_bytes = REQUEST.unpack(lengths)
        task = decoder.decode(self._read(record_bytes))
        return replace(task, body=self._read(body_bytes))

    def _read(self, size: int) -> bytes:
        while len(self._buffer) < size:
            data = self._connection.recv(max(_RECEIVED_BYTES, min(size - len(self._buffer), 64 * _RECEIVED_BYTES)))
            if not data:
                break
            self._buffer += data
        taken = bytes(memoryview(self._buffer)[:size])
        del self._buffer[:size]
        return taken


def _start(memory_bytes: int) -> str:
    """Why this process cannot work; empty if it can."""
    os.nice(_NICE)
    try:
        set_process_limits(memory_bytes)
        run_task(TRIVIAL)
    except TooLittleMemoryError as problem:
        return str(problem)
    except Exception:
        return traceback.format_exc(limit=_KEPT_LINES)
    return ""


def set_process_limits(memory_bytes: int) -> None:
    """Limit the memory, and let the process end with its crawler: otherwise it would wait for tasks for ever.

    A limit that the process inherited is not raised. Raises TooLittleMemoryError if it is too low.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the crawler handles Ctrl-C
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    used = int(Path("/proc/self/statm").read_text("ascii").split()[0]) * resource.getpagesize()
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = used + memory_bytes if hard == resource.RLIM_INFINITY else min(used + memory_bytes, hard)
    if limit - used < min(LEAST_BYTES, memory_bytes):
        needed = -(-(used + LEAST_BYTES) // 1024)
        raise TooLittleMemoryError(f"the limit of memory (`ulimit -v`) is {hard // 1024}; at least {needed} is needed")
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _reply(run: RunTask, task: Task, encoder: msgspec.msgpack.Encoder, reply_bytes: int) -> tuple[Status, bytes]:
    try:
        result = encoder.encode(run(task))
    except MemoryError:
        return Status.NO_MEMORY, b""
    except Exception as problem:  # an error in one content must not end the parsing of others; the crawler logs it
        if isinstance(problem, ValueError) and not isinstance(task, ParseJob):
            return Status.VALUE_ERROR, str(problem)[:_MAX_MESSAGE].encode("utf-8", "replace")
        return Status.FAILED, traceback.format_exc(limit=_KEPT_LINES).encode("utf-8", "replace")
    return (Status.DONE, result) if len(result) <= reply_bytes else (Status.TOO_LARGE, b"")
