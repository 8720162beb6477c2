"""The walk of one visit: the calls from the `crawl` command to the write to the socket (docs/why/design.md)."""

from __future__ import annotations

import asyncio
import re
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest
import uvloop

import webstrata
from webstrata.cli.crawl.crawl import command
from webstrata.flows.crawl.crawl_session import CrawlSession
from webstrata.home import Home
from webstrata.node import Node
from webstrata.records import NewPage, Page
from webstrata.settings import Settings

MAX_FRAMES = 16
SOURCE = f"{Path(webstrata.__file__).parent}/"
DESIGN = Path(__file__).parents[3] / "docs" / "why" / "design.md"
HOST = "walk.test"


class Walk:
    """The functions from the command to the first write to a socket.

    The lane of the host is a task of its own, which the crawl starts: the functions down to the crawl come before those
    of the task. The stack of the task begins with the functions that run the event loop, which both have.
    """

    def __init__(self) -> None:
        self.crawled_by: list[CodeType] = []
        self.written_by: list[CodeType] = []

    def steps(self) -> list[str]:
        in_task = [code for code in self.written_by if code not in self.crawled_by]
        walk = [*self.crawled_by, *in_task]
        return [f"{code.co_filename.removeprefix(SOURCE)} {code.co_qualname}" for code in walk]


class RecordingTransport(asyncio.Transport):
    """A transport that records the stack at the first write, and fails like a reset connection."""

    def __init__(self, transport: asyncio.Transport, walk: Walk) -> None:
        super().__init__()
        self._transport = transport
        self._walk = walk

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if not self._walk.written_by:
            self._walk.written_by = _walk_to(sys._getframe(1))
        raise ConnectionResetError("written to a recording transport")

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self._transport.get_extra_info(name, default)

    def is_closing(self) -> bool:
        return self._transport.is_closing()

    def abort(self) -> None:
        self._transport.abort()

    def close(self) -> None:
        self._transport.close()


def _recording_loop(walk: Walk) -> type[asyncio.SelectorEventLoop]:
    """An event loop whose outgoing TCP connections have recording transports."""

    class RecordingLoop(asyncio.SelectorEventLoop):
        async def create_connection(self, protocol_factory: Callable[[], Any], *args: Any, **options: Any) -> Any:
            def factory() -> asyncio.BaseProtocol:
                protocol = protocol_factory()
                connection_made = protocol.connection_made
                protocol.connection_made = lambda transport: connection_made(RecordingTransport(transport, walk))
                return protocol

            return await super().create_connection(factory, *args, **options)

    return RecordingLoop


def _walk_to(frame: FrameType) -> list[CodeType]:
    """The functions of the package on the stack up to this frame, the outermost first."""
    codes = [outer.f_code for outer in _outer_frames(frame)][::-1]
    return [code for code in codes if code.co_filename.startswith(SOURCE)]


def _outer_frames(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


@pytest.fixture
def walk(monkeypatch: pytest.MonkeyPatch) -> Walk:
    """Records the walk of a crawl."""
    recorded, claim = Walk(), CrawlSession.claim

    async def recording(self: CrawlSession, *args: Any, **options: Any) -> list[Page]:
        recorded.crawled_by = _walk_to(sys._getframe(1))
        return await claim(self, *args, **options)

    monkeypatch.setattr(CrawlSession, "claim", recording)
    return recorded


def _documented_walk() -> list[str]:
    """The numbered list of design.md, as "file function"."""
    text = DESIGN.read_text().partition("From the command to the socket")[2].partition("The lane of a host")[0]
    return [f"{file} {function}" for file, function in re.findall(r"^ *\d+\. `([^`]+)` `([^`]+)`", text, re.MULTILINE)]


def _watch(home: Home, url: str) -> None:
    async def watch() -> None:
        async with Node(home, Settings()).store() as store:
            await store.pages.add([NewPage(url=url, host=HOST)], 0.0)

    asyncio.run(watch())


def test_the_walk_from_the_command_to_the_socket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, walk: Walk) -> None:
    """From `webstrata crawl` to the write to the socket there are at most 16 functions: those that design.md lists."""
    home, _ = Home.create(tmp_path / "home")
    _watch(home, f"http://{HOST}/")
    monkeypatch.setattr(uvloop, "new_event_loop", _recording_loop(walk))
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        settings = [
            f"fetch.hosts={HOST}={address}",
            f"fetch.allow_private={address.replace(':', '/32:')}",
            "polite.obey_robots=false",  # the first request is then the page's own
        ]
        command(home=home.path, settings=settings, quiet=True)
    steps = walk.steps()
    listing = "\n".join(f"{number:2}. {step}" for number, step in enumerate(steps, 1))
    assert len(steps) <= MAX_FRAMES, f"the walk has {len(steps)} steps:\n{listing}"
    assert steps == _documented_walk(), f"the walk differs from the list in {DESIGN.name}:\n{listing}"
