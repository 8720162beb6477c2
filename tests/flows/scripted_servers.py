"""`ScriptedServers`: web servers on loopback addresses with scripted replies and a log of all requests.

Each URL has a list of replies; the last one is repeated. Paths without replies, robots.txt as well, return 404. Times
are those of the crawler's clock.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from types import TracebackType
from typing import Any, Literal, NamedTuple

from webstrata.ports import Clock

_TLS = b"\x16"
"""First byte of a TLS handshake, which these servers do not support."""

After = Literal["keep", "close", "stall"]


class Reply(NamedTuple):
    """The bytes that are sent, and what happens to the connection after them."""

    wire: bytes
    after: After = "keep"


class ReceivedRequest(NamedTuple):
    """One request in the log."""

    at: float
    host: str
    path: str
    headers: dict[str, str]


Script = Reply | Callable[[ReceivedRequest], Reply]


def reply(
    body: bytes | str = b"",
    status: int = 200,
    *,
    length: int | None = None,
    after: After = "keep",
    kind: str = "text/html; charset=utf-8",
    **headers: str,
) -> Reply:
    """A well-formed reply; `length` may be wrong. Header names are written with `_` for `-`."""
    content = body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status} Whatever"]
    if kind:
        lines.append(f"Content-Type: {kind}")
    if status not in (204, 304):
        lines.append(f"Content-Length: {len(content) if length is None else length}")
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return Reply("\r\n".join([*lines, "", ""]).encode("latin-1") + content, after)


def moved(to: str, status: int = 301) -> Reply:
    return reply(f"moved to {to}", status, Location=to)


def robots(text: str, status: int = 200, **headers: Any) -> Reply:
    return reply(text, status, kind="text/plain", **headers)


class ScriptedServers:
    """Use as `async with ScriptedServers(clock, {"a.test": "127.0.0.2"}) as servers:`; hosts may share an address."""

    def __init__(self, clock: Clock, hosts: dict[str, str]) -> None:
        self._clock = clock
        self._addresses = hosts
        self._scripts: dict[tuple[str, str], list[Script]] = {}
        self._servers: list[asyncio.Server] = []
        self._ports: dict[str, int] = {}
        self._connections: set[asyncio.Task[None]] = set()
        self.received: list[ReceivedRequest] = []

    # ── replies and the log of requests ───────────────────────────────────────────────────────────

    def serve(self, url: str, *script: Script) -> None:
        """From now on requests of the URL get these replies, one after the other."""
        host, _, path = url.removeprefix("http://").partition("/")
        self._scripts[host, "/" + path] = list(script)

    def requests(self, host: str = "", path: str = "") -> list[ReceivedRequest]:
        return [request for request in self.received if host in ("", request.host) and path in ("", request.path)]

    def times(self, host: str = "") -> list[float]:
        return [request.at for request in self.requests(host)]

    def paths(self, host: str = "") -> list[str]:
        return [request.path for request in self.requests(host)]

    @property
    def hosts(self) -> dict[str, str]:
        return {host: f"{address}:{self._ports[address]}" for host, address in self._addresses.items()}

    @property
    def exceptions(self) -> tuple[str, ...]:
        return tuple(f"{address}/32:{port}" for address, port in self._ports.items())

    # ── serving ─────────────────────────────────────────────────────────────────────────────────────────────

    async def __aenter__(self) -> ScriptedServers:
        for address in sorted(set(self._addresses.values())):
            server = await asyncio.start_server(self._serve_connection, address, 0)
            self._servers.append(server)
            self._ports[address] = server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Stop listening: further connections are refused."""
        for server in self._servers:
            server.close()
        for connection in self._connections:
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        for server in self._servers:
            await server.wait_closed()
        self._servers.clear()

    async def _serve_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
                while await self._answer(reader, writer):
                    pass
        finally:
            self._connections.discard(task)
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        first = await reader.readexactly(1)
        if first == _TLS:
            writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            return False
        head = (first + await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        request_line, *lines = head.strip().split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        request = ReceivedRequest(self._clock.now(), headers["host"], request_line.split(" ")[1], headers)
        self.received.append(request)
        script = self._scripts.get((request.host, request.path), [reply("nothing here", 404)])
        step = script.pop(0) if len(script) > 1 else script[0]
        chosen = step if isinstance(step, Reply) else step(request)
        writer.write(chosen.wire)
        await writer.drain()
        if chosen.after == "stall":
            await asyncio.Event().wait()
        return chosen.after == "keep"
