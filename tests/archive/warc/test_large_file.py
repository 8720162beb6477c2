"""A body that is not in memory gets a WARC file of its own, which is written while batches are appended."""

from __future__ import annotations

import asyncio
import os
import threading
from base64 import b32encode
from collections.abc import Iterator
from hashlib import sha1, sha256
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from warcio.archiveiterator import ArchiveIterator

from tests.archive.conftest import make_capture
from webstrata.archive.export import OpenArchive, Selection, export_warc
from webstrata.archive.index.segment import reindex
from webstrata.archive.wacz.pages import PackagePages
from webstrata.archive.wacz.writer import PackageOrder, export_wacz
from webstrata.archive.warc.archive import WarcArchive
from webstrata.archive.warc.check import ArchiveCheck
from webstrata.archive.warc.repair import repair_archive
from webstrata.clock import ManualClock
from webstrata.errors import ArchiveError
from webstrata.records import Capture

NOW = 1_790_000_000.0
BLOCK = os.urandom(50_000)
LIMIT = 1_000_000
"""What readers hold in memory in these tests."""


class TestBody:
    """A large body of which the test decides when its last piece comes."""

    __test__ = False

    def __init__(self, count: int = 60) -> None:
        self.size = count * len(BLOCK)
        self.began = threading.Event()
        self.may_end = threading.Event()
        self.may_end.set()

    def pieces(self) -> Iterator[bytes]:
        for number in range(self.size // len(BLOCK)):
            if number == 1:
                self.began.set()
                self.may_end.wait(60)
            yield BLOCK

    @property
    def content(self) -> bytes:
        return BLOCK * (self.size // len(BLOCK))

    @property
    def payload(self) -> str:
        return "sha1:" + b32encode(sha1(self.content, usedforsecurity=False).digest()).decode()

    @property
    def sha256(self) -> str:
        return sha256(self.content).hexdigest()


def large_capture(body: TestBody, url: str = "http://example.com/large") -> Capture:
    capture = make_capture(url, b"")
    return replace(capture, exchange=replace(capture.exchange, large=body), payload=body.payload)


def archive_in(folder: Path, **options: Any) -> WarcArchive:
    return WarcArchive(
        folder / "archive",
        software="test/1",
        operator=None,
        node_name="node-1",
        clock=ManualClock(NOW),
        max_body_bytes=LIMIT,
        **options,
    )


def test_file_is_valid(tmp_path: Path) -> None:
    """warcio and our check accept the file, reading gives the body back, and the index is as reindexing makes it."""
    body = TestBody()

    async def use() -> None:
        archive = archive_in(tmp_path)
        (small,) = await archive.append([make_capture()])
        position = await archive.append_large(large_capture(body))
        assert position.file != small.file
        stored = await archive.read(position)
        assert stored.large is not None
        assert (stored.body, stored.large.size) == (b"", body.size)
        assert b"".join(stored.large.pieces()) == body.content
        assert (stored.large.payload, stored.large.sha256) == (body.payload, body.sha256)
        await archive.close()

    asyncio.run(use())
    kinds = []
    for path in sorted((tmp_path / "archive").iterdir()):
        with path.open("rb") as file:
            for record in ArchiveIterator(file, check_digests=True):
                record.content_stream().read()
                assert record.digest_checker.passed is True
                kinds.append(record.rec_type)
    assert kinds == ["warcinfo", "response", "request"] * 2
    result = ArchiveCheck(tmp_path / "archive", tmp_path / "index").run()
    assert (result.records, result.findings) == (6, [])
    before = {path.name: path.read_bytes() for path in (tmp_path / "index").iterdir()}
    reindex(tmp_path / "archive", tmp_path / "index")
    assert {path.name: path.read_bytes() for path in (tmp_path / "index").iterdir()} == before


def test_batches_do_not_wait(tmp_path: Path) -> None:
    """While a large body is written, a batch is appended and synced."""
    body = TestBody()
    body.may_end.clear()

    async def use() -> None:
        archive = archive_in(tmp_path)
        writing = asyncio.create_task(archive.append_large(large_capture(body)))
        await asyncio.to_thread(body.began.wait, 60)
        (position,) = await archive.append([make_capture()])
        assert (await archive.read(position)).body == make_capture().exchange.body
        assert not writing.done()
        body.may_end.set()
        assert (await archive.read(await writing)).large is not None
        await archive.close()

    asyncio.run(use())


def test_large_body_in_a_batch(tmp_path: Path) -> None:
    """A batch may hold a large body, too; its other captures are written as ever."""
    body = TestBody()

    async def use() -> None:
        archive = archive_in(tmp_path)
        captures = [make_capture("http://example.com/a"), large_capture(body), make_capture("http://example.com/b")]
        positions = await archive.append(captures)
        assert [(await archive.read(position)).url for position in positions] == [
            capture.exchange.url for capture in captures
        ]
        assert positions[0].file == positions[2].file != positions[1].file
        await archive.close()

    asyncio.run(use())
    assert ArchiveCheck(tmp_path / "archive", tmp_path / "index").run().findings == []


@pytest.mark.parametrize("ends_by", ["cancel", "close"])
def test_stopped_file_is_removed(ends_by: str, tmp_path: Path) -> None:
    """If the crawl stops while a large body is written, nothing of it stays."""
    body = TestBody()
    body.may_end.clear()

    async def use() -> None:
        archive = archive_in(tmp_path)
        writing = asyncio.create_task(archive.append_large(large_capture(body)))
        await asyncio.to_thread(body.began.wait, 60)
        if ends_by == "cancel":
            writing.cancel()
            await asyncio.gather(writing, return_exceptions=True)
            body.may_end.set()
            await archive.close()
        else:
            closing = asyncio.create_task(archive.close())
            await asyncio.sleep(0)
            body.may_end.set()
            await closing
            with pytest.raises(ArchiveError, match="stopped"):
                await writing

    asyncio.run(use())
    assert list((tmp_path / "archive").iterdir()) == []


def test_killed_in_the_middle(tmp_path: Path) -> None:
    """What a killed process leaves is removed at the next start; a file without its index segment gets one."""
    body = TestBody()

    async def use() -> None:
        archive = archive_in(tmp_path)
        await archive.append_large(large_capture(body))
        await archive.close()

    asyncio.run(use())
    (file,) = (tmp_path / "archive").iterdir()
    (segment,) = (tmp_path / "index").iterdir()
    expected = segment.read_bytes()
    segment.unlink()
    (tmp_path / "archive" / "webstrata-1-large-00007.warc.gz.part").write_bytes(file.read_bytes()[:1_000_000])
    repair_archive(tmp_path / "archive", tmp_path / "index")
    assert list((tmp_path / "archive").iterdir()) == [file]
    assert segment.read_bytes() == expected
    assert ArchiveCheck(tmp_path / "archive", tmp_path / "index").run().findings == []


def test_too_little_space(tmp_path: Path) -> None:
    """A body is not begun if it would not leave the reserve."""
    body = TestBody()

    async def use() -> None:
        archive = archive_in(tmp_path, reserve=1000, free=lambda folder: body.size + 999)
        with pytest.raises(ArchiveError, match=r"archive\.reserve"):
            await archive.append_large(large_capture(body))
        await archive.close()

    asyncio.run(use())
    assert not list((tmp_path / "archive").glob("*"))


def test_check_finds_a_wrong_byte(tmp_path: Path) -> None:
    """`check` compares the digests of a record that it does not hold in memory."""
    body = TestBody(400)  # 20 MB: more than the check keeps

    class Liar(TestBody):
        payload = TestBody(1).payload

    liar = Liar(400)

    async def use() -> None:
        archive = archive_in(tmp_path)
        await archive.append_large(large_capture(body))
        await archive.append_large(large_capture(liar))
        await archive.close()

    asyncio.run(use())
    findings = ArchiveCheck(tmp_path / "archive", tmp_path / "index").run().findings
    assert [finding.what for finding in findings] == ["warc-payload-digest does not match the payload"]
    assert "-00001" in findings[0].file


def test_export(tmp_path: Path) -> None:
    """Large records are exported unchanged, as WARC and as WACZ."""
    body = TestBody(400)

    async def use() -> None:
        archive = archive_in(tmp_path)
        await archive.append([make_capture()])
        await archive.append_large(large_capture(body))
        await archive.close()

    asyncio.run(use())
    source = OpenArchive(tmp_path / "archive", tmp_path / "index")
    out = tmp_path / "out"
    out.mkdir()
    assert export_warc(source, Selection(), out / "all.warc.gz", software="test/1", at=NOW) == 2
    order = PackageOrder(software="test/1", pages=PackagePages(describe=lambda data, kind: ("", "")))
    assert export_wacz(source, Selection(), tmp_path / "all.wacz", order, at=NOW) == 2
    source.close()
    assert ArchiveCheck(out, tmp_path / "none").run().bad == 0
    with (out / "all.warc.gz").open("rb") as file:
        for record in ArchiveIterator(file):
            if record.rec_headers.get_header("WARC-Target-URI") == "http://example.com/large":
                assert record.content_stream().read() == (body.content if record.rec_type == "response" else b"")
