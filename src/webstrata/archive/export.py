"""Which captures an export takes, and every record that they need.

Captures out of the archive as one WARC file or one CDXJ file, record for record.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import msgspec
from isal import isal_zlib
from msgspec import Struct

from webstrata.archive.index.cdxj import parse
from webstrata.archive.index.lookup import Index, Match
from webstrata.archive.index.segment import record_line
from webstrata.archive.warc import compose
from webstrata.archive.warc.growing import sync_folder
from webstrata.archive.warc.members import MAGIC
from webstrata.archive.warc.reader import WarcReader
from webstrata.archive.warc.record import WarcRecord, bare_uri
from webstrata.errors import ArchiveError
from webstrata.records import Position


class Selection(Struct, frozen=True, kw_only=True):
    """Captures by address and time; all of them by default."""

    url: str | None = None
    match: Match = "prefix"
    since: str = ""
    """Up to 14 digits; included."""
    until: str = ""


class SelectedRecord(Struct, frozen=True, kw_only=True, order=True):
    """A record to be copied."""

    file: str
    offset: int


def selected_lines(index: Index, selection: Selection) -> Iterator[bytes]:
    """Index lines of the selection, in the order of the index."""
    since, until = selection.since, selection.until
    if selection.url is None:
        return index.lines(since=since, until=until)
    return index.lookup_lines(selection.url, match=selection.match, since=since, until=until)


def selected_records(index: Index, reader: WarcReader, selection: Selection) -> list[SelectedRecord]:
    """Every record of the selection in the order of the files: captures, and the originals of revisits."""
    found: set[SelectedRecord] = set()
    for line in selected_lines(index, selection):
        entry = parse(line)
        if entry is None:
            continue
        found.add(SelectedRecord(file=entry.filename, offset=entry.offset))
        if entry.revisit:
            original = reader.original_of(reader.record(entry.filename, entry.offset))
            if original:
                found.add(SelectedRecord(file=original[0], offset=original[1].offset))
    return sorted(found)


def records_at(reader: WarcReader, positions: Iterable[Position]) -> list[SelectedRecord]:
    """The records at these places in the order of the files, and the originals of those that are revisits."""
    found: set[SelectedRecord] = set()
    for place in positions:
        found.add(SelectedRecord(file=place.file, offset=place.offset))
        if place.kind == "revisit":
            original = reader.original_of(reader.record(place.file, place.offset))
            if original:
                found.add(SelectedRecord(file=original[0], offset=original[1].offset))
    return sorted(found)


def record_with_request(reader: WarcReader, piece: SelectedRecord) -> Iterator[WarcRecord]:
    """A capture's record and, where it stands right behind, the request that got it."""
    capture = reader.record(piece.file, piece.offset)
    yield capture
    try:
        behind = reader.record(piece.file, piece.offset + capture.length)
    except ArchiveError:
        return  # the last record of its file, or a foreign one without its request
    if bare_uri(behind.field("warc-concurrent-to") or "") == capture.record_id and behind.kind == "request":
        yield behind


_GZIP = 31
_LEVEL = 2


class OpenArchive:
    """An archive to export from: its folders, opened."""

    def __init__(self, archive_folder: Path, index_folder: Path) -> None:
        self.index = Index(index_folder)
        self.reader = WarcReader(archive_folder, index_folder)

    def close(self) -> None:
        self.reader.close()
        self.index.close()


def export_cdxj(source: OpenArchive, selection: Selection, out: Path) -> int:
    """Index lines of the selection, sorted; how many."""
    count = 0
    with atomic_file(out) as file:
        for line in selected_lines(source.index, selection):
            file.write(line)
            count += 1
    return count


def export_warc(
    source: OpenArchive,
    selection: Selection,
    out: Path,
    *,
    software: str,
    at: float,
    on_progress: Callable[[int], object] = lambda count: None,
) -> int:
    """The selection's records in one `.warc.gz`; how many captures."""
    with atomic_file(out) as file:
        wanted = selected_records(source.index, source.reader, selection)
        return len(copy_records(source, wanted, write_with_progress(file.write, on_progress), out.name, software, at).lines)


class ExportedRecords(Struct):
    """What was written: index lines, unsorted, and every record's id with the SHA-256 of its bytes."""

    lines: list[bytes]
    digests: dict[str, str]


def copy_records(
    source: OpenArchive,
    wanted: Iterable[SelectedRecord],
    write: Callable[[bytes], object],
    filename: str,
    software: str,
    at: float,
) -> ExportedRecords:
    """Write a `warcinfo` and the wanted records, each with its request."""
    name = next(compose.record_ids())
    about = compose.warcinfo(name, at, filename, software, None)
    end = _put(write, isal_zlib.compress(about, _LEVEL, _GZIP))
    copied = ExportedRecords([], {bare_uri(name): hashlib.sha256(about).hexdigest()})
    for piece in wanted:
        for record in record_with_request(source.reader, piece):
            member = _member(source.reader, piece.file, record)
            copied_record = msgspec.structs.replace(record, offset=end, length=len(member))
            end += _put(write, member)
            copied.digests[record.record_id] = hashlib.sha256(isal_zlib.decompress(member, _GZIP)).hexdigest()
            line = record_line(copied_record, filename)
            if line:
                copied.lines.append(line)
    return copied


def write_with_progress(write: Callable[[bytes], object], on_progress: Callable[[int], object]) -> Callable[[bytes], object]:
    """A `write` that also says how many bytes it wrote, for whoever shows progress."""

    def write_and_tell(data: bytes) -> None:
        write(data)
        on_progress(len(data))

    return write_and_tell


def _member(reader: WarcReader, file: str, record: WarcRecord) -> bytes:
    """The record as its own gzip member: copied where it is one, else compressed now."""
    raw = reader.raw(file, record.offset, record.length)
    if raw.startswith(MAGIC):
        return raw
    if not record.version.startswith("WARC"):
        raise ArchiveError(f"{file} is an ARC file, which cannot be exported as WARC. Convert it with `warcio`.")
    member: bytes = isal_zlib.compress(raw + b"\r\n\r\n", _LEVEL, _GZIP)
    return member


def _put(write: Callable[[bytes], object], data: bytes) -> int:
    write(data)
    return len(data)


@contextmanager
def atomic_file(out: Path) -> Iterator[BinaryIO]:
    """Written beside and renamed at the end, so that no half export ever has the name."""
    part = out.with_name(out.name + ".part")
    try:
        with part.open("wb") as file:
            yield file
        part.rename(out)
        sync_folder(out.parent)
    except OSError as error:
        raise ArchiveError(f"cannot write {out}: {error.strerror or error}. Choose another place.") from error
    finally:
        part.unlink(missing_ok=True)
