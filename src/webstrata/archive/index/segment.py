"""Index segments: one sorted CDXJ file for each WARC file, built from the WARC file alone.

While a WARC file grows, its index lines are appended to a growing segment. A sync marker records up to which byte both
files are synced, so that the repair after a crash need not inflate the whole WARC file to rebuild its index lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from webstrata.archive.index import cdxj
from webstrata.archive.warc import http_head
from webstrata.archive.warc.growing import sync_folder, write_atomically
from webstrata.archive.warc.members import DamagedBytes
from webstrata.archive.warc.record import WarcRecord, sha1, sha1_of
from webstrata.archive.warc.record_pieces import HEAD_BYTES, ArchivedBody
from webstrata.archive.warc.walk import OPEN_SUFFIX, SUFFIXES, archive_files, plain_name, walk

# Of a gzip member that is kept in memory. The index needs the heads only, and digests of payloads without one.
_MAX_DATA_BYTES = 4 * HEAD_BYTES


def segment_name(warc: str) -> str:
    """`NAME.cdxj` for `NAME.warc.gz`; other suffixes are kept in the name, so that two files never share a segment."""
    return warc.removesuffix(SUFFIXES[0]) + ".cdxj"


def growing_name(warc: str) -> str:
    """The name of the segment of a WARC file that still grows."""
    return segment_name(warc) + OPEN_SUFFIX


def record_line(record: WarcRecord, filename: str) -> bytes | None:
    """The index line of a record; None for records that are not indexed."""
    kind = record.kind
    if kind not in ("response", "revisit", "resource", "metadata") or not record.length:
        return None
    content_type = record.field("content-type")
    if kind in ("resource", "metadata") and content_type == "application/warc-fields":
        return None
    head, payload = http_head.split_head(record.block) if record.http else (b"", record.block)
    return cdxj.line(
        kind=kind,
        url=record.url,
        date=record.date,
        digest=record.field("warc-payload-digest") or sha1(payload),
        truncated=record.field("warc-truncated"),
        head=head,
        content_type=None if record.http else content_type,
        length=record.length,
        offset=record.offset,
        filename=filename,
    )


def index_lines(path: Path) -> Iterator[bytes]:
    """The index lines of an archive file in the order of its records; damaged bytes are skipped."""
    name = plain_name(path.name)
    for item in walk(path, max_data_bytes=_MAX_DATA_BYTES):
        if not isinstance(item, DamagedBytes) and (line := record_line(with_digest(path, item), name)):
            yield line


def with_digest(path: Path, record: WarcRecord) -> WarcRecord:
    """The record with the digest of its payload, if its writer did not declare one and it is too large for memory."""
    is_kept = len(record.block) >= record.size
    if is_kept or record.kind == "revisit" or record.field("warc-payload-digest") or not record.is_complete:
        return record
    digest = sha1_of(ArchivedBody(lambda: path, record.offset).pieces())
    return msgspec.structs.replace(record, fields=(*record.fields, ("warc-payload-digest", digest)))


def sorted_segment(lines: Iterable[bytes]) -> bytes:
    """The lines sorted by SURT and time; lines with equal keys keep their order (by offset)."""
    in_order: list[bytes] = sorted(lines, key=cdxj.sort_key)
    return b"".join(in_order)


def write_segment(index_folder: Path, warc: str, lines: Iterable[bytes], *, fsync: bool = True) -> None:
    """Write the segment of a finished WARC file and remove its growing segment."""
    write_atomically(index_folder / segment_name(warc), sorted_segment(lines), fsync=fsync)
    (index_folder / growing_name(warc)).unlink(missing_ok=True)


def reindex(
    archive_folder: Path,
    index_folder: Path,
    *,
    fsync: bool = True,
    on_progress: Callable[[int], object] = lambda count: None,
) -> tuple[int, int]:
    """Rebuild the whole index from the WARC files alone; returns (files, lines).

    Segments of missing files are removed. A file that still grows gets a growing segment. `on_progress` is called with
    the size of each file when its segment has been written.
    """
    index_folder.mkdir(parents=True, exist_ok=True)
    current: set[str] = set()
    files = count = 0
    for path in archive_files(archive_folder):
        lines = list(index_lines(path))
        name = plain_name(path.name)
        if path.name.endswith(OPEN_SUFFIX):
            write_atomically(index_folder / growing_name(name), b"".join(lines), fsync=fsync)
            current.add(growing_name(name))
        else:
            write_segment(index_folder, name, lines, fsync=fsync)
            current.add(segment_name(name))
        on_progress(path.stat().st_size)
        files += 1
        count += len(lines)
    for stale in index_folder.iterdir():
        if stale.name not in current and stale.name.endswith((".cdxj", ".cdxj" + OPEN_SUFFIX, ".part")):
            stale.unlink()
    sync_folder(index_folder, fsync)
    return files, count


_MARKER_SUFFIX = ".mark"


class SyncMarker(Struct, frozen=True, kw_only=True):
    """How much of a growing WARC file and of its index lines is synced."""

    warc_bytes: int
    """All records before this offset are synced, and their index lines are, too."""
    index_bytes: int
    """The length of these index lines in the growing segment."""


def sync_marker_path(index_folder: Path, warc: str) -> Path:
    """The file that holds the sync marker of a WARC file."""
    return index_folder / (segment_name(warc) + _MARKER_SUFFIX)


def write_sync_marker(index_folder: Path, warc: str, marker: SyncMarker, *, fsync: bool) -> None:
    """Write the marker. Both files must have been synced before."""
    write_atomically(sync_marker_path(index_folder, warc), msgspec.json.encode(marker), fsync=fsync)


def synced_lines(index_folder: Path, warc: str, warc_size: int) -> tuple[list[bytes], int]:
    """The synced index lines of a growing WARC file, and the offset in it from which lines must be rebuilt."""
    try:
        marker = msgspec.json.decode(sync_marker_path(index_folder, warc).read_bytes(), type=SyncMarker)
        lines = (index_folder / growing_name(warc)).read_bytes()[: marker.index_bytes]
    except (OSError, msgspec.DecodeError):
        return [], 0
    is_valid = len(lines) == marker.index_bytes and lines.endswith(b"\n") and marker.warc_bytes <= warc_size
    return (lines.splitlines(keepends=True), marker.warc_bytes) if is_valid else ([], 0)
