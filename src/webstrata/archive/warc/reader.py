"""Reading of captures from WARC files by position; revisits are resolved to the content of their original."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from webstrata.archive.index import cdxj
from webstrata.archive.index.lookup import Index
from webstrata.archive.warc import http_head
from webstrata.archive.warc.file_name import is_written_by, writer_of
from webstrata.archive.warc.members import MAGIC, MAX_DATA_BYTES, DamagedBytes, KeptData, member_at
from webstrata.archive.warc.record import WarcRecord, bare_uri, parse_record
from webstrata.archive.warc.record_pieces import HEAD_BYTES, ArchivedBody, member_pieces
from webstrata.archive.warc.walk import OPEN_SUFFIX, records_of
from webstrata.errors import ArchiveError
from webstrata.records import LargeBody, Position

_NOT_MODIFIED = "server-not-modified"


class WarcCapture(Struct, frozen=True, kw_only=True):
    """A capture read from a WARC file; satisfies `ports.Stored`."""

    url: str
    at: float
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    """As received, with its content coding; of a revisit, the body of the original."""
    large: LargeBody | None = None
    """The body instead, if it is longer than the reader's limit."""
    record_id: str = ""
    kind: str = "response"
    head: bytes = b""
    """The archived HTTP head."""
    payload: str | None = None
    truncated: str | None = None
    original_at: float | None = None
    """Of a revisit: the time of the original capture."""


