from __future__ import annotations

import asyncio
import errno
import os
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.archive.conftest import (
    START_AT,
    check_files,
    make_capture,
    open_archive,
    original_of,
    revisit_of,
    write_family,
    write_home,
)
from webstrata.archive.warc.members import DamagedBytes
from webstrata.archive.warc.record import WarcRecord
from webstrata.archive.warc.repair import repair_archive
from webstrata.archive.warc.walk import walk
from webstrata.errors import ArchiveError
from webstrata.records import Position


def records_in(path: Path) -> list[WarcRecord]:
    items = list(walk(path))
    assert not [item for item in items if isinstance(item, DamagedBytes)]
    return [item for item in items if isinstance(item, WarcRecord)]


def test_records_of_a_file(tmp_path: Path) -> None:
    """A file begins with a warcinfo record; each capture is a response or revisit, followed by its request."""
    home, _ = write_family(tmp_path)

    records = records_in(home.warc)

    kinds = [record.kind for record in records]
    assert kinds == ["warcinfo", *["response", "request"] * 2, *["revisit", "request"] * 2]
    about = records[0].block.decode()
    assert "software: webstrata/0.1\r\n" in about
    assert "operator: A. Archivist\r\n" in about
    assert "hostname" not in about
    assert re.fullmatch(r"webstrata-\d{14}-\d{5}-node-1\.warc\.gz", home.warc.name)
    response, request = records[1:3]
    assert request.field("warc-concurrent-to") == f"<{response.record_id}>"
    assert response.date == request.date == "2026-09-21T14:13:20.250000Z"
    assert response.field("warc-ip-address") == "192.0.2.7"
    assert [position.offset for position in home.positions] == [records[i].offset for i in (1, 3, 5, 7)]


def test_revisits(tmp_path: Path) -> None:
    """Unchanged content is a revisit that identifies its original by ID, date, URI and payload digest."""
    home, _ = write_family(tmp_path)

    original, again, unmodified = (records_in(home.warc)[i] for i in (1, 5, 7))

    for revisit in (again, unmodified):
        assert revisit.field("warc-refers-to") == f"<{original.record_id}>"
        assert revisit.field("warc-refers-to-date") == original.date
        assert revisit.field("warc-refers-to-target-uri") == original.url
        assert revisit.field("warc-payload-digest") == original.field("warc-payload-digest")
    assert (again.field("warc-profile") or "").endswith("/identical-payload-digest")
    assert again.field("warc-truncated") == "length"
    assert (unmodified.field("warc-profile") or "").endswith("/server-not-modified")
    assert unmodified.block.startswith(b"HTTP/1.1 304")
    assert [position.kind for position in home.positions] == ["response"] * 2 + ["revisit"] * 2


heads = st.binary(max_size=120).map(lambda raw: b"HTTP/1.1 200 OK\r\nX: " + raw + b"\r\n\r\n")


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(st.tuples(st.text(max_size=30), heads, st.binary(max_size=2000)), min_size=1, max_size=5),
)
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, bytes, bytes]]) -> None:
    """Any URL, head and body are read back unchanged, and the check finds no faults."""
    folder = tmp_path_factory.mktemp("home")
    captures = [make_capture(f"http://example.com/{path}", body, response_head=head) for path, head, body in rows]

    async def write_and_read() -> None:
        archive = open_archive(folder)
        positions = await archive.append(captures)
        for position, capture in zip(positions, captures, strict=True):
            stored = await archive.read(position)
            assert (stored.status, stored.at) == (200, capture.exchange.at)
            assert stored.body == capture.exchange.body
        await archive.close()
        result = check_files(
            folder / "archive",
            folder / "index",
            [(position, capture.payload) for position, capture in zip(positions, captures, strict=True)],
            fsync=False,
        )
        assert (result.bad, result.dangling, result.lost, result.findings) == (0, 0, 0, [])

    asyncio.run(write_and_read())


def test_reading_a_growing_file(tmp_path: Path) -> None:
    """A capture can be read before its file is finished; until then the file has the suffix `.open`."""
    capture = make_capture()

    async def run() -> None:
        archive = open_archive(tmp_path)
        [position] = await archive.append([capture])
        assert [path.name for path in (tmp_path / "archive").iterdir()] == [position.file + ".open"]
        assert (await archive.read(position)).body == capture.exchange.body
        await archive.close()
        assert [path.name for path in (tmp_path / "archive").iterdir()] == [position.file]

    asyncio.run(run())


def test_revisits_read_as_their_originals(tmp_path: Path) -> None:
    """A revisit is read with the original's body, its own time, and the status of the body."""
    home, captures = write_family(tmp_path)

    async def read() -> None:
        archive = open_archive(tmp_path)
        for position, capture in list(zip(home.positions, captures, strict=True))[2:]:
            stored = await archive.read(position)
            assert stored.body == captures[0].exchange.body
            assert (stored.at, stored.status) == (capture.exchange.at, 200)
            assert stored.original_at == START_AT
        await archive.close()

    asyncio.run(read())


