"""The structure of a ZIP file is checked before anything is unpacked."""

from __future__ import annotations

import struct
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import pytest

from webstrata.archive.wacz.reader import WaczReader
from webstrata.archive.wacz.zip_layout import layout_faults
from webstrata.errors import ArchiveError


def write(path: Path, files: dict[str, bytes], compression: int = ZIP_STORED) -> Path:
    with ZipFile(path, "w", compression) as package:
        for name, data in files.items():
            info = ZipInfo(name)
            info.compress_type = compression
            package.writestr(info, data)
    return path


def test_a_file_of_one_program(tmp_path: Path) -> None:
    """A file with stored entries has no fault."""
    assert layout_faults(write(tmp_path / "a.zip", {"a": b"1", "b": b"22"})) == []


def test_compressed_entries(tmp_path: Path) -> None:
    """A decompression bomb is refused by its header: captures store all files as they are."""
    path = write(tmp_path / "a.zip", {"a": bytes(10_000_000)}, ZIP_DEFLATED)
    assert path.stat().st_size < 20_000
    assert any("compressed" in fault for fault in layout_faults(path))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_entries_with_one_name(tmp_path: Path) -> None:
    """Readers differ in which of them they read."""
    path = tmp_path / "a.zip"
    with ZipFile(path, "w") as package:
        package.writestr(ZipInfo("a"), b"1")
        package.writestr(ZipInfo("a"), b"2")
    assert "2 entries have the same name: a" in layout_faults(path)


def test_entries_that_share_bytes(tmp_path: Path) -> None:
    """Entries that share bytes, or a header inside another entry, are refused."""
    path = write(tmp_path / "a.zip", {"a": bytes(100), "b": bytes(100)})
    data = bytearray(path.read_bytes())
    second = data.rfind(b"PK\1\2")
    struct.pack_into("<L", data, second + 42, 0)  # the directory says that b is where a is
    path.write_bytes(data)
    assert any("shares bytes" in fault or "does not agree" in fault for fault in layout_faults(path))


@pytest.mark.parametrize("where", ["before", "between", "after"])
def test_other_bytes(tmp_path: Path, where: str) -> None:
    """Bytes that belong to no entry are refused, wherever they are."""
    path = write(tmp_path / "a.zip", {"a": b"1"})
    data = path.read_bytes()
    directory = data.index(b"PK\1\2")
    altered = {"before": b"x" + data, "between": data[:directory] + b"x" + data[directory:], "after": data + b"x"}
    path.write_bytes(altered[where])
    assert layout_faults(path)


def test_a_large_directory(tmp_path: Path) -> None:
    """A file whose directory is too large for the memory is not opened."""
    path = write(tmp_path / "a.zip", {"a": b"1"})
    data = bytearray(path.read_bytes())
    struct.pack_into("<L", data, data.rfind(b"PK\5\6") + 12, 1 << 30)
    path.write_bytes(data)
    assert "directory" in layout_faults(path)[0]
    with pytest.raises(ArchiveError, match="directory"):
        WaczReader(path)
