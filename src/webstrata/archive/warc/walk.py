"""All records of a file with their offsets, and what is wrong between them.

Reads what the field has written in thirty years: WARC and ARC, with one gzip member for each record, with one
member for all of them, and without compression. Damage is an item of the walk, never an exception.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec

from webstrata.archive.warc.members import MAX_DATA_BYTES, MAGIC, DamagedBytes, GzipMember, members
from webstrata.archive.warc.record import Buffer, WarcRecord, parse_record

SUFFIXES = (".warc.gz", ".warc", ".arc.gz", ".arc")
OPEN_SUFFIX = ".open"


def archive_files(folder: Path) -> list[Path]:
    """Every archive file, finished or growing, in the order of its name."""
    if not folder.is_dir():
        return []
    found = (path for path in folder.iterdir() if path.is_file())
    return sorted(path for path in found if plain_name(path.name).endswith(SUFFIXES))


def total_bytes(folder: Path) -> int:
    """Bytes that a walk over all files of an archive reads."""
    return sum(path.stat().st_size for path in archive_files(folder))


def plain_name(name: str) -> str:
    """A file's final name: without the ending that says that it still grows."""
    return name.removesuffix(OPEN_SUFFIX)


def walk(path: Path, start: int = 0, keep: int = MAX_DATA_BYTES) -> Iterator[WarcRecord | DamagedBytes]:
    """Records and damage in the order of the file; of each block at most about `keep` bytes are held."""
    with path.open("rb", buffering=0) as file:
        first = file.read(len(MAGIC))
        if first[:2] == MAGIC[:2] or path.name.removesuffix(OPEN_SUFFIX).endswith(".gz"):
            yield from _walk_members(file, start, keep)
        elif first:
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as whole:
                yield from _walk_plain(whole, start)


def _walk_members(file: BinaryIO, start: int, keep: int) -> Iterator[WarcRecord | DamagedBytes]:
    for item in members(file, start, keep):
        if isinstance(item, DamagedBytes):
            yield item
        else:
            yield from records_of(item)


def records_of(member: GzipMember) -> Iterator[WarcRecord | DamagedBytes]:
    """The record of a member. More than one, or less than one, is a fault of shape; what can be read is given."""
    found = parse_record(member.data, 0, len(member.data))
    if found is None:
        yield DamagedBytes(
            offset=member.offset, length=member.length, kind="damaged", what="a gzip member without a record"
        )
        return
    record, end = found
    cut = member.size - len(member.data)
    record = msgspec.structs.replace(record, offset=member.offset, length=member.length, size=_size(record, cut))
    yield record
    if not record.whole:
        yield _shape(member, "the record is longer than its gzip member, or has no length")
    elif not cut and member.data[end:].strip(b"\r\n"):
        yield _shape(member, "more than one record in a gzip member: none of them can be read alone")
        yield from _inner(member, end)


def _size(record: WarcRecord, cut: int) -> int:
    return record.size if not cut or record.declared is None else min(record.declared, record.size + cut)


def _inner(member: GzipMember, start: int) -> Iterator[WarcRecord | DamagedBytes]:
    """Records behind the first one of a member; they have the member's offset, for want of one of their own."""
    at = start
    while found := parse_record(member.data, at, len(member.data)):
        record, at = found
        yield msgspec.structs.replace(record, offset=member.offset, length=0)
        if not record.whole:
            yield _shape(member, "the last record of the gzip member is not whole")
            return
    if member.data[at:].strip(b"\r\n"):
        yield _shape(member, "bytes that are no record in a gzip member")


def _shape(member: GzipMember, what: str) -> DamagedBytes:
    return DamagedBytes(offset=member.offset, length=member.length, kind="shape", what=what)


def _walk_plain(buffer: Buffer, start: int) -> Iterator[WarcRecord | DamagedBytes]:
    at, end = start, len(buffer)
    while at < end:
        found = parse_record(buffer, at, end)
        if found is None:
            if buffer[at:end].strip(b"\r\n"):
                yield DamagedBytes(offset=at, length=end - at, kind="damaged", what="bytes that are no record")
            return
        record, at = found
        yield record
        if not record.whole and record.declared is not None:
            yield DamagedBytes(
                offset=record.offset, length=record.length, kind="torn", what="the file ends inside a record"
            )
            return
