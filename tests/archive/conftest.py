"""Test captures, archives written from them, and the tools of other projects that validate them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from webstrata.archive.warc.archive import WarcArchive
from webstrata.archive.warc.check import ArchiveCheck
from webstrata.archive.warc.record import sha1
from webstrata.clock import ManualClock
from webstrata.records import Capture, CheckResult, Exchange, Original, Position

START_AT = 1_790_000_000.25
PEERS = Path(__file__).parents[2] / ".peers" / "bin"

HEAD = (
    b"HTTP/1.1 200 OK\r\nServer: nginx\r\nContent-Type: text/html; charset=utf-8\r\n"
    b"Date: Tue, 01 Sep 2026 00:00:00 GMT\r\n\r\n"
)
REQUEST = b"GET / HTTP/1.1\r\nHost: example.com\r\nUser-Agent: webstrata/0.1 (+mailto:me@example.com)\r\n\r\n"


class Home(NamedTuple):
    """The folders of an archive that was written and closed."""

    archive: Path
    index: Path  # type: ignore[assignment]  # tuples have a method of this name
    positions: list[Position]

    @property
    def warc(self) -> Path:
        (only,) = self.archive.glob("*.warc.gz")
        return only

    @property
    def segment(self) -> Path:
        (only,) = self.index.glob("*.cdxj")
        return only


def make_capture(
    url: str = "http://example.com/",
    body: bytes = b"<title>hello</title>",
    at: float = START_AT,
    **changes: Any,
) -> Capture:
    fields: dict[str, Any] = {
        "url": url,
        "at": at,
        "duration_s": 0.1,
        "request_head": REQUEST,
        "address": "192.0.2.7",
        "status": 200,
        "response_head": HEAD,
        "body": body,
    }
    return Capture(exchange=Exchange(**(fields | changes)), payload=sha1(body))


def original_of(capture: Capture, position: Position) -> Original:
    return Original(
        payload=capture.payload,
        record_id=position.record_id,
        at=capture.exchange.at,
        url=capture.exchange.url,
        file=position.file,
        offset=position.offset,
    )


def revisit_of(original: Original, body: bytes, at: float, **changes: Any) -> Capture:
    capture = make_capture(changes.pop("url", original.url), body, at, **changes)
    return Capture(exchange=capture.exchange, payload=original.payload, original=original)


def open_archive(folder: Path, **options: Any) -> WarcArchive:
    defaults: dict[str, Any] = {
        "software": "webstrata/0.1",
        "operator": "A. Archivist",
        "node_name": "node-1",
        "clock": ManualClock(START_AT),
        "fsync": False,
    }
    return WarcArchive(folder / "archive", **(defaults | options))


def write_home(folder: Path, *batches: Sequence[Capture], **options: Any) -> Home:
    async def write() -> list[Position]:
        archive = open_archive(folder, **options)
        positions = [position for batch in batches for position in await archive.append(batch)]
        await archive.close()
        return positions

    return Home(folder / "archive", folder / "index", asyncio.run(write()))


def write_family(folder: Path, **options: Any) -> tuple[Home, list[Capture]]:
    """An archive of two pages, a revisit of the first one with the same content, and another one with status 304."""

    async def write() -> tuple[list[Position], list[Capture]]:
        archive = open_archive(folder, **options)
        first = make_capture("http://example.com/a", b"<p>first page" * 20)
        second = make_capture("http://example.com/b?y=2&x=1", b"<p>second page" * 20, START_AT + 1)
        positions = await archive.append([first, second])
        original = original_of(first, positions[0])
        again = revisit_of(original, first.exchange.body, START_AT + 3600)
        unmodified = revisit_of(
            original,
            b"",
            START_AT + 7200,
            status=304,
            response_head=b'HTTP/1.1 304 Not Modified\r\nETag: "a"\r\n\r\n',
        )
        positions += await archive.append([again, unmodified])
        await archive.close()
        return positions, [first, second, again, unmodified]

    positions, captures = asyncio.run(write())
    return Home(folder / "archive", folder / "index", positions), captures


def check_files(
    archive_folder: Path,
    index_folder: Path,
    positions: Iterable[tuple[Position, str | None]] = (),
    **options: Any,
) -> CheckResult:
    """Check all files of an archive, then positions with their payload digests."""
    check = ArchiveCheck(archive_folder, index_folder, **options)
    check.run()
    for position, payload in positions:
        check.check_position(position, payload)
    return check.result


@pytest.fixture(scope="session")
def peer() -> Callable[[str], str]:
    """Finds a tool of another project in `.peers`; the test fails if the tool is missing."""

    def find(name: str) -> str:
        tool = PEERS / name
        if not tool.exists():
            pytest.fail(f"{name} is not installed in .peers; run `make test` once to install it")
        return str(tool)

    return find
