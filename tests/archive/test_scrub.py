"""No damage stays unseen, and mending never removes a record."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from tests.archive.conftest import Home, write_family
from webstrata.archive.warc.check import ArchiveCheckResult, check_archive_files
from webstrata.archive.warc.record import WarcRecord
from webstrata.archive.warc.walk import walk
from webstrata.records import Position


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return write_family(tmp_path)[0]


def check(home: Home, **options: bool) -> ArchiveCheckResult:
    named: list[tuple[Position, str | None]] = [(position, None) for position in home.positions]
    return check_archive_files(home.archive, home.index, named, fsync=False, **options)


def test_a_good_home(home: Home) -> None:
    """Nothing is wrong with what was just written."""
    assert check(home) == ArchiveCheckResult(records=9)


def test_every_flipped_byte_is_seen(home: Home) -> None:
    """A changed byte is reported, or it changed nothing that can be read (a member's time, its padding bits)."""
    data = home.warc.read_bytes()
    good = contents(home)
    for at in range(0, len(data), 7):
        home.warc.write_bytes(data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :])
        assert check(home).bad > 0 or contents(home) == good, at


def contents(home: Home) -> list[tuple[bytes, bytes]]:
    return [(item.raw_header, item.block) for item in walk(home.warc) if isinstance(item, WarcRecord)]


def test_a_torn_last_member_is_seen(home: Home) -> None:
    """One missing byte at the end is a bad record, and its position dangles."""
    home.warc.write_bytes(home.warc.read_bytes()[:-1])

    result = check(home)

    assert result.bad == 1
    assert "ends inside" in result.findings[0].what


def test_bytes_that_do_not_fit_their_digest(home: Home, tmp_path: Path) -> None:
    """A member that is whole as gzip but holds another body is seen by its digests."""
    from isal import isal_zlib

    data = home.warc.read_bytes()
    first = home.positions[0]
    raw = isal_zlib.decompress(data[first.offset : first.offset + first.length], 31)
    forged = isal_zlib.compress(raw.replace(b"first page", b"other page", 1), 2, 31)
    home.warc.write_bytes(data[: first.offset] + forged + data[first.offset + first.length :])

    whats = [finding.what for finding in check(home).findings]

    assert "warc-block-digest does not fit the block" in whats
    assert "warc-payload-digest does not fit the payload" in whats


def test_the_store_against_the_archive(home: Home) -> None:
    """Positions that lead to nothing, to another record or to another payload are dangling."""
    first = home.positions[0]
    replaced = msgspec.structs.replace
    named = [
        (replaced(first, offset=first.offset + 1), None),
        (replaced(first, file="gone.warc.gz"), None),
        (replaced(first, record_id="urn:uuid:0"), None),
        (first, "sha1:OTHER"),
        (first, None),
    ]

    assert check_archive_files(home.archive, home.index, named, fsync=False).dangling == 4


def test_the_index_against_the_archive_both_ways(home: Home) -> None:
    """A line without a record dangles, a record without a line is lost; mending writes the segment anew."""
    good = home.segment.read_bytes()
    lines = good.splitlines(keepends=True)
    home.segment.write_bytes(b"".join(lines[1:]) + lines[-1].replace(b"example.com", b"example.net"))

    result = check(home)

    assert (result.bad, result.dangling, result.lost) == (0, 1, 1)
    mended = check(home, mend=True)
    assert (mended.bad, mended.dangling, mended.lost, mended.repaired) == (0, 0, 0, 1)
    assert home.segment.read_bytes() == good


def test_lines_in_the_wrong_order(home: Home) -> None:
    """A segment that is not sorted cannot be searched, and counts as bad."""
    lines = home.segment.read_bytes().splitlines(keepends=True)
    home.segment.write_bytes(b"".join(reversed(lines)))

    assert check(home).bad == 1


def test_a_file_that_is_gone(home: Home) -> None:
    """Without its WARC every line and every position dangles."""
    home.warc.unlink()

    assert check(home).dangling == 8


def test_mending_a_torn_end(home: Home) -> None:
    """The torn bytes go beside, the whole records and the index stay."""
    data = home.warc.read_bytes()
    name = home.warc.name
    home.warc.write_bytes(data[:-1])

    mended = check(home, mend=True)

    assert mended.repaired == 1
    assert check(home).bad == 0
    kept = (home.archive / (name + ".torn")).read_bytes()
    assert home.warc.read_bytes() + kept == data[:-1]


def test_mending_leaves_damage_inside(home: Home) -> None:
    """A bad member in the middle is reported again and again, never removed."""
    data = bytearray(home.warc.read_bytes())
    data[home.positions[1].offset + 30] ^= 0xFF
    home.warc.write_bytes(data)

    for _ in range(2):
        result = check(home, mend=True)
        assert result.bad == 1
        assert result.findings[-1].do
    assert home.warc.read_bytes() == bytes(data)
