"""The messages between the crawler and the process that renders a page: a length, then msgpack."""

from __future__ import annotations

import asyncio

import msgspec
from msgspec import Struct

MAX_MESSAGE = 256 * 2**20


class RenderRequest(Struct, tag=True, kw_only=True):
    """To the process: render this page."""

    url: str
    program: str
    sandbox: bool
    agent: str
    width: int
    height: int
    load_s: float
    settle_s: float
    memory_bytes: int
    max_dom_bytes: int


class BrowserRequest(Struct, tag=True, kw_only=True):
    """To the crawler: a request of the browser."""

    id: int
    url: str
    method: str
    accept: str


class BrowserResponse(Struct, tag=True, kw_only=True):
    """To the process: the response for the browser; without a status the request has failed."""

    id: int
    status: int | None = None
    headers: dict[str, str] = {}
    body: bytes = b""


class RenderedPage(Struct, tag=True, kw_only=True):
    """To the crawler: the page after its scripts ran."""

    dom: bytes
    screenshot: bytes


class RenderFailure(Struct, tag=True, kw_only=True):
    """To the crawler: why the page was not rendered."""

    reason: str
    timed_out: bool = False


Message = RenderRequest | BrowserRequest | BrowserResponse | RenderedPage | RenderFailure

_decoder = msgspec.msgpack.Decoder(Message)


def packed(message: Message) -> bytes:
    """The message as it is written to the pipe."""
    data = msgspec.msgpack.encode(message)
    return len(data).to_bytes(4, "big") + data


async def receive(stream: asyncio.StreamReader) -> Message | None:
    """The next message; None at the end of the stream, and for invalid data."""
    try:
        size = int.from_bytes(await stream.readexactly(4), "big")
        return _decoder.decode(await stream.readexactly(size)) if size <= MAX_MESSAGE else None
    except (asyncio.IncompleteReadError, OSError, msgspec.DecodeError):
        return None
