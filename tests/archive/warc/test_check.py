from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from tests.archive.conftest import Home, check_files, write_family
from webstrata.archive.warc.findings import MAX_FINDINGS, CheckFindings
from webstrata.archive.warc.members import GzipMember, members
from webstrata.records import CheckResult, FindingKind, Position


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return write_family(tmp_path)[0]


def check(home: Home, **options: bool) -> CheckResult:
    expected: list[tuple[Position, str | None]] = [(position, None) for position in home.positions]
    return check_files(home.archive, home.index, expected, fsync=False, **options)


def test_an_undamaged_archive(home: Home) -> None:
    """The check finds no faults in a new archive."""
    assert check(home) == CheckResult(records=9)


def test_every_altered_byte_is_detected(home: Home) -> None:
    """An altered byte is reported unless the contents are unaffected (the time or the padding of a gzip member)."""
    data = home.warc.read_bytes()
    good = contents(home)
    for at in range(0, len(data), 7):
        home.warc.write_bytes(data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :])
        assert check(home).bad > 0 or contents(home) == good, at


def contents(home: Home) -> list[bytes]:
    with home.warc.open("rb") as file:
        return [item.data for item in members(file) if isinstance(item, GzipMember)]


def test_a_torn_last_member_is_detected(home: Home) -> None:
    """One missing byte at the end is reported as a bad record."""
    home.warc.write_bytes(home.warc.read_bytes()[:-1])

    result = check(home)

    assert result.bad == 1
    assert "ends inside" in result.findings[0].what


def test_bytes_that_do_not_match_their_digest(home: Home, tmp_path: Path) -> None:
    """A valid gzip member with another body is detected by the digests of its record."""
    from isal import isal_zlib

    data = home.warc.read_bytes()
    first = home.positions[0]
    raw = isal_zlib.decompress(data[first.offset : first.offset + first.length], 31)
    forged = isal_zlib.compress(raw.replace(b"first page", b"other page", 1), 2, 31)
    home.warc.write_bytes(data[: first.offset] + forged + data[first.offset + first.length :])

    faults = [finding.what for finding in check(home).findings]

    assert "warc-block-digest does not match the block" in faults
    assert "warc-payload-digest does not match the payload" in faults


def test_positions_from_the_database(home: Home) -> None:
    """Positions without a record, or with another record or payload, are dangling."""
    first = home.positions[0]
    replaced = msgspec.structs.replace
    positions = [
        (replaced(first, offset=first.offset + 1), None),
        (replaced(first, file="gone.warc.gz"), None),
        (replaced(first, record_id="urn:uuid:0"), None),
        (first, "sha1:OTHER"),
        (first, None),
    ]

    assert check_files(home.archive, home.index, positions, fsync=False).dangling == 4


def test_wrong_index_lines(home: Home) -> None:
    """A line without a record is dangling, a record without a line is lost; a repair rewrites the segment."""
    good = home.segment.read_bytes()
    lines = good.splitlines(keepends=True)
    home.segment.write_bytes(b"".join(lines[1:]) + lines[-1].replace(b"example.com", b"example.net"))

    result = check(home)

    assert (result.bad, result.dangling, result.lost) == (0, 1, 1)
    repaired = check(home, repair=True)
    assert (repaired.bad, repaired.dangling, repaired.lost, repaired.repaired) == (0, 0, 0, 1)
    assert home.segment.read_bytes() == good


def test_unsorted_index_lines(home: Home) -> None:
    """A segment that is not sorted is bad."""
    lines = home.segment.read_bytes().splitlines(keepends=True)
    home.segment.write_bytes(b"".join(reversed(lines)))

    assert check(home).bad == 1


def test_a_missing_file(home: Home) -> None:
    """All index lines and positions of a missing WARC file are dangling."""
    home.warc.unlink()

    assert check(home).dangling == 8


def test_repair_of_a_torn_end(home: Home) -> None:
    """The torn bytes are saved to a .torn file; complete records and the index are kept."""
    data = home.warc.read_bytes()
    name = home.warc.name
    home.warc.write_bytes(data[:-1])

    repaired = check(home, repair=True)

    assert repaired.repaired == 1
    assert check(home).bad == 0
    torn = (home.archive / (name + ".torn")).read_bytes()
    assert home.warc.read_bytes() + torn == data[:-1]


def test_repair_keeps_damage_inside(home: Home) -> None:
    """A damaged member inside a file is reported by every check and never removed."""
    data = bytearray(home.warc.read_bytes())
    data[home.positions[1].offset + 30] ^= 0xFF
    home.warc.write_bytes(data)

    for _ in range(2):
        result = check(home, repair=True)
        assert result.bad == 1
        assert "backup" in result.groups[0].do
    assert home.warc.read_bytes() == bytes(data)


def test_a_million_findings_take_little_memory() -> None:
    """All findings are counted, the first thousand of each kind are kept, and so are the first thousand files."""
    findings = CheckFindings()
    for number in range(200_000):
        for kind in (FindingKind.WRONG_LINE, FindingKind.MISSING_FILE, FindingKind.BAD_RECORD):
            findings.add(kind, "what", file=f"{number}.warc.gz", offset=number)

    result = findings.result

    assert (result.dangling, result.bad) == (400_000, 200_000)
    assert [group.kind for group in result.groups] == [
        FindingKind.BAD_RECORD,
        FindingKind.MISSING_FILE,
        FindingKind.WRONG_LINE,
    ]
    assert [group.number for group in result.groups] == [200_000] * 3
    assert len(result.findings) == 3 * MAX_FINDINGS
    assert all(len(group.files) == MAX_FINDINGS for group in result.groups)
