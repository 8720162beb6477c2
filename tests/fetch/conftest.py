"""A server that sends scripted bytes, and an `HttpWeb` that may connect to it."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import struct
import threading
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
import uvloop

from webstrata.clock import RealClock
from webstrata.fetch.http.client import HttpWeb
from webstrata.fetch.http.guard import AddressGuard
from webstrata.fetch.http.request import FetchLimits
from webstrata.records import Exchange, Permit, Validators

AGENT = "webstrata-test/1 (+https://example.org/bot)"
QUICK = FetchLimits(connect_s=2.0, first_byte_s=1.0, total_s=2.0)


class Conversation:
    """The server side of one connection."""

    def __init__(self, sock: socket.socket, server: PlayedServer) -> None:
        self._sock = sock
        self._server = server
        self._rest = b""

    def request(self) -> bytes:
        """The head of the next request; empty if the client has disconnected."""
        while b"\r\n\r\n" not in self._rest:
            data = self._sock.recv(65536)
            if not data:
                return b""
            self._rest += data
        head, _, self._rest = self._rest.partition(b"\r\n\r\n")
        self._server.requests.append(head + b"\r\n\r\n")
        return head

    def send(self, data: bytes) -> None:
        self._sock.sendall(data)

    def reset(self) -> None:
        """Reset the connection (RST)."""
        self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def wait_for_close(self) -> None:
        while self._sock.recv(65536):
            pass

    def pause(self, seconds: float) -> bool:
        """Wait in real time; false if the server is to stop."""
        return not self._server.stopping.wait(seconds)


Script = Callable[[Conversation], None]


class PlayedServer:
    """Listens on a loopback address and runs a script for every connection."""

    def __init__(self, script: Script, address: str, tls: ssl.SSLContext | None) -> None:
        self.requests: list[bytes] = []
        self.connections = 0
        self.stopping = threading.Event()
        self._script = script
        self._tls = tls
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self._listener = socket.create_server((address, 0), family=family)
        self.address, self.port = self._listener.getsockname()[:2]
        self._threads: list[threading.Thread] = []
        self._open: list[socket.socket] = []
        self._start(self._accept)

    def _start(self, target: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=target, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            self._open.append(sock)
            self._start(self._converse, sock)

    def _converse(self, sock: socket.socket) -> None:
        try:
            if self._tls is not None:
                sock = self._tls.wrap_socket(sock, server_side=True)
            with sock:
                self._script(Conversation(sock, self))
        except OSError:
            pass  # the client may disconnect at any time
        finally:
            sock.close()

    def stop(self) -> None:
        self.stopping.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for sock in self._open:
            with contextlib.suppress(OSError):  # closed already
                sock.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(5)

    def permit(self, path: str = "/", *, scheme: str = "http", host: str = "", **changes: Any) -> Permit:
        """A permit to request a path of this server, under any host name."""
        literal = f"[{self.address}]" if ":" in self.address else self.address
        authority = f"{host or literal}:{self.port}"
        values: dict[str, Any] = {
            "url": f"{scheme}://{authority}{path}",
            "origin": f"{scheme}://{authority}",
            "host": host or self.address,
            "address": self.address,
            "port": self.port,
            "agent": AGENT,
            "granted_at": 0.0,
        }
        return Permit(**(values | changes))


def answering(*answers: bytes, then_close: bool = False) -> Script:
    """A script that sends one response to each request on a connection, and then repeats the last one."""

    def script(peer: Conversation) -> None:
        remaining = list(answers)
        while peer.request():
            peer.send(remaining[0])
            if len(remaining) > 1:
                remaining.pop(0)
            elif then_close:
                return

    return script


@pytest.fixture
def play() -> Iterator[Callable[..., PlayedServer]]:
    """Starts servers: `play(script)`, or `play(b"…")`, which sends the bytes and closes the connection."""
    servers: list[PlayedServer] = []

    def start(script: Script | bytes, *, address: str = "127.0.0.1", tls: ssl.SSLContext | None = None) -> PlayedServer:
        if isinstance(script, bytes):
            script = answering(script, then_close=True)
        servers.append(PlayedServer(script, address, tls))
        return servers[-1]

    yield start
    for server in servers:
        server.stop()


def with_web(
    use: Callable[[HttpWeb], Awaitable[Any]],
    *,
    limits: FetchLimits = QUICK,
    allow: tuple[str, ...] = ("127.0.0.0/8:*", "[::1]:*"),
    **arguments: Any,
) -> Any:
    """Run a coroutine function with a new `HttpWeb` that may connect to loopback addresses, on uvloop."""

    async def main() -> Any:
        web = HttpWeb(RealClock(), AddressGuard(allow), limits, **arguments)
        try:
            return await use(web)
        finally:
            await web.close()

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(main())


def fetch(permit: Permit, *, validators: Validators | None = None, accept: str = "*/*", **options: Any) -> Exchange:
    """One exchange with a new `HttpWeb`."""

    async def use(web: HttpWeb) -> Exchange:
        return await web.fetch(permit, validators=validators, accept=accept)

    exchange = with_web(use, **options)
    assert isinstance(exchange, Exchange)
    return exchange
