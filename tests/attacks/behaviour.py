"""`Behaviour`: what a hostile host does; and the building blocks of which most behaviours are made.

Every behaviour is bounded: `Caller` ends a connection after a number of bytes and of seconds, and a host after a number
of connections.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Literal

from msgspec import Struct

from tests.attacks.caller import Caller, Request
from tests.flows.scripted_servers import reply

OWN_DELAY_S = 2.0
"""The default of `polite.delay`: every host is promised at least this time between two requests."""

Serve = Callable[[Caller, Request], Awaitable[None]]
"""Answers a request. The connection is closed afterwards, unless the behaviour sets `caller.keep`."""
AtConnect = Callable[[Caller], Awaitable[bool]]
"""Is called when a connection was accepted; false: the connection is closed without reading a request."""
Listening = Literal["open", "refused", "full"]
"""A host accepts connections, refuses them, or lets them wait (its queue is full)."""
Tls = Literal["", "good", "expired", "other-name", "self-signed", "old"]
"""The certificate of a host, or how its handshake fails. Empty: the host does not use TLS."""


class Behaviour(Struct, frozen=True):
    """A hostile host: what it does and how it is watched."""

    name: str
    """The host is `name.test`."""
    summary: str
    serve: Serve
    """Answers requests for pages, and requests for robots.txt if `serves_robots` is set."""
    serves_robots: bool = False
    robots: str = ""
    """The robots.txt. Empty: there is none (status 404)."""
    at_connect: AtConnect | None = None
    listening: Listening = "open"
    scheme: Literal["http", "https"] = "http"
    tls: Tls = ""
    gap_s: float = OWN_DELAY_S
    """The time between two requests that the crawler promises this host."""
    path: str = "/"
    handler: str = "auto"
    site: bool = False
    """The host is watched as a site: its links are followed."""
    requisites: bool = False

    @property
    def host(self) -> str:
        return f"{self.name}.test"

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.host}{self.path}"


HTML = "text/html; charset=utf-8"
PAGE = b"<!doctype html><title>Page</title><main><p>An ordinary paragraph of an ordinary page.</p></main>"
CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n"
UNTIL_CLOSE = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"
PIECE = b"<p>An ordinary paragraph, sent without end.</p>\n" * 1300
"""About 64 KB."""

Content = bytes | Callable[[], bytes]
"""Bytes, or a function that makes them: large ones are made by the server process only (`make_contents`)."""


class _Contents:
    """The contents of all behaviours that are made by a function, each made once."""

    def __init__(self) -> None:
        self._makers: list[Callable[[], bytes]] = []
        self._made: dict[Callable[[], bytes], bytes] = {}

    def add(self, content: Content) -> Callable[[], bytes]:
        if isinstance(content, bytes):
            return lambda: content
        self._makers.append(content)
        return lambda: self._made[content]

    def make(self) -> None:
        for maker in self._makers:
            if maker not in self._made:
                self._made[maker] = maker()


_contents = _Contents()


def make_contents() -> None:
    """Make all large contents: before the hosts answer, since it takes seconds."""
    _contents.make()


def sends(wire: Content) -> Serve:
    """Sends these bytes and closes the connection."""
    made = _contents.add(wire)

    async def serve(caller: Caller, request: Request) -> None:
        await caller.send(made())

    return serve


def body(content: Content, *, kind: str = HTML, status: int = 200, **headers: Any) -> Serve:
    """Sends a response with this body and closes the connection."""
    made = _contents.add(content)

    async def serve(caller: Caller, request: Request) -> None:
        await caller.send(reply(made(), status, kind=kind, **headers).wire)

    return serve


def page(status: int = 200, **headers: Any) -> Serve:
    """Sends an ordinary page with these headers and keeps the connection."""

    async def serve(caller: Caller, request: Request) -> None:
        caller.keep = True
        await caller.send(reply(PAGE, status, **headers).wire)

    return serve


def drips(head: bytes, rest: bytes, every_s: float) -> Serve:
    """Sends the head at once and then the bytes of `rest`, over and over, one at a time."""

    async def serve(caller: Caller, request: Request) -> None:
        await caller.send(head)
        position = 0
        while True:
            await caller.pause(every_s)
            await caller.send(rest[position % len(rest) :][:1])
            position += 1

    return serve


def floods(head: bytes, piece: bytes) -> Serve:
    """Sends the head and then `piece` over and over."""

    async def serve(caller: Caller, request: Request) -> None:
        await caller.send(head)
        while True:
            await caller.send(piece)

    return serve


def moves(to: str, status: int = 302) -> Serve:
    """Redirects to a URL; see `filled` for its `{…}`."""

    async def serve(caller: Caller, request: Request) -> None:
        caller.keep = True
        await caller.send(reply("moved", status, Location=filled(to, caller, request)).wire)

    return serve


def filled(text: str, caller: Caller, request: Request) -> str:
    """The text with its `{…}` replaced by host, number of the request, port, and forbidden port."""
    values = {"host": request.host, "n": caller.number, "port": caller.port, "other_port": caller.other_port}
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", str(value))
    return text


def in_turn(*steps: Serve) -> Serve:
    """Each request of the host gets the next behaviour; the last one is repeated."""

    async def serve(caller: Caller, request: Request) -> None:
        await steps[min(caller.number, len(steps)) - 1](caller, request)

    return serve


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)
