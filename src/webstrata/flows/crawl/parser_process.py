"""One reader: a process that reads contents, and the socket on which it is asked.

Jobs go there and looks come back in frames, eight bytes of length before each, packed by msgspec: a batch of bodies is
copied once on each side and no thread of ours is needed in between. The process is ended when it takes too long;
native code cannot be interrupted in any other way.
"""

from __future__ import annotations

import asyncio
import ctypes
import multiprocessing
import resource
import signal
import socket
import sys
import threading
import traceback
import warnings
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import cast

import msgspec

from webstrata.flows.crawl.parse import ParsedContent, ParseJob

Read = Callable[[Sequence[ParseJob]], list[ParsedContent]]
Answer = ParsedContent | str
"""A look, or why there is none."""

NO_MEMORY = "reading it took more memory than it may"

_PR_SET_PDEATHSIG = 1
_LENGTH_BYTES = 8


class ParserLostError(Exception):
    """The process ended before it answered."""


def _framed(payload: bytes) -> bytes:
    return len(payload).to_bytes(_LENGTH_BYTES, "big") + payload


# ── in the process ──────────────────────────────────────────────────────────────────────────────────────────


def serve(asked: socket.socket, read: Read, memory_bytes: int) -> None:
    """Read what is asked for until nobody asks any more. The first frame back says that all is loaded."""
    _begin(memory_bytes)
    read(())
    jobs, encode = msgspec.msgpack.Decoder(list[ParseJob]), msgspec.msgpack.Encoder().encode
    # Who asked may have ended meanwhile, even before all was loaded: nobody is left to be told.
    with suppress(ConnectionError), asked, asked.makefile("rb", buffering=2**20) as incoming:
        asked.sendall(_framed(b""))
        while (frame := _frame(incoming.read)) is not None:
            answers = [_answer(read, job) for job in jobs.decode(frame)]
            asked.sendall(_framed(encode(answers)))


