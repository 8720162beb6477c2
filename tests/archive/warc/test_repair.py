from __future__ import annotations

import asyncio
import os
import subprocess
from pathlib import Path

import pytest

from tests.archive.conftest import check_files, make_capture, open_archive, write_family
from webstrata.archive.index.segment import reindex
from webstrata.archive.warc import archive as warc
from webstrata.archive.warc.members import GzipMember, members
from webstrata.archive.warc.repair import repair_archive


def ends_of(path: Path) -> list[int]:
    with path.open("rb") as file:
        return [item.offset + item.length for item in members(file) if isinstance(item, GzipMember)]


def crash(folder: Path, data: bytes) -> Path:
    """An archive whose writer crashed when the growing file had these bytes."""
    archive = folder / "archive"
    archive.mkdir(parents=True)
    (folder / "index").mkdir()
    path = archive / "webstrata-20260921141320-00000-node-1.warc.gz"
    (archive / (path.name + ".open")).write_bytes(data)
    return path


def test_cut_at_every_byte(tmp_path: Path) -> None:
    """After a cut at any byte, complete records stay, the rest is saved to a .torn file, and the index is correct."""
    home, _ = write_family(tmp_path / "home")
    data = home.warc.read_bytes()
    ends = ends_of(home.warc)
    for cut in range(ends[-3] - 5, len(data) + 1):
        folder = tmp_path / str(cut)
        path = crash(folder, data[:cut])
        [repair] = repair_archive(folder / "archive", folder / "index", fsync=False)
        complete = max(end for end in ends if end <= cut)
        assert path.read_bytes() == data[:complete]
        assert ("torn bytes" in repair.what) == (cut > complete)
        torn_file = path.with_name(path.name + ".torn")
        assert (torn_file.read_bytes() if cut > complete else b"") == data[complete:cut]
        lines = (folder / "index" / (path.name.removesuffix(".warc.gz") + ".cdxj")).read_bytes()
        assert lines.count(b"\n") == sum(end <= complete for end in ends[1::2])


@pytest.mark.parametrize("back", [1, 40, 400])
def test_a_repaired_file_is_valid(tmp_path: Path, back: int) -> None:
    """`gzip -t` and the check find no faults in a repaired file."""
    home, _ = write_family(tmp_path / "home")
    path = crash(tmp_path / "crashed", home.warc.read_bytes()[:-back])

    repair_archive(path.parent, tmp_path / "crashed" / "index", fsync=False)

    subprocess.run(["gzip", "-t", path], check=True)
    result = check_files(path.parent, tmp_path / "crashed" / "index")
    assert (result.bad, result.dangling, result.lost) == (0, 0, 0)


@pytest.mark.parametrize("data", [b"", b"\x1f\x8b\x08\x00torn"], ids=["empty", "torn at once"])
def test_no_complete_record(tmp_path: Path, data: bytes) -> None:
    """A file without a complete record is removed; its bytes are saved to a .torn file."""
    path = crash(tmp_path, data)

    [repair] = repair_archive(tmp_path / "archive", tmp_path / "index", fsync=False)

    assert "no complete record" in repair.what
    assert not path.exists()
    assert [item.read_bytes() for item in path.parent.iterdir()] == ([data] if data else [])


def test_records_after_damage_are_kept(tmp_path: Path) -> None:
    """Damage inside a file is reported and left unchanged, and the records after it are kept."""
    home, _ = write_family(tmp_path / "home")
    data = bytearray(home.warc.read_bytes())
    ends = ends_of(home.warc)
    data[ends[2] + 40 : ends[2] + 80] = bytes(40)
    path = crash(tmp_path / "crashed", bytes(data))

    [repair] = repair_archive(path.parent, tmp_path / "crashed" / "index", fsync=False)

    assert "1 damaged section" in repair.what
    assert path.read_bytes() == bytes(data)


def test_a_missing_segment(tmp_path: Path) -> None:
    """A missing segment is rebuilt with identical bytes."""
    home, _ = write_family(tmp_path)
    before = home.segment.read_bytes()
    home.segment.unlink()

    [repair] = repair_archive(home.archive, home.index, fsync=False)

    assert "segment" in repair.what
    assert home.segment.read_bytes() == before
    assert repair_archive(home.archive, home.index, fsync=False) == []


def test_repair_starts_at_the_sync_marker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the records after the sync marker are read, and the segment equals one rebuilt from the whole file."""
    monkeypatch.setattr(warc, "_MARKER_INTERVAL_BYTES", 3000)

    async def write() -> None:
        archive = open_archive(tmp_path)
        for i in range(8):
            await archive.append([make_capture(f"http://example.com/{i}", os.urandom(900))])
        archive._detach_file()  # as if the process had crashed

    asyncio.run(write())
    (growing,) = (tmp_path / "archive").iterdir()
    assert len(list((tmp_path / "index").glob("*.mark"))) == 1
    # A damaged first record proves that it is not read.
    with growing.open("r+b") as file:
        file.seek(20)
        good = file.read(20)
        file.seek(20)
        file.write(bytes(20))
    [repair] = repair_archive(tmp_path / "archive", tmp_path / "index", fsync=False)
    assert "damaged" not in repair.what
    (finished,) = (tmp_path / "archive").iterdir()
    with finished.open("r+b") as file:
        file.seek(20)
        file.write(good)
    (segment,) = (tmp_path / "index").iterdir()
    before = segment.read_bytes()
    reindex(tmp_path / "archive", tmp_path / "index", fsync=False)
    assert segment.read_bytes() == before
    assert before.count(b"\n") == 8
