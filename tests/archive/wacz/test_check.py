from __future__ import annotations

import stat
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.archive.conftest import START_AT, write_family
from webstrata.archive.export import OpenArchive, Selection
from webstrata.archive.wacz.check import check_wacz
from webstrata.archive.wacz.writer import PackageOrder, export_wacz


@pytest.fixture
def source(tmp_path: Path) -> OpenArchive:
    home, _ = write_family(tmp_path)
    return OpenArchive(home.archive, home.index)


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
    ("attack", "fault"),
    [
        (_slip, "outside the folder"),
        (_absolute, "outside the folder"),
        (_windows, "outside the folder"),
        (_link, "link"),
    ],
)
def test_attacks(source: OpenArchive, tmp_path: Path, attack: Callable[[zipfile.ZipFile], None], fault: str) -> None:
    """Entries with names outside the folder and links are rejected."""
    out = tmp_path / "out.wacz"
    export_wacz(source, Selection(), out, PackageOrder(software="webstrata/0.1"), at=START_AT)
    with zipfile.ZipFile(out, "a") as package:
        attack(package)

    assert any(fault in line for line in check_wacz(out))
    source.close()


def test_a_decompression_bomb(tmp_path: Path) -> None:
    """An entry with an excessive declared size is rejected."""
    out = tmp_path / "bomb.wacz"
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("archive/bomb.warc", bytes(1000))
        package.infolist()[0].file_size = 2**40

    assert any("bomb" in line for line in check_wacz(out))


@pytest.mark.parametrize("data", [b"", b"PK\x05\x06", b"junk" * 100])
def test_files_that_are_not_zip(tmp_path: Path, data: bytes) -> None:
    """Any bytes give a fault, not an exception."""
    path = tmp_path / "junk.wacz"
    path.write_bytes(data)

    assert check_wacz(path)
    assert check_wacz(tmp_path / "absent.wacz")