class WarcReader:
    """Reads finished and growing files. Thread-safe."""

    def __init__(
        self,
        archive_folder: Path,
        index_folder: Path,
        node_name: str | None = None,
        *,
        max_body_bytes: int = MAX_DATA_BYTES - HEAD_BYTES,
    ) -> None:
        """`node_name`: the archiver to which the folder belongs, to tell its files from those of other homes. A body
        that is longer than `max_body_bytes` is not read into memory."""
        self._node_name = node_name
        self._folder = archive_folder
        self.max_body_bytes = max_body_bytes
        self._index = Index(index_folder)

    def read(self, position: Position) -> WarcCapture:
        """The capture at a position. Raises ArchiveError if there is no complete record with its ID."""
        record = self.record(position.file, position.offset)
        if position.record_id and record.record_id != position.record_id:
            raise _unreadable(position.file, position.offset, "there is another record")
        return self._resolved(record, position.file)

    def read_at(self, file: str, offset: int) -> WarcCapture:
        """The capture whose record starts at an offset of a file, as given by an index line."""
        return self._resolved(self.record(file, offset), file)

    def record(self, file: str, offset: int) -> WarcRecord:
        """The record at an offset; revisits are not resolved. Of a large block only the beginning is kept."""
        item = self._item(file, offset)
        if item is None or isinstance(item, DamagedBytes) or not item.is_complete:
            why = item.what if isinstance(item, DamagedBytes) else "no complete record"
            raise _unreadable(file, offset, why)
        return item

    def raw(self, file: str, offset: int, length: int) -> bytes:
        """The bytes of a record as stored in the file."""
        with self._path(file, offset).open("rb", buffering=0) as opened:
            opened.seek(offset)
            return opened.read(length)

    def raw_pieces(self, file: str, offset: int, length: int) -> Iterator[bytes]:
        """The same, piece by piece."""
        with self._path(file, offset).open("rb", buffering=0) as opened:
            opened.seek(offset)
            while length > 0 and (piece := opened.read(min(length, HEAD_BYTES))):
                length -= len(piece)
                yield piece

    def inflated_pieces(self, file: str, offset: int) -> Iterator[bytes]:
        """The bytes of a compressed record without compression, piece by piece."""
        return member_pieces(self._path(file, offset), offset)

    def large_body(self, file: str, record: WarcRecord) -> LargeBody | None:
        """The body of a record in a file, if it is longer than the limit."""
        size = record.declared or 0
        if size <= self.max_body_bytes:
            return None
        body = ArchivedBody(lambda: self._path(file, record.offset), record.offset)
        return body if body.size > self.max_body_bytes else None

    def close(self) -> None:
        self._index.close()

    def _item(self, name: str, offset: int) -> WarcRecord | DamagedBytes | None:
        path = self._path(name, offset)
        with path.open("rb", buffering=0) as file:
            file.seek(offset)
            if file.read(2) != MAGIC[:2]:
                return _plain_record(path, offset, self.max_body_bytes + HEAD_BYTES)
            member = member_at(file, offset, KeptData(self.max_body_bytes + HEAD_BYTES, HEAD_BYTES))
        if member is None or isinstance(member, DamagedBytes):
            return member
        return next(records_of(member))

    def _path(self, name: str, offset: int) -> Path:
        """The path of a finished or growing file. The final name is tried twice: the file may be renamed in between."""
        if "/" in name or "\\" in name or name.startswith("."):
            raise _unreadable(name, offset, "not the name of an archive file")
        for path in (self._folder / name, self._folder / (name + OPEN_SUFFIX), self._folder / name):
            if path.is_file():
                return path
        writer = writer_of(name)
        if self._node_name is not None and writer is not None and not is_written_by(name, self._node_name):
            raise ArchiveError(
                f"this capture is in the archive of another home ({writer}): byte {offset} of {name}. Run the command "
                "with that home, or copy the file into `archive` of this one and run `webstrata reindex`."
            )
        raise _unreadable(name, offset, "no such file")

    def _resolved(self, record: WarcRecord, file: str) -> WarcCapture:
        if record.kind != "revisit":
            return _capture(record, self.large_body(file, record))
        original = self.original_of(record)
        if original is None:
            raise _unreadable(record.url, record.offset, "the original of this revisit is not in this archive")
        source = _capture(original[1], self.large_body(*original))
        own = record if record.block and _NOT_MODIFIED not in (record.field("warc-profile") or "") else None
        head = http_head.split_head(own.block)[0] if own else source.head
        return replace(
            source,
            url=record.url,
            at=cdxj.at_of(record.date),
            status=http_head.status_of(head) or source.status,
            headers=http_head.parse_fields(head) or source.headers,
            record_id=record.record_id,
            kind="revisit",
            head=head,
            payload=record.field("warc-payload-digest"),
            original_at=source.at,
        )

    def original_of(self, revisit: WarcRecord) -> tuple[str, WarcRecord] | None:
        """(File, record) of the original: by the position in the revisit, else by URL and time, else by payload."""
        original_id = bare_uri(revisit.field("warc-refers-to") or "")
        digest = revisit.field("warc-payload-digest")
        for file, offset in self._candidates(revisit, digest):
            try:
                record = self.record(file, offset)
            except ArchiveError:
                continue
            if record.kind == "revisit":
                continue
            if record.record_id == original_id or (digest and _same(digest, record.field("warc-payload-digest"))):
                return file, record
        return None

    def _candidates(self, revisit: WarcRecord, digest: str | None) -> Iterator[tuple[str, int]]:
        file, offset = revisit.field("warc-refers-to-filename"), revisit.field("warc-refers-to-file-offset")
        if file and offset and offset.isdigit():
            yield file, int(offset)
        url = revisit.field("warc-refers-to-target-uri") or revisit.url
        date = revisit.field("warc-refers-to-date")
        stamp = cdxj.timestamp(date) if date else ""
        for entry in self._index.lookup(bare_uri(url), since=stamp, until=stamp):
            if not entry.revisit:
                yield entry.filename, entry.offset
        if digest:
            for entry in self._index.entries():
                if not entry.revisit and _same(digest, entry.digest):
                    yield entry.filename, entry.offset


def _plain_record(path: Path, offset: int, max_block_bytes: int) -> WarcRecord | None:
    """The record at an offset of an uncompressed file."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        if offset >= size:
            return None
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            parsed = parse_record(content, offset, size, max_block_bytes)
            return parsed[0] if parsed else None


def _capture(record: WarcRecord, large: LargeBody | None) -> WarcCapture:
    head, body = http_head.split_head(record.block) if record.http else (b"", record.block)
    return WarcCapture(
        url=record.url,
        at=cdxj.at_of(record.date),
        status=http_head.status_of(head) or 200,
        headers=http_head.parse_fields(head) or (("content-type", record.field("content-type") or ""),),
        body=body if large is None else b"",
        large=large,
        record_id=record.record_id,
        kind=record.kind,
        head=head,
        payload=record.field("warc-payload-digest"),
        truncated=record.field("warc-truncated"),
    )


def _same(digest: str, other: str | None) -> bool:
    return other is not None and digest.rpartition(":")[2].upper() == other.rpartition(":")[2].upper()


def _unreadable(file: str, offset: int, why: str) -> ArchiveError:
    return ArchiveError(
        f"no capture at {file}, byte {offset}: {why}. Run `webstrata check` to find the damage and "
        "`webstrata reindex` to rebuild the index."
    )
