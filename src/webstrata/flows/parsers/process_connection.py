"""`ProcessConnection`: the crawler's end of the socket to a parser process, and what travels on it."""

from __future__ import annotations

import asyncio
from typing import NamedTuple, Protocol, cast

from webstrata.flows.parsers.child import REPLY, Status
from webstrata.flows.parsers.tasks import Task


class Reply(NamedTuple):
    """The reply to a task: the encoded result, or a message."""

    status: Status
    payload: bytes


class QueuedTask:
    """A task, its lane, and the future of its reply."""

    __slots__ = ("future", "lane", "size", "task")

    def __init__(self, task: Task, lane: str) -> None:
        self.task = task
        self.lane = lane
        self.size = len(task.body)
        self.future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()

    def resolve(self, reply: Reply | Exception) -> None:
        if self.future.done():
            return
        if isinstance(reply, Exception):
            self.future.set_exception(reply)
        else:
            self.future.set_result(reply)


class ProcessEnd(NamedTuple):
    """Why a process ended."""

    reason: str
    is_own_fault: bool = False
    """The process could not start: this says nothing about the content."""


class RepliedTo(Protocol):
    """Receives what arrives on a connection: `ParserProcess`."""

    def received(self, reply: Reply) -> None: ...

    def received_all(self) -> None:
        """All replies that have arrived so far are reported."""
        ...

    def lost(self, why: ProcessEnd) -> None: ...


class ProcessConnection(asyncio.Protocol):
    """The crawler's end of the socket pair."""

    def __init__(self, process: RepliedTo, reply_bytes: int) -> None:
        self._process = process
        self._reply_bytes = reply_bytes
        self._incoming = bytearray()
        self.is_closed = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        incoming = self._incoming
        incoming += data
        start = 0
        while len(incoming) - start >= REPLY.size:
            length, status = REPLY.unpack_from(incoming, start)
            if length > self._reply_bytes:
                self._process.lost(ProcessEnd("parsing had a result that is too large"))
                return
            end = start + REPLY.size + length
            if len(incoming) < end:
                break
            self._process.received(Reply(Status(status), bytes(memoryview(incoming)[start + REPLY.size : end])))
            start = end
            if self.is_closed:
                return
        del incoming[:start]
        self._process.received_all()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.is_closed:
            self._process.lost(ProcessEnd("parsing ended the parser process"))

    def close(self) -> None:
        self.is_closed = True
        self.transport.abort()
