"""`Caller`: one connection of the crawler as a hostile host sees it, with bounds on what the host does to it."""

from __future__ import annotations

import asyncio
import socket
import ssl
import struct
import time
from typing import NamedTuple, Protocol

MAX_BYTES = 160_000_000
"""Bytes that a host sends on one connection: more than the crawler accepts of one body."""
MAX_SECONDS = 330.0
"""Time of one connection: more than the crawler gives one response."""
MAX_HEAD = 1_000_000
BYTES_PER_S = 60_000_000
"""Bytes that all hosts together send in a second, about as many as a line of 500 Mbit/s carries."""

_SO_TIMESTAMPNS = 35
"""Linux: receive times of the kernel, so that a busy server does not falsify the gaps between requests."""


class Request(NamedTuple):
    """A request as it arrived."""

    at: float
    method: str
    host: str
    path: str
    headers: dict[str, str]


class BoundError(Exception):
    """The behaviour reached a bound: the connection is closed."""


class Throttle:
    """The line that all hosts share."""

    def __init__(self) -> None:
        self._free_at = time.monotonic()

    async def take(self, count: int) -> None:
        """Wait until the line has carried what was sent before."""
        now = time.monotonic()
        self._free_at = max(self._free_at, now) + count / BYTES_PER_S
        if self._free_at - now > 0.02:
            await asyncio.sleep(self._free_at - now)


class Wire(Protocol):
    """The bytes of a connection."""

    async def receive(self) -> tuple[bytes, float]:
        """Bytes and the time at which the last of them arrived; no bytes at the end."""
        ...

    async def send(self, data: bytes) -> None: ...

    def close(self, *, reset: bool = False) -> None: ...

    def end_sending(self) -> None: ...


class Caller:
    """A connection: the requests on it, what is sent, and how it ends."""

    def __init__(self, wire: Wire, throttle: Throttle, *, connection: int) -> None:
        self.wire = wire
        self.connection = connection
        """Number of this connection among those of the host, from 1."""
        self.number = 0
        """Number of the present request among those of the host for pages, from 1."""
        self.on_connection = 0
        """Number of the present request on this connection, from 1."""
        self.keep = False
        """The connection stays open after this response."""
        self.hold_s = 0.0
        """The response asks for a pause of this length."""
        self.sent = 0
        self.port = self.other_port = 0
        """The port of all hosts, and one that the crawler may not visit."""
        self._throttle = throttle
        self._rest = b""

    async def request(self) -> Request | None:
        """The next request, with its body; None if the crawler closed the connection."""
        at = 0.0
        while b"\r\n\r\n" not in self._rest:
            data, arrived_at = await self.wire.receive()
            if not data or len(self._rest) > MAX_HEAD:
                return None
            at = at or arrived_at
            self._rest += data
        head, _, self._rest = self._rest.partition(b"\r\n\r\n")
        request_line, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        length = int(headers.get("content-length", "0"))
        while len(self._rest) < length and (data := (await self.wire.receive())[0]):
            self._rest += data
        self._rest = self._rest[length:]
        method, path, *_ = request_line.split(" ")
        self.on_connection += 1
        return Request(at or time.time(), method, headers.get("host", "").partition(":")[0], path, headers)

    async def send(self, data: bytes) -> None:
        self.sent += len(data)
        if self.sent > MAX_BYTES:
            raise BoundError
        await self._throttle.take(len(data))
        await self.wire.send(data)

    async def pause(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def until_closed(self) -> None:
        """Wait until the crawler closes the connection."""
        while (await self.wire.receive())[0]:
            pass

    def reset(self) -> None:
        """End the connection with a reset."""
        self.wire.close(reset=True)


class SocketWire:
    """A connection without TLS, with the kernel's receive times."""

    def __init__(self, sock: socket.socket) -> None:
        sock.setblocking(False)
        sock.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
        self._sock = sock

    async def receive(self) -> tuple[bytes, float]:
        while True:
            try:
                data, extra, _, _ = self._sock.recvmsg(65536, 128)
            except BlockingIOError:
                await self._readable()
                continue
            return data, _arrival(extra)

    async def _readable(self) -> None:
        loop = asyncio.get_running_loop()
        ready = loop.create_future()

        def on_readable() -> None:
            if not ready.done():
                ready.set_result(None)

        loop.add_reader(self._sock, on_readable)
        try:
            await ready
        finally:
            loop.remove_reader(self._sock)

    async def send(self, data: bytes) -> None:
        await asyncio.get_running_loop().sock_sendall(self._sock, data)

    def close(self, *, reset: bool = False) -> None:
        if self._sock.fileno() == -1:
            return
        if reset:
            self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._sock.close()

    def end_sending(self) -> None:
        self._sock.shutdown(socket.SHUT_WR)


def _arrival(extra: list[tuple[int, int, bytes]]) -> float:
    for level, kind, data in extra:
        if (level, kind) == (socket.SOL_SOCKET, _SO_TIMESTAMPNS) and len(data) >= 16:
            seconds, nanoseconds = struct.unpack("qq", data[:16])
            return float(seconds) + nanoseconds / 1e9
    return time.time()


class TlsWire:
    """A connection with TLS on one without, so that the kernel's receive times are known as well."""

    def __init__(self, wire: SocketWire, context: ssl.SSLContext) -> None:
        self._wire = wire
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        self._received_at = 0.0

    async def handshake(self) -> None:
        """Raises ssl.SSLError or EOFError if it fails."""
        while True:
            try:
                self._tls.do_handshake()
                return
            except ssl.SSLWantReadError:
                await self._flush()
                await self._read_more()
            finally:
                await self._flush()

    async def receive(self) -> tuple[bytes, float]:
        while True:
            try:
                return self._tls.read(65536), self._received_at
            except ssl.SSLWantReadError:
                try:
                    await self._read_more()
                except EOFError:
                    return b"", self._received_at
            except ssl.SSLZeroReturnError:
                return b"", self._received_at

    async def _read_more(self) -> None:
        data, self._received_at = await self._wire.receive()
        if not data:
            raise EOFError
        self._incoming.write(data)

    async def send(self, data: bytes) -> None:
        self._tls.write(data)
        await self._flush()

    async def _flush(self) -> None:
        if self._outgoing.pending:
            await self._wire.send(self._outgoing.read())

    def close(self, *, reset: bool = False) -> None:
        self._wire.close(reset=reset)

    def end_sending(self) -> None:
        self._wire.end_sending()
