"""`ParserProcess`: a process that parses contents, and the socket pair through which it receives jobs.

Jobs and results are frames, encoded by msgspec, each after its length in eight bytes: a batch of bodies is copied once
on each side and no thread is needed. The process is killed when it takes too long; native code cannot be interrupted in
any other way.
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

Parse = Callable[[Sequence[ParseJob]], list[ParsedContent]]
ParseReply = ParsedContent | str
"""A parsed content, or the reason why it could not be parsed."""

NO_MEMORY = "parsing took more memory than allowed"

_PR_SET_PDEATHSIG = 1
_LENGTH_BYTES = 8


class ParserLostError(Exception):
    """The process ended before it replied."""


def _framed(payload: bytes) -> bytes:
    return len(payload).to_bytes(_LENGTH_BYTES, "big") + payload


# ── in the process ──────────────────────────────────────────────────────────────────────────────────────────


def serve(connection: socket.socket, parse: Parse, memory_bytes: int) -> None:
    """Parse jobs until the other end is closed. A first, empty frame says that all modules are loaded."""
    set_process_limits(memory_bytes)
    parse(())
    jobs, encode = msgspec.msgpack.Decoder(list[ParseJob]), msgspec.msgpack.Encoder().encode
    # The crawler may have ended meanwhile, even before all modules were loaded.
    with suppress(ConnectionError), connection, connection.makefile("rb", buffering=2**20) as incoming:
        connection.sendall(_framed(b""))
        while (frame := _read_frame(incoming.read)) is not None:
            replies = [_reply(parse, job) for job in jobs.decode(frame)]
            connection.sendall(_framed(encode(replies)))


def set_process_limits(memory_bytes: int) -> None:
    """Limit the memory, and let the process end with its crawler: otherwise it would wait for jobs for ever."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the crawler handles Ctrl-C
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        used = int(Path("/proc/self/statm").read_text("ascii").split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + memory_bytes, used + memory_bytes))


def _read_frame(read: Callable[[int], bytes]) -> bytes | None:
    head = read(_LENGTH_BYTES)
    return read(int.from_bytes(head, "big")) if len(head) == _LENGTH_BYTES else None


def _reply(parse: Parse, job: ParseJob) -> ParseReply:
    try:
        return parse((job,))[0]
    except MemoryError:
        return NO_MEMORY
    except Exception:  # the error of one page must not end the parsing of others; the crawler logs it
        return f"parsing failed: {traceback.format_exc(limit=-3)}"


# ── in the crawler ──────────────────────────────────────────────────────────────────────────────────────────────


class _Connection(asyncio.Protocol):
    """The crawler's end of the socket pair: replies arrive in the order of the batches that were sent."""

    def __init__(self, limit_s: float, on_ended: Callable[[], None]) -> None:
        self._limit_s = limit_s
        self._on_ended = on_ended
        self._decoder = msgspec.msgpack.Decoder(list[ParseReply])
        self._incoming = bytearray()
        self._waiting: deque[asyncio.Future[list[ParseReply]]] = deque()
        self._loaded = False
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def send(self, frame: bytes) -> asyncio.Future[list[ParseReply]]:
        reply: asyncio.Future[list[ParseReply]] = asyncio.get_running_loop().create_future()
        if self._transport.is_closing():
            reply.set_exception(ParserLostError())
            return reply
        self._transport.write(frame)
        self._waiting.append(reply)
        if self._timer is None:
            self._start_timer()
        return reply

    def data_received(self, data: bytes) -> None:
        self._incoming += data
        while (frame := self._next_frame()) is not None:
            if not self._loaded:
                self._loaded = True
            elif not (reply := self._waiting.popleft()).done():
                reply.set_result(self._decoder.decode(frame))
            self._start_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._fail(ParserLostError())
        self._on_ended()

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

    def _start_timer(self) -> None:
        """Start the time limit of the batch that is parsed next; the start of the process does not count."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._loaded and self._waiting:
            self._timer = asyncio.get_running_loop().call_later(self._limit_s, self._time_out)

    def _time_out(self) -> None:
        if self._waiting and not (first := self._waiting.popleft()).done():
            first.set_exception(TimeoutError())
        self._transport.abort()
        self._fail(ParserLostError())
        self._on_ended()

    def _fail(self, problem: Exception) -> None:
        if self._timer is not None:
            self._timer.cancel()
        while self._waiting:
            if not (reply := self._waiting.popleft()).done():
                reply.set_exception(problem)


class ParserProcess:
    """A process that is started when it is first needed, and again after it ended."""

    def __init__(self, parse: Parse, *, limit_s: float, memory_bytes: int, is_forked: bool = False) -> None:
        """`limit_s` is the time limit of one batch, from the start of its parsing; `is_forked`: see `ParserPool`."""
        self._parse = parse
        self._is_forked = is_forked and sys.platform == "linux"
        self._limit_s = limit_s
        self._memory_bytes = memory_bytes
        self._encode = msgspec.msgpack.Encoder(enc_hook=int).encode  # settings may be subclasses of int
        self._process: BaseProcess | None = None
        self._socket: socket.socket | None = None
        self._connecting: asyncio.Future[_Connection] | None = None
        self.pending = 0
        """Batches without a reply so far."""

    @property
    def is_running(self) -> bool:
        return self._process is not None

    def start(self) -> None:
        if self._process is not None:
            return
        own_end, child_end = socket.socketpair()
        may_fork = self._is_forked and threading.active_count() == 1
        spawn, fork = multiprocessing.get_context("spawn").Process, multiprocessing.get_context("fork").Process
        arguments = (child_end, self._parse, self._memory_bytes)
        make: type[BaseProcess] = fork if may_fork else spawn
        self._process = make(target=serve, args=arguments, name="webstrata-parser", daemon=True)
        with warnings.catch_warnings():  # Python 3.12 warns of NumPy's idle threads
            warnings.simplefilter("ignore", DeprecationWarning)
            self._process.start()
        child_end.close()
        own_end.setblocking(False)
        self._socket = own_end

    async def parse(self, jobs: Sequence[ParseJob]) -> list[ParseReply]:
        """One reply for each job. Raises TimeoutError or ParserLostError if the process ended."""
        self.pending += 1
        try:
            connection = await self._connected()
            return await connection.send(_framed(self._encode(jobs)))
        finally:
            self.pending -= 1

    def end(self) -> None:
        """Kill the process at once."""
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

    async def _connected(self) -> _Connection:
        self.start()
        if self._connecting is None:
            self._connecting = asyncio.ensure_future(self._connect())
        return await asyncio.shield(self._connecting)

    async def _connect(self) -> _Connection:
        assert self._socket is not None
        loop = asyncio.get_running_loop()
        process = self._process

        def on_ended() -> None:
            if self._process is process:  # not the process that replaced it
                self.end()

        _, connection = await loop.create_unix_connection(
            lambda: _Connection(self._limit_s, on_ended), sock=self._socket
        )
        return connection