def test_rotation(tmp_path: Path) -> None:
    """A file that has reached its maximum size is finished, and the next batch starts another."""
    batches = [[make_capture(f"http://example.com/{i}", os.urandom(3000))] for i in range(4)]

    home = write_home(tmp_path, *batches, max_file_bytes=5000)

    names = sorted(path.name for path in home.archive.iterdir())
    assert names == sorted({position.file for position in home.positions})
    assert len(names) == 2
    assert len(list(home.index.glob("*.cdxj"))) == 2
    for name in names:
        assert records_in(home.archive / name)[0].kind == "warcinfo"


def test_file_names_are_unique(tmp_path: Path) -> None:
    """Two runs at the same instant write different files."""
    first = write_home(tmp_path, [make_capture()])
    second = write_home(tmp_path, [make_capture()])

    assert first.positions[0].file != second.positions[0].file


def test_truncation_is_marked(tmp_path: Path) -> None:
    """A truncated body is declared in its record and in the index, and its head has the archived length."""
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n"
    home = write_home(tmp_path, [make_capture(body=b"cut", response_head=head, truncated="time")])

    record = records_in(home.warc)[1]

    assert record.field("warc-truncated") == "time"
    assert b"\r\nContent-Length: 3\r\n" in record.block
    assert home.segment.read_bytes().endswith(b'"truncated": "time"}\n')


def test_lines_cannot_be_injected(tmp_path: Path) -> None:
    """A URL with line ends is one header field and one index line."""
    home = write_home(tmp_path, [make_capture("http://example.com/\r\nWARC-Type: evil\r\n\r\n")])

    record = records_in(home.warc)[1]

    assert record.kind == "response"
    assert record.url == "http://example.com/%0D%0AWARC-Type:%20evil%0D%0A%0D%0A"
    assert home.segment.read_bytes().count(b"\n") == 1


# ── failing disks ───────────────────────────────────────────────────────────────────────────────────────────


def failing(code: int) -> OSError:
    return OSError(code, os.strerror(code))


@pytest.mark.parametrize("code", [errno.EIO, errno.ENOSPC])
@pytest.mark.parametrize("call", ["fdatasync", "write"])
def test_a_failed_write_closes_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, code: int) -> None:
    """After a failed write or sync nothing is acknowledged, no sync is repeated, and a new file is started."""
    calls: list[int] = []
    real = getattr(os, call)

    def fail(fd: int, *data: bytes) -> int:
        calls.append(fd)
        if call == "write" and len(calls) == 1:
            return int(real(fd, data[0][:100]))  # a part is written before the disk is full
        raise failing(code)

    async def run() -> None:
        archive = open_archive(tmp_path, fsync=True)
        [first] = await archive.append([make_capture("http://example.com/1")])
        monkeypatch.setattr(os, call, fail)
        with pytest.raises(ArchiveError, match="cannot write"):
            await archive.append([make_capture("http://example.com/2")])
        monkeypatch.undo()
        assert len(calls) == (1 if call == "fdatasync" else 2)
        [third] = await archive.append([make_capture("http://example.com/3")])
        assert third.file != first.file
        assert (await archive.read(first)).url == "http://example.com/1"
        await archive.close()
        repairs = repair_archive(tmp_path / "archive", tmp_path / "index")
        assert [repair.file for repair in repairs] == [first.file]
        expected: list[tuple[Position, str | None]] = [(first, None), (third, None)]
        result = check_files(tmp_path / "archive", tmp_path / "index", expected)
        assert (result.bad, result.dangling, result.lost) == (0, 0, 0)

    asyncio.run(run())


def test_a_full_disk_leaves_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file whose first batch failed is removed."""

    def fail(fd: int) -> None:
        raise failing(errno.ENOSPC)

    async def run() -> None:
        archive = open_archive(tmp_path, fsync=True)
        with monkeypatch.context() as patch:
            patch.setattr(os, "fdatasync", fail)
            for _ in range(3):
                with pytest.raises(ArchiveError):
                    await archive.append([make_capture()])
        assert list((tmp_path / "archive").iterdir()) == []
        await archive.close()

    asyncio.run(run())


def test_synced_before_acknowledged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch is synced once, after its last byte and before its positions are returned."""
    sizes: list[int] = []
    real = os.fdatasync

    def watch(fd: int) -> None:
        sizes.append(os.fstat(fd).st_size)
        real(fd)

    async def run() -> None:
        archive = open_archive(tmp_path, fsync=True)
        monkeypatch.setattr(os, "fdatasync", watch)
        batch = [make_capture(f"http://example.com/{i}") for i in range(50)]
        positions = await archive.append(batch)
        (growing,) = (tmp_path / "archive").iterdir()
        assert sizes == [growing.stat().st_size]
        assert max(position.offset + position.length for position in positions) < sizes[0]
        await archive.close()

    asyncio.run(run())


def test_a_revisit_across_files(tmp_path: Path) -> None:
    """The original may be in another file than its revisit."""
    first = make_capture(body=b"same")

    async def run() -> None:
        archive = open_archive(tmp_path, max_file_bytes=1)
        [position] = await archive.append([first])
        [other] = await archive.append(
            [revisit_of(original_of(first, position), b"same", START_AT + 9, url="http://example.org/")]
        )
        assert other.file != position.file
        stored = await archive.read(other)
        assert (stored.url, stored.body) == ("http://example.org/", b"same")
        await archive.close()

    asyncio.run(run())
