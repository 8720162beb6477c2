"""Messages between the crawler and the process that renders a page: length, then msgpack. Both sides are ours."""

from __future__ import annotations

import asyncio

import msgspec
from msgspec import Struct

LARGEST = 256 * 2**20


class RenderRequest(Struct, tag=True, kw_only=True):
    """Render this page."""

    url: str
    program: str
    sandbox: bool
    agent: str
    width: int
    height: int
    load_s: float
    settle_s: float
    memory_bytes: int
    largest_dom: int


class BrowserRequest(Struct, tag=True, kw_only=True):
    """The browser wants something from the network."""

    id: int
    url: str
    method: str
    accept: str


class BrowserResponse(Struct, tag=True, kw_only=True):
    """What the browser gets; without a status it is told that the request failed."""

    id: int
    status: int | None = None
    headers: dict[str, str] = {}
    body: bytes = b""


class RenderedPage(Struct, tag=True, kw_only=True):
    """The page as it is after its scripts ran."""

    dom: bytes
    screenshot: bytes


class RenderFailure(Struct, tag=True, kw_only=True):
    """No page; `late`: it took too long."""

    why: str
    late: bool = False


Message = RenderRequest | BrowserRequest | BrowserResponse | RenderedPage | RenderFailure

_decoder = msgspec.msgpack.Decoder(Message)


def packed(message: Message) -> bytes:
    data = msgspec.msgpack.encode(message)
    return len(data).to_bytes(4, "big") + data


async def receive(stream: asyncio.StreamReader) -> Message | None:
    """The next message; None at the end, or for what is no message."""
    try:
        size = int.from_bytes(await stream.readexactly(4), "big")
        return _decoder.decode(await stream.readexactly(size)) if size <= LARGEST else None
    except (asyncio.IncompleteReadError, OSError, msgspec.DecodeError):
        return None