def _begin(memory_bytes: int) -> None:
    """The reader ends with its crawler: one whose crawler was killed would wait for work for ever."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the crawler's to handle
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        used = int(Path("/proc/self/statm").read_text("ascii").split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + memory_bytes, used + memory_bytes))


def _frame(take: Callable[[int], bytes]) -> bytes | None:
    head = take(_LENGTH_BYTES)
    return take(int.from_bytes(head, "big")) if len(head) == _LENGTH_BYTES else None


def _answer(read: Read, job: ParseJob) -> Answer:
    try:
        return read((job,))[0]
    except MemoryError:
        return NO_MEMORY
    except Exception:  # one page's fault must not end the reading of others: it is told, and logged by who asked
        return f"reading it failed: {traceback.format_exc(limit=-3)}"


# ── beside it ───────────────────────────────────────────────────────────────────────────────────────────────


class _Wire(asyncio.Protocol):
    """Answers as they come, for the batches that wait for them in order."""

    def __init__(self, limit_s: float, ended: Callable[[], None]) -> None:
        self._limit_s = limit_s
        self._ended = ended
        self._looks = msgspec.msgpack.Decoder(list[Answer])
        self._incoming = bytearray()
        self._waiting: deque[asyncio.Future[list[Answer]]] = deque()
        self._loaded = False
        self._watch: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def ask(self, frame: bytes) -> asyncio.Future[list[Answer]]:
        answer: asyncio.Future[list[Answer]] = asyncio.get_running_loop().create_future()
        if self._transport.is_closing():
            answer.set_exception(ParserLostError())
            return answer
        self._transport.write(frame)
        self._waiting.append(answer)
        if self._watch is None:
            self._watch_next()
        return answer

    def data_received(self, data: bytes) -> None:
        self._incoming += data
        while (frame := self._next_frame()) is not None:
            if not self._loaded:
                self._loaded = True
            elif not (answer := self._waiting.popleft()).done():
                answer.set_result(self._looks.decode(frame))
            self._watch_next()

    def connection_lost(self, exc: Exception | None) -> None:
        self._fail(ParserLostError())
        self._ended()

    def close(self) -> None:
        self._transport.abort()

    def _next_frame(self) -> bytes | None:
        incoming = self._incoming
        end = _LENGTH_BYTES + int.from_bytes(incoming[:_LENGTH_BYTES], "big")
        if len(incoming) < max(end, _LENGTH_BYTES):
            return None
        frame = bytes(incoming[_LENGTH_BYTES:end])
        del incoming[:end]
        return frame

    def _watch_next(self) -> None:
        """The time of the batch that is being read begins; starting the process takes its own time."""
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None
        if self._loaded and self._waiting:
            self._watch = asyncio.get_running_loop().call_later(self._limit_s, self._too_long)

    def _too_long(self) -> None:
        if self._waiting and not (first := self._waiting.popleft()).done():
            first.set_exception(TimeoutError())
        self._transport.abort()
        self._fail(ParserLostError())
        self._ended()

    def _fail(self, why: Exception) -> None:
        if self._watch is not None:
            self._watch.cancel()
        while self._waiting:
            if not (answer := self._waiting.popleft()).done():
                answer.set_exception(why)


class ParserProcess:
    """A process that is started when first needed, and again after it was ended."""

    def __init__(self, read: Read, *, limit_s: float, memory_bytes: int, is_forked: bool = False) -> None:
        """`limit_s` is for one batch, from when its reading begins; `is_forked`: see `Readers`."""
        self._read = read
        self._is_forked = is_forked and sys.platform == "linux"
        self._limit_s = limit_s
        self._memory_bytes = memory_bytes
        self._encode = msgspec.msgpack.Encoder(enc_hook=int).encode  # settings hand on whole numbers of their own type
        self._process: BaseProcess | None = None
        self._socket: socket.socket | None = None
        self._connecting: asyncio.Future[_Wire] | None = None
        self.asked = 0
        """Batches that it has not answered yet."""

    @property
    def is_running(self) -> bool:
        return self._process is not None

    def start(self) -> None:
        if self._process is not None:
            return
        ours, theirs = socket.socketpair()
        may_fork = self._is_forked and threading.active_count() == 1
        spawn, fork = multiprocessing.get_context("spawn").Process, multiprocessing.get_context("fork").Process
        arguments = (theirs, self._read, self._memory_bytes)
        make: type[BaseProcess] = fork if may_fork else spawn
        self._process = make(target=serve, args=arguments, name="webstrata-reader", daemon=True)
        with warnings.catch_warnings():  # Python 3.12 warns of NumPy's threads, which have nothing to do and survive
            warnings.simplefilter("ignore", DeprecationWarning)
            self._process.start()
        theirs.close()
        ours.setblocking(False)
        self._socket = ours

    async def read(self, jobs: Sequence[ParseJob]) -> list[Answer]:
        """One answer for each job. TimeoutError or ReaderLostError if the process is no more."""
        self.asked += 1
        try:
            wire = await self._connected()
            return await wire.ask(_framed(self._encode(jobs)))
        finally:
            self.asked -= 1

    def end(self) -> None:
        """End the process, whatever it does; at once."""
        process, connecting, sock = self._process, self._connecting, self._socket
        self._process = self._connecting = self._socket = None
        if process is not None:
            process.kill()
            process.join()
            process.close()
        if connecting is not None and connecting.done() and not connecting.cancelled() and not connecting.exception():
            connecting.result().close()
        elif sock is not None:
            sock.close()

    async def _connected(self) -> _Wire:
        self.start()
        if self._connecting is None:
            self._connecting = asyncio.ensure_future(self._connect())
        return await asyncio.shield(self._connecting)

    async def _connect(self) -> _Wire:
        assert self._socket is not None
        loop = asyncio.get_running_loop()
        process = self._process

        def ended() -> None:
            if self._process is process:  # not one that was started in its place
                self.end()

        _, wire = await loop.create_unix_connection(lambda: _Wire(self._limit_s, ended), sock=self._socket)
        return wire
