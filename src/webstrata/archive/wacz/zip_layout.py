"""Check of the bytes of a ZIP file that are not content, so that every altered byte is detected.

ZIP readers use the central directory and ignore many other bytes. For a proof that is not sufficient: here each local
header must agree with the directory, entries must follow each other without gaps, and the fields that only the
directory has must be the same for all entries, as in every file that was written by one program in one pass.
"""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import BinaryIO, NamedTuple
from zipfile import BadZipFile, ZipFile

_LOCAL = struct.Struct("<4sHHHHHLLLHH")
_CENTRAL = struct.Struct("<4sHHHHHHLLLHHHHHLL")
_END = struct.Struct("<4sHHHHLLH")
UNREADABLE = (BadZipFile, OSError, NotImplementedError, RuntimeError, EOFError, ValueError, zlib.error)
"""Exceptions that `zipfile` raises for files that are not valid ZIP files."""
_VERSIONS = (20, 45)
"""Version needed to extract: default, and with 64-bit sizes."""


class _Entry(NamedTuple):
    """An entry of the directory: the fields that its local header repeats, and the others."""

    name: bytes
    shared: tuple[int, ...]
    directory_only: tuple[int, ...]
    size: int
    offset: int


def layout_faults(path: Path) -> list[str]:
    """The faults of the layout; empty for an unaltered file that was written in one pass."""
    try:
        with ZipFile(path) as package, path.open("rb") as file:
            return _faults(package, file)
    except (struct.error, *UNREADABLE) as problem:
        return [f"the ZIP file cannot be read ({problem})"]


def _faults(package: ZipFile, file: BinaryIO) -> list[str]:
    faults: list[str] = []
    entries = list(_directory(package, file))
    at = 0
    for entry in sorted(entries, key=lambda entry: entry.offset):
        name = entry.name.decode("utf-8", "replace")
        if entry.offset != at:
            faults.append(f"{name}: bytes before it that belong to no entry")
        fault, at = _local_fault(file, entry)
        if fault:
            faults.append(f"{name}: {fault}")
    if at != package.start_dir:
        faults.append("bytes before the directory that belong to no entry")
    if len({entry.directory_only for entry in entries}) > 1 or not all(entry.directory_only[1] for entry in entries):
        faults.append("the directory has different attributes for its entries")
    return faults + _end_faults(package, file, len(entries))


def _directory(package: ZipFile, file: BinaryIO) -> list[_Entry]:
    file.seek(package.start_dir)
    entries = []
    for info in package.infolist():
        fields = _CENTRAL.unpack(file.read(_CENTRAL.size))
        name = file.read(fields[10])
        file.seek(fields[11] + fields[12], 1)
        system, made_by = divmod(fields[1], 256)
        known = made_by in _VERSIONS and fields[2] in _VERSIONS
        known = known and fields[8] == fields[9]  # stored: both sizes are equal
        has_large_size = 0xFFFFFFFF in (fields[8], fields[16])
        known = known and (fields[11] > 0) == has_large_size  # an extra field is only for large sizes
        directory_only = (system, known, fields[12], fields[13], fields[14], fields[15])
        shared = fields[3:8]  # flags, method, time, date, CRC
        entries.append(_Entry(name, shared, directory_only, info.compress_size, info.header_offset))
    return entries


def _local_fault(file: BinaryIO, entry: _Entry) -> tuple[str | None, int]:
    """(Fault of the local header of an entry, end of the entry)."""
    file.seek(entry.offset)
    magic, version, *rest, compressed, plain, name_length, extra_length = _LOCAL.unpack(file.read(_LOCAL.size))
    name, extra = file.read(name_length), file.read(extra_length)
    end = entry.offset + _LOCAL.size + name_length + extra_length + entry.size
    if extra:
        extra_agrees = extra == struct.pack("<HHQQ", 1, 16, entry.size, entry.size)
        sizes = compressed == plain == 0xFFFFFFFF and extra_agrees
    else:
        sizes = compressed == plain == entry.size
    agrees = magic == b"PK\3\4" and version in _VERSIONS and tuple(rest) == entry.shared and name == entry.name
    return (None if agrees and sizes else "its header does not agree with the directory"), end


def _end_faults(package: ZipFile, file: BinaryIO, entries: int) -> list[str]:
    file.seek(0, 2)
    length = file.tell()
    file.seek(length - _END.size)
    magic, disk, first, here, total, size, offset, comment = _END.unpack(file.read(_END.size))
    large = offset == 0xFFFFFFFF or size == 0xFFFFFFFF or total == 0xFFFF
    is_valid = magic == b"PK\5\6" and disk == first == comment == 0
    if not large:
        is_valid = is_valid and here == total == entries and offset == package.start_dir
        is_valid = is_valid and offset + size + _END.size == length
    return [] if is_valid else ["the end record of the ZIP file is not as it was written"]
