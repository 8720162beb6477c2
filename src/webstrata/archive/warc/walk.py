"""Iteration over the archive files of a folder and over the records of a file.

Supports WARC and ARC files with one gzip member for each record, with one member for all records, and without
compression. Damaged bytes are returned as items between the records; no exception is raised for them.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from pathlib import Path

import msgspec

from webstrata.archive.warc.members import MAGIC, MAX_DATA_BYTES, DamagedBytes, GzipMember, KeptData, members
from webstrata.archive.warc.record import Buffer, WarcRecord, parse_record

SUFFIXES = (".warc.gz", ".warc", ".arc.gz", ".arc")
OPEN_SUFFIX = ".open"


def archive_files(folder: Path) -> list[Path]:
    """All archive files of a folder, finished or growing, sorted by name."""
    if not folder.is_dir():
        return []
    files = (path for path in folder.iterdir() if path.is_file())
    return sorted(path for path in files if plain_name(path.name).endswith(SUFFIXES))


def total_bytes(folder: Path) -> int:
    """The size of all archive files of a folder."""
    return sum(path.stat().st_size for path in archive_files(folder))


def plain_name(name: str) -> str:
    """The final name of a file: without the suffix of a growing file."""
    return name.removesuffix(OPEN_SUFFIX)


def walk(
    path: Path, start: int = 0, max_data_bytes: int = MAX_DATA_BYTES, *, of_larger: int | None = None
) -> Iterator[WarcRecord | DamagedBytes]:
    """Records and damaged bytes in file order.

    Of each gzip member, or of each block in an uncompressed file, at most `max_data_bytes` are kept in memory; of a
    member that is larger, `of_larger`.
    """
    with path.open("rb", buffering=0) as file:
        first = file.read(len(MAGIC))
        if first[:2] == MAGIC[:2] or path.name.removesuffix(OPEN_SUFFIX).endswith(".gz"):
            for item in members(file, start, KeptData(max_data_bytes, of_larger)):
                if isinstance(item, DamagedBytes):
                    yield item
                else:
                    yield from records_of(item)
        elif first:
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
                yield from _walk_plain(content, start, max_data_bytes)


def records_of(member: GzipMember) -> Iterator[WarcRecord | DamagedBytes]:
    """The record of a member, and `DamagedBytes` if the member does not hold exactly one complete record."""
    parsed = parse_record(member.data, 0, len(member.data))
    if parsed is None:
        yield DamagedBytes(
            offset=member.offset, length=member.length, kind="damaged", what="a gzip member without a record"
        )
        return
    record, end = parsed
    omitted = member.size - len(member.data)
    size = record.size if not omitted or record.declared is None else min(record.declared, record.size + omitted)
    record = msgspec.structs.replace(record, offset=member.offset, length=member.length, size=size)
    yield record
    if not record.is_complete:
        yield _shape(member, "the record is longer than its gzip member, or has no length")
    elif member.data[end:].strip(b"\r\n"):
        yield _shape(member, "more than one record in a gzip member: they cannot be read one by one")
        yield from _further_records(member, end)


def _further_records(member: GzipMember, start: int) -> Iterator[WarcRecord | DamagedBytes]:
    """The records after the first one of a member; they have the offset of the member and the length 0."""
    at = start
    while parsed := parse_record(member.data, at, len(member.data)):
        record, at = parsed
        yield msgspec.structs.replace(record, offset=member.offset, length=0)
        if not record.is_complete:
            yield _shape(member, "the last record of the gzip member is not complete")
            return
    if member.data[at:].strip(b"\r\n"):
        yield _shape(member, "bytes that are not a record in a gzip member")


def _shape(member: GzipMember, what: str) -> DamagedBytes:
    return DamagedBytes(offset=member.offset, length=member.length, kind="shape", what=what)


def _walk_plain(buffer: Buffer, start: int, max_block_bytes: int) -> Iterator[WarcRecord | DamagedBytes]:
    at, end = start, len(buffer)
    while at < end:
        parsed = parse_record(buffer, at, end, max_block_bytes)
        if parsed is None:
            if buffer[at:end].strip(b"\r\n"):
                yield DamagedBytes(offset=at, length=end - at, kind="damaged", what="bytes that are not a record")
            return
        record, at = parsed
        yield record
        if not record.is_complete and record.declared is not None:
            yield DamagedBytes(
                offset=record.offset, length=record.length, kind="torn", what="the file ends inside a record"
            )
            return
