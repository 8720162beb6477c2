"""Check of the bytes of a ZIP file that are not content, so that every altered byte is detected.

ZIP readers use the central directory and ignore many other bytes. For a proof that is not sufficient: here each local
header must agree with the directory, entries must follow each other without gaps, must be stored without compression,
and the fields that only the directory has must be the same for all entries, as in every file that was written by one
program in one pass. Such a file has no two entries that share bytes, and none that inflates. The check reads headers
only, so it comes before anything is unpacked.
"""

from __future__ import annotations

import struct
import zlib
from collections import Counter
from pathlib import Path
from typing import BinaryIO, NamedTuple
from zipfile import BadZipFile, ZipFile

_LOCAL = struct.Struct("<4sHHHHHLLLHH")
_CENTRAL = struct.Struct("<4sHHHHHHLLLHHHHHLL")
_END = struct.Struct("<4sHHHHLLH")
_LOCATOR = struct.Struct("<4sLQL")
_END_64 = struct.Struct("<4sQHHLLQQQQ")
UNREADABLE = (BadZipFile, OSError, NotImplementedError, RuntimeError, EOFError, ValueError, zlib.error)
"""Exceptions that `zipfile` raises for files that are not valid ZIP files."""
_FILE_TYPES = (0, 8)
"""The type in the attributes of Unix: none, or a regular file."""
_VERSIONS = (20, 45)
"""Version needed to extract: default, and with 64-bit sizes."""
_FLAGS = (0, 0x800)
"""No flag, or: the name is in UTF-8."""
MAX_DIRECTORY_BYTES = 32 * 1024**2
"""A larger directory is not read: its entries would take gigabytes of memory."""
MAX_ENTRIES = 10_000


class _Entry(NamedTuple):
    """An entry of the directory: the fields that its local header repeats, and the others."""

    name: bytes
    shared: tuple[int, ...]
    directory_only: tuple[int, ...]
    size: int
    offset: int


def directory_fault(path: Path) -> str | None:
    """Why the directory of a ZIP file must not be read; None if it may. Reads the last bytes of the file only."""
    try:
        with path.open("rb") as file:
            length = file.seek(0, 2)
            file.seek(max(0, length - (1 << 16) - _END.size))
            tail = file.read()
    except OSError as problem:
        return f"it cannot be read: {problem.strerror or problem}"
    at = tail.rfind(b"PK\5\6")
    if at < 0 or len(tail) - at < _END.size:
        return "it is not a ZIP file, or its end is missing"
    size = _END.unpack_from(tail, at)[5]
    locator = at - _LOCATOR.size
    if size == 0xFFFFFFFF and locator >= _END_64.size:
        size = _END_64.unpack_from(tail, locator - _END_64.size)[8]
    if size > min(MAX_DIRECTORY_BYTES, length):
        return f"its directory has {size} bytes, more than {MAX_DIRECTORY_BYTES}"
    return None


def layout_faults(path: Path) -> list[str]:
    """The faults of the layout; empty for an unaltered file that was written in one pass."""
    try:
        if fault := directory_fault(path):
            return [fault]
        with ZipFile(path) as package, path.open("rb") as file:
            return _faults(package, file)
    except (struct.error, *UNREADABLE) as problem:
        return [f"the ZIP file cannot be read ({problem})"]


def _faults(package: ZipFile, file: BinaryIO) -> list[str]:
    faults: list[str] = []
    entries = _directory(package, file)
    if len(entries) > MAX_ENTRIES:
        return [f"it has {len(entries)} entries, more than {MAX_ENTRIES}"]
    for repeated, count in Counter(entry.name for entry in entries).items():
        if count > 1:
            faults.append(f"{count} entries have the same name: {repeated.decode('utf-8', 'replace')}")
    at = 0
    for entry in sorted(entries, key=lambda entry: entry.offset):
        name = entry.name.decode("utf-8", "replace")
        if entry.offset < at:
            faults.append(f"{name}: it shares bytes with the entry before it")
        elif entry.offset > at:
            faults.append(f"{name}: bytes before it that belong to no entry")
        fault, at = _local_fault(file, entry)
        if fault:
            faults.append(f"{name}: {fault}")
    if at != package.start_dir:
        faults.append("bytes before the directory that belong to no entry")
    if not all(entry.directory_only[1] for entry in entries):
        faults.append("an entry is compressed, encrypted or has extra fields: captures store all files as they are")
    elif any(entry.directory_only[5] >> 28 not in _FILE_TYPES for entry in entries):
        faults.append("an entry is a link or another special file")
    elif len({entry.directory_only for entry in entries}) > 1:
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
        known = made_by in _VERSIONS and fields[2] in _VERSIONS and fields[3] in _FLAGS
        known = known and fields[4] == 0 and fields[8] == fields[9]  # stored: both sizes are equal
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
    """Check that nothing but the end records, with the right numbers, follows the directory."""
    length = file.seek(0, 2)
    file.seek(length - _END.size)
    magic, disk, first, here, total, size, offset, comment = _END.unpack(file.read(_END.size))
    is_large = offset == 0xFFFFFFFF or size == 0xFFFFFFFF or total == 0xFFFF
    is_valid = magic == b"PK\5\6" and disk == first == comment == 0
    end = length - _END.size
    if is_large:
        end -= _LOCATOR.size + _END_64.size
        file.seek(end)
        large = _END_64.unpack(file.read(_END_64.size))
        locator = _LOCATOR.unpack(file.read(_LOCATOR.size))
        is_valid = is_valid and locator == (b"PK\6\7", 0, end, 1)
        is_valid = is_valid and large[:2] == (b"PK\6\6", _END_64.size - 12) and large[4:6] == (0, 0)
        is_valid = is_valid and large[2] in _VERSIONS and large[3] in _VERSIONS
        is_valid = is_valid and (here, size, offset) == tuple(
            min(value, limit) for value, limit in zip(large[7:], (0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF), strict=True)
        )
        here, total, size, offset = large[6:]
    is_valid = is_valid and here == total == entries
    is_valid = is_valid and offset == package.start_dir and offset + size == end
    return [] if is_valid else ["the end record of the ZIP file is not as it was written"]
