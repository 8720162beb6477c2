"""Export of captures as one WARC file or one CDXJ file: selection of the records, and copying them unchanged.

The selection includes the original of each selected revisit and the request of each capture. `wacz/writer.py` uses the
same selection for WACZ files.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import BinaryIO

import msgspec
from msgspec import Struct

from webstrata.archive.index.cdxj import parse
from webstrata.archive.index.lookup import Index, Match
from webstrata.archive.index.segment import record_line
from webstrata.archive.warc import compose
from webstrata.archive.warc.growing import sync_folder
from webstrata.archive.warc.members import MAGIC, compressed, compressed_pieces, inflated
from webstrata.archive.warc.reader import WarcReader
from webstrata.archive.warc.record import WarcRecord, bare_uri
from webstrata.errors import ArchiveError
from webstrata.records import Position


class Selection(Struct, frozen=True, kw_only=True):
    """A selection of captures by URL and time; all captures by default."""

    url: str | None = None
    match: Match = "prefix"
    since: str = ""
    """A timestamp of up to 14 digits; both limits are inclusive."""
    until: str = ""


class SelectedRecord(Struct, frozen=True, kw_only=True, order=True):
    """The position of a record to export."""

    file: str
    offset: int


def selected_lines(index: Index, selection: Selection) -> Iterator[bytes]:
    """The index lines of the selection, in index order."""
    since, until = selection.since, selection.until
    if selection.url is None:
        return index.lines(since=since, until=until)
    return index.lookup_lines(selection.url, match=selection.match, since=since, until=until)


def selected_records(index: Index, reader: WarcReader, selection: Selection) -> list[SelectedRecord]:
    """The records of the selection in file order: captures, and the originals of revisits."""
    entries = (entry for line in selected_lines(index, selection) if (entry := parse(line)))
    return _with_originals(reader, ((entry.filename, entry.offset, entry.revisit) for entry in entries))


def records_at(reader: WarcReader, positions: Iterable[Position]) -> list[SelectedRecord]:
    """The records at these positions in file order, and the originals of those that are revisits."""
    return _with_originals(reader, ((at.file, at.offset, at.kind == "revisit") for at in positions))


def _with_originals(reader: WarcReader, captures: Iterable[tuple[str, int, bool]]) -> list[SelectedRecord]:
    """The records and the originals of revisits. A capture is (file, offset, whether it is a revisit)."""
    records: set[SelectedRecord] = set()
    for file, offset, is_revisit in captures:
        records.add(SelectedRecord(file=file, offset=offset))
        original = reader.original_of(reader.record(file, offset)) if is_revisit else None
        if original:
            records.add(SelectedRecord(file=original[0], offset=original[1].offset))
    return sorted(records)


def record_with_request(reader: WarcReader, selected: SelectedRecord) -> Iterator[WarcRecord]:
    """The record of a capture and, if it follows directly, the record of its request."""
    capture = reader.record(selected.file, selected.offset)
    yield capture
    try:
        following = reader.record(selected.file, selected.offset + capture.length)
    except ArchiveError:
        return  # the last record of its file
    if bare_uri(following.field("warc-concurrent-to") or "") == capture.record_id and following.kind == "request":
        yield following


_CAPTURES = ("response", "revisit", "resource")
_MAX_MEMBER_BYTES = 16 * 1024**2
"""A larger record is copied piece by piece."""


class OpenArchive:
    """The index and the reader of an archive from which captures are exported."""

    def __init__(self, archive_folder: Path, index_folder: Path) -> None:
        self.index = Index(index_folder)
        self.reader = WarcReader(archive_folder, index_folder, max_body_bytes=_MAX_MEMBER_BYTES)

    def close(self) -> None:
        self.reader.close()
        self.index.close()


def export_cdxj(source: OpenArchive, selection: Selection, out: Path) -> int:
    """Write the index lines of the selection, sorted; returns their number."""
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
    """Write the records of the selection to one `.warc.gz` file; returns the number of captures."""
    with atomic_file(out) as file:
        records = selected_records(source.index, source.reader, selection)
        return len(copy_records(source, records, file.write, out.name, software, at, on_progress).lines)


class ExportedRecords(Struct):
    """The result of an export: unsorted index lines, where each one's record was copied from, and record ID -> SHA-256
    of the uncompressed record."""

    lines: list[bytes]
    sources: list[SelectedRecord]
    digests: dict[str, str]
    captures: list[str]
    """The IDs of the responses, revisits and resources."""


def copy_records(
    source: OpenArchive,
    records: Iterable[SelectedRecord],
    write: Callable[[bytes], object],
    filename: str,
    software: str,
    at: float,
    on_progress: Callable[[int], object],
) -> ExportedRecords:
    """Write a `warcinfo` record and the given records, each with its request."""
    end = 0

    def put(member: bytes) -> None:
        nonlocal end
        write(member)
        on_progress(len(member))
        end += len(member)

    record_id = next(compose.record_ids())
    about = compose.warcinfo(record_id, at, filename, software, None)
    put(compressed(about))
    copied = ExportedRecords([], [], {bare_uri(record_id): hashlib.sha256(about).hexdigest()}, [])
    for selected in records:
        for record in record_with_request(source.reader, selected):
            begin = end
            digest = hashlib.sha256()
            for piece in _member(source.reader, selected.file, record, digest):
                put(piece)
            copied_record = msgspec.structs.replace(record, offset=begin, length=end - begin)
            copied.digests[record.record_id] = digest.hexdigest()
            if record.kind in _CAPTURES:
                copied.captures.append(record.record_id)
            line = record_line(_with_payload(source.reader, selected.file, record, copied_record), filename)
            if line:
                copied.lines.append(line)
                copied.sources.append(SelectedRecord(file=selected.file, offset=record.offset))
    return copied


def _member(reader: WarcReader, file: str, record: WarcRecord, digest: hashlib._Hash) -> Iterator[bytes]:
    """The record as a gzip member: copied if it is compressed in the file, else compressed now.

    The bytes without compression are added to the digest.
    """
    if record.length > _MAX_MEMBER_BYTES or record.size > _MAX_MEMBER_BYTES:
        yield from _large_member(reader, file, record, digest)
        return
    raw = reader.raw(file, record.offset, record.length)
    if raw.startswith(MAGIC):
        digest.update(inflated(raw))
        yield raw
        return
    _require_warc(file, record)
    digest.update(raw + compose.RECORD_END)
    yield compressed(raw + compose.RECORD_END)


def _large_member(reader: WarcReader, file: str, record: WarcRecord, digest: hashlib._Hash) -> Iterator[bytes]:
    """The same, piece by piece."""
    if next(reader.raw_pieces(file, record.offset, len(MAGIC)), b"") == MAGIC:
        for piece in reader.inflated_pieces(file, record.offset):
            digest.update(piece)
        yield from reader.raw_pieces(file, record.offset, record.length)
        return
    _require_warc(file, record)
    pieces = chain(reader.raw_pieces(file, record.offset, record.length), [compose.RECORD_END])
    yield from compressed_pieces(_digested(pieces, digest))


def _digested(pieces: Iterable[bytes], digest: hashlib._Hash) -> Iterator[bytes]:
    """The pieces, each after it was added to the digest."""
    for piece in pieces:
        digest.update(piece)
        yield piece


def _with_payload(reader: WarcReader, file: str, record: WarcRecord, copied: WarcRecord) -> WarcRecord:
    """The copied record; one that is too large for memory and declares no digest, with the digest of its payload."""
    if record.field("warc-payload-digest") or record.kind == "revisit":
        return copied
    body = reader.large_body(file, record)
    if body is None:
        return copied
    return msgspec.structs.replace(copied, fields=(*copied.fields, ("warc-payload-digest", body.payload)))


def _require_warc(file: str, record: WarcRecord) -> None:
    if not record.version.startswith("WARC"):
        raise ArchiveError(f"{file} is an ARC file, which cannot be exported as WARC. Convert it with `warcio`.")


@contextmanager
def atomic_file(out: Path) -> Iterator[BinaryIO]:
    """A temporary file that is renamed to `out` at the end, so that `out` is never an incomplete export.

    A link is followed. A pipe or device is written to directly: it must not be replaced by a file.
    """
    if out.exists() and not out.is_file() and not out.is_dir():
        with out.open("wb") as file:
            yield file
        return
    out = out.resolve()
    part = out.with_name(out.name + ".part")
    try:
        with part.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.rename(out)
        sync_folder(out.parent)
    except OSError as error:
        raise ArchiveError(f"cannot write {out}: {error.strerror or error}. Choose another file or folder.") from error
    finally:
        part.unlink(missing_ok=True)
