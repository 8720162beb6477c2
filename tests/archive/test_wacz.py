"""Exports hold what was chosen and all it needs; foreign packages are read without trust."""

from __future__ import annotations

import json
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.archive.conftest import START_AT, Home, write_family
from webstrata.archive.export import OpenArchive, Selection, export_cdxj, export_warc
from webstrata.archive.index.segment import reindex
from webstrata.archive.wacz.check import check_wacz
from webstrata.archive.wacz.writer import export_wacz
from webstrata.archive.warc.check import check_archive_files
from webstrata.archive.warc.record import WarcRecord
from webstrata.archive.warc.walk import walk
from webstrata.errors import ArchiveError


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return write_family(tmp_path)[0]


@pytest.fixture
def source(home: Home) -> OpenArchive:
    return OpenArchive(home.archive, home.index)


def test_wacz_is_whole(source: OpenArchive, tmp_path: Path) -> None:
    """The package checks, its WARC is stored, and its index leads to its records."""
    out = tmp_path / "out.wacz"

    assert export_wacz(source, Selection(), out, software="webstrata/0.1", at=START_AT) == 4

    assert check_wacz(out) == []
    with zipfile.ZipFile(out) as package:
        assert all(entry.compress_type == zipfile.ZIP_STORED for entry in package.infolist())
        package.extract("archive/data.warc.gz", tmp_path / "unpacked")
        pages = package.read("pages/pages.jsonl").splitlines()
    assert [json.loads(page).get("url") for page in pages[1:]] == [
        "http://example.com/a",
        "http://example.com/b?y=2&x=1",
    ]
    unpacked = tmp_path / "unpacked" / "archive"
    reindex(unpacked, tmp_path / "unpacked" / "index")
    assert check_archive_files(unpacked, tmp_path / "unpacked" / "index").findings == []
    source.close()


def test_a_revisit_brings_its_original(source: OpenArchive, tmp_path: Path) -> None:
    """Chosen by time, a revisit alone would stand for nothing: its original comes along."""
    out = tmp_path / "late.warc.gz"
    late = Selection(url="http://example.com/a", since="2026092115", until="2026092115")

    assert export_warc(source, late, out, software="webstrata/0.1", at=START_AT) == 2

    kinds = [item.kind for item in walk(out) if isinstance(item, WarcRecord)]
    assert kinds == ["warcinfo", "response", "request", "revisit", "request"]
    source.close()


def test_cdxj_export(source: OpenArchive, home: Home, tmp_path: Path) -> None:
    """Lines go out as they are; a selection takes its own."""
    assert export_cdxj(source, Selection(), tmp_path / "all.cdxj") == 4
    assert (tmp_path / "all.cdxj").read_bytes() == home.segment.read_bytes()
    assert export_cdxj(source, Selection(url="http://example.com/b"), tmp_path / "b.cdxj") == 1
    source.close()


def test_no_half_export(source: OpenArchive, home: Home, tmp_path: Path) -> None:
    """An export that fails leaves nothing under its name."""
    home.warc.write_bytes(home.warc.read_bytes()[:500])
    out = tmp_path / "out" / "x.warc.gz"
    out.parent.mkdir()

    with pytest.raises(ArchiveError):
        export_warc(source, Selection(), out, software="webstrata/0.1", at=START_AT)

    assert list(out.parent.iterdir()) == []
    source.close()


def _slip(package: zipfile.ZipFile) -> None:
    package.writestr("../evil.txt", b"")


def _absolute(package: zipfile.ZipFile) -> None:
    package.writestr("/evil.txt", b"")


def _windows(package: zipfile.ZipFile) -> None:
    package.writestr("archive/..\\evil.txt", b"")


def _link(package: zipfile.ZipFile) -> None:
    entry = zipfile.ZipInfo("archive/link")
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    package.writestr(entry, b"/etc/passwd")


@pytest.mark.parametrize(
    ("attack", "said"),
    [(_slip, "leaves the folder"), (_absolute, "leaves the folder"), (_windows, "leaves the folder"), (_link, "link")],
)
def test_attacks(source: OpenArchive, tmp_path: Path, attack: Callable[[zipfile.ZipFile], None], said: str) -> None:
    """Names that leave the folder and links are refused before anything is read."""
    out = tmp_path / "out.wacz"
    export_wacz(source, Selection(), out, software="webstrata/0.1", at=START_AT)
    with zipfile.ZipFile(out, "a") as package:
        attack(package)

    assert any(said in line for line in check_wacz(out))
    source.close()


def test_a_bomb(tmp_path: Path) -> None:
    """An entry that inflates beyond reason is refused by its size alone."""
    out = tmp_path / "bomb.wacz"
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("archive/bomb.warc", bytes(1000))
        package.infolist()[0].file_size = 2**40

    assert any("bomb" in line for line in check_wacz(out))


@pytest.mark.parametrize("data", [b"", b"PK\x05\x06", b"junk" * 100])
def test_what_is_no_zip(tmp_path: Path, data: bytes) -> None:
    """Any bytes get a sentence, not an exception."""
    path = tmp_path / "junk.wacz"
    path.write_bytes(data)

    assert check_wacz(path)
    assert check_wacz(tmp_path / "absent.wacz")
