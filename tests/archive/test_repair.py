"""A crash at any byte costs only what was not whole."""

from __future__ import annotations

import asyncio
import os
import subprocess
from pathlib import Path

import pytest

from tests.archive.conftest import make_capture, open_archive, write_family
from webstrata.archive.index.segment import reindex
from webstrata.archive.warc import archive as warc
from webstrata.archive.warc.check import check_archive_files
from webstrata.archive.warc.members import GzipMember, members
from webstrata.archive.warc.repair import repair_archive


def ends_of(path: Path) -> list[int]:
    with path.open("rb") as file:
        return [item.offset + item.length for item in members(file) if isinstance(item, GzipMember)]


def crash(folder: Path, data: bytes) -> Path:
    """A home whose process died when the growing file held these bytes."""
    archive = folder / "archive"
    archive.mkdir(parents=True)
    (folder / "index").mkdir()
    path = archive / "webstrata-20260921141320-00000.warc.gz"
    (archive / (path.name + ".open")).write_bytes(data)
    return path


def test_cut_at_every_byte(tmp_path: Path) -> None:
    """Wherever the last records are cut, all whole ones stay, the rest is put aside, and the index fits."""
    home, _ = write_family(tmp_path / "home")
    data = home.warc.read_bytes()
    ends = ends_of(home.warc)
    for cut in range(ends[-3] - 5, len(data) + 1):
        folder = tmp_path / str(cut)
        path = crash(folder, data[:cut])
        [done] = repair_archive(folder / "archive", folder / "index", fsync=False)
        whole = max(end for end in ends if end <= cut)
        assert path.read_bytes() == data[:whole]
        assert done.torn_bytes == cut - whole
        aside = path.with_name(path.name + ".torn")
        assert (aside.read_bytes() if cut > whole else b"") == data[whole:cut]
        lines = (folder / "index" / (path.name.removesuffix(".warc.gz") + ".cdxj")).read_bytes()
        assert lines.count(b"\n") == sum(end <= whole for end in ends[1::2])


@pytest.mark.parametrize("back", [1, 40, 400])
def test_outside_readers_accept_a_repaired_file(tmp_path: Path, back: int) -> None:
    """`gzip -t` and our own scrub find nothing in a repaired file."""
    home, _ = write_family(tmp_path / "home")
    path = crash(tmp_path / "crashed", home.warc.read_bytes()[:-back])

    repair_archive(path.parent, tmp_path / "crashed" / "index", fsync=False)

    subprocess.run(["gzip", "-t", path], check=True)
    result = check_archive_files(path.parent, tmp_path / "crashed" / "index")
    assert (result.bad, result.dangling, result.lost) == (0, 0, 0)


@pytest.mark.parametrize("data", [b"", b"\x1f\x8b\x08\x00torn"], ids=["empty", "torn at once"])
def test_nothing_whole(tmp_path: Path, data: bytes) -> None:
    """A file without one whole record goes; its bytes are kept beside."""
    path = crash(tmp_path, data)

    [done] = repair_archive(tmp_path / "archive", tmp_path / "index", fsync=False)

    assert "no whole record" in done.what
    assert not path.exists()
    assert [item.read_bytes() for item in path.parent.iterdir()] == ([data] if data else [])


def test_damage_inside_does_not_cost_what_follows(tmp_path: Path) -> None:
    """A hole in the middle is left and said; whole records behind it stay where they were."""
    home, _ = write_family(tmp_path / "home")
    data = bytearray(home.warc.read_bytes())
    ends = ends_of(home.warc)
    data[ends[2] + 40 : ends[2] + 80] = bytes(40)
    path = crash(tmp_path / "crashed", bytes(data))

    [done] = repair_archive(path.parent, tmp_path / "crashed" / "index", fsync=False)

    assert "1 damaged place" in done.what
    assert path.read_bytes() == bytes(data)


def test_a_finished_file_without_its_segment(tmp_path: Path) -> None:
    """A segment that is missing is built again, equal byte for byte."""
    home, _ = write_family(tmp_path)
    before = home.segment.read_bytes()
    home.segment.unlink()

    [done] = repair_archive(home.archive, home.index, fsync=False)

    assert "segment" in done.what
    assert home.segment.read_bytes() == before
    assert repair_archive(home.archive, home.index, fsync=False) == []


def test_marks_save_reading_the_file_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From a mark on only the rest of a growing file is read, and the segment is the same as from the whole."""
    monkeypatch.setattr(warc, "_MARK_BYTES", 3000)

    async def write() -> None:
        archive = open_archive(tmp_path)
        for i in range(8):
            await archive.append([make_capture(f"http://example.com/{i}", os.urandom(900))])
        archive._forget()  # the process dies here

    asyncio.run(write())
    (growing,) = (tmp_path / "archive").iterdir()
    assert len(list((tmp_path / "index").glob("*.mark"))) == 1
    # A first record that cannot be read shows that nobody reads it.
    with growing.open("r+b") as file:
        file.seek(20)
        good = file.read(20)
        file.seek(20)
        file.write(bytes(20))
    [done] = repair_archive(tmp_path / "archive", tmp_path / "index", fsync=False)
    assert "damaged" not in done.what
    (finished,) = (tmp_path / "archive").iterdir()
    with finished.open("r+b") as file:
        file.seek(20)
        file.write(good)
    (segment,) = (tmp_path / "index").iterdir()
    before = segment.read_bytes()
    reindex(tmp_path / "archive", tmp_path / "index", fsync=False)
    assert segment.read_bytes() == before
    assert before.count(b"\n") == 8
