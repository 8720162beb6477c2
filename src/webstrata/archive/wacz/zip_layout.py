"""Every byte of a ZIP file that is not content: said twice, or the same in all entries, so that an altered one shows.

ZIP readers look at the directory and pass over much of the rest. A proof must not: here each local header must agree
with the directory, entries must follow one another without gaps, and what the directory alone says must be the same
for all of them, as it is in every file that one program wrote in one go.
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
"""What Python's reader raises at ZIP files that are none, or not any more."""
_VERSIONS = (20, 45)
"""Needed to read: plain, and with sizes of 64 bits."""


class _Entry(NamedTuple):
    """A directory entry: the fields that the local header repeats, and those that it does not."""

    name: bytes
    shared: tuple[int, ...]
    alone: tuple[int, ...]
    size: int
    offset: int


def layout_faults(path: Path) -> list[str]:
    """What a program that writes in one go would not have written; nothing for a file as it was made."""
    try:
        with ZipFile(path) as package, path.open("rb") as file:
            return _faults(package, file)
    except (struct.error, *UNREADABLE) as problem:
        return [f"the ZIP file cannot be read ({problem})"]


def _faults(package: ZipFile, file: BinaryIO) -> list[str]:
    faults: list[str] = []
    entries = list(_directory(package, file))
    at = 0
    for entry in sorted(entries, key=lambda one: one.offset):
        name = entry.name.decode("utf-8", "replace")
        if entry.offset != at:
            faults.append(f"{name}: bytes before it that belong to nothing")
        fault, at = _local_fault(file, entry)
        if fault:
            faults.append(f"{name}: {fault}")
    if at != package.start_dir:
        faults.append("bytes before the directory that belong to nothing")
    if len({entry.alone for entry in entries}) > 1 or not all(entry.alone[1] for entry in entries):
        faults.append("the directory describes its entries in different ways")
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
        known = known and fields[8] == fields[9]  # stored: one size
        known = known and (fields[11] > 0) == (0xFFFFFFFF in (fields[8], fields[16]))  # more only for large numbers
        alone = (system, known, fields[12], fields[13], fields[14], fields[15])
        shared = fields[3:8]  # flags, method, time, date, CRC
        entries.append(_Entry(name, shared, alone, info.compress_size, info.header_offset))
    return entries


def _local_fault(file: BinaryIO, entry: _Entry) -> tuple[str | None, int]:
    """What is wrong with an entry's own header, and where the entry ends."""
    file.seek(entry.offset)
    magic, version, *rest, compressed, plain, name_length, extra_length = _LOCAL.unpack(file.read(_LOCAL.size))
    name, extra = file.read(name_length), file.read(extra_length)
    end = entry.offset + _LOCAL.size + name_length + extra_length + entry.size
    if extra:
        told = extra == struct.pack("<HHQQ", 1, 16, entry.size, entry.size)
        sizes = compressed == plain == 0xFFFFFFFF and told
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
    sound = magic == b"PK\5\6" and disk == first == comment == 0
    if not large:
        sound = sound and here == total == entries and offset == package.start_dir
        sound = sound and offset + size + _END.size == length
    return [] if sound else ["the end of the ZIP file is not as it was written"]
