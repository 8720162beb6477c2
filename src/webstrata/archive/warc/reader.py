"""Captures back from WARC files: by position, with revisits resolved to the content they stand for."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from webstrata.archive.index import cdxj
from webstrata.archive.index.lookup import Index
from webstrata.archive.warc import http_head
from webstrata.archive.warc.members import MAGIC, DamagedBytes, member_at
from webstrata.archive.warc.record import WarcRecord, bare_uri, parse_record
from webstrata.archive.warc.walk import OPEN_SUFFIX, records_of
from webstrata.errors import ArchiveError
from webstrata.records import Position

_NOT_MODIFIED = "server-not-modified"


class WarcCapture(Struct, frozen=True, kw_only=True):
    """A capture read back; satisfies `ports.Stored`."""

    url: str
    at: float
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    """As on the wire: content coding kept. Of a revisit, the original's."""
    record_id: str = ""
    kind: str = "response"
    head: bytes = b""
    """The HTTP head as archived."""
    payload: str | None = None
    truncated: str | None = None
    original_at: float | None = None
    """Of a revisit: when the content was archived."""


class WarcReader:
    """Reads finished and growing files. Safe in many threads."""

    def __init__(self, archive_folder: Path, index_folder: Path) -> None:
        self._folder = archive_folder
        self._index = Index(index_folder)

    def read(self, position: Position) -> WarcCapture:
        """Raises ArchiveError where no whole record of this name stands there."""
        record = self.record(position.file, position.offset)
        if position.record_id and record.record_id != position.record_id:
            raise _unreadable(position.file, position.offset, "another record stands there")
        return self._stored(record)

    def read_at(self, file: str, offset: int) -> WarcCapture:
        """The capture whose record starts at an offset of a file, as an index line names it."""
        return self._stored(self.record(file, offset))

    def record(self, file: str, offset: int) -> WarcRecord:
        """The record itself, not resolved."""
        item = self._item(file, offset)
        if item is None or isinstance(item, DamagedBytes) or not item.whole:
            why = item.what if isinstance(item, DamagedBytes) else "no whole record"
            raise _unreadable(file, offset, why)
        return item

    def raw(self, file: str, offset: int, length: int) -> bytes:
        """The bytes of a record as they stand in the file."""
        with self._path(file, offset).open("rb", buffering=0) as opened:
            opened.seek(offset)
            return opened.read(length)

    def close(self) -> None:
        self._index.close()

    def _item(self, name: str, offset: int) -> WarcRecord | DamagedBytes | None:
        path = self._path(name, offset)
        with path.open("rb", buffering=0) as file:
            file.seek(offset)
            if file.read(2) != MAGIC[:2]:
                return _plain_record(path, offset)
            member = member_at(file, offset)
        if member is None or isinstance(member, DamagedBytes):
            return member
        return next(records_of(member))

    def _path(self, name: str, offset: int) -> Path:
        """The file, finished or growing; asked twice, since it may be renamed between."""
        if "/" in name or "\\" in name or name.startswith("."):
            raise _unreadable(name, offset, "not the name of an archive file")
        for path in (self._folder / name, self._folder / (name + OPEN_SUFFIX), self._folder / name):
            if path.is_file():
                return path
        raise _unreadable(name, offset, "no such file")

    def _stored(self, record: WarcRecord) -> WarcCapture:
        if record.kind != "revisit":
            return _capture(record)
        found = self.original_of(record)
        if found is None:
            raise _unreadable(record.url, record.offset, "the record it revisits is not in this archive")
        whole = _capture(found[1])
        seen = record if record.block and _NOT_MODIFIED not in (record.field("warc-profile") or "") else None
        head = http_head.split_head(seen.block)[0] if seen else whole.head
        return WarcCapture(
            url=record.url,
            at=cdxj.at_of(record.date),
            status=http_head.status_of(head) or whole.status,
            headers=http_head.parse_fields(head) or whole.headers,
            body=whole.body,
            record_id=record.record_id,
            kind="revisit",
            head=head,
            payload=record.field("warc-payload-digest"),
            truncated=whole.truncated,
            original_at=whole.at,
        )

    def original_of(self, revisit: WarcRecord) -> tuple[str, WarcRecord] | None:
        """File and record: by the place the revisit names, else by URL and time, else by payload alone."""
        wanted = bare_uri(revisit.field("warc-refers-to") or "")
        digest = revisit.field("warc-payload-digest")
        for file, offset in self._candidates(revisit, digest):
            try:
                found = self.record(file, offset)
            except ArchiveError:
                continue
            if found.kind == "revisit":
                continue
            if found.record_id == wanted or (digest and _same(digest, found.field("warc-payload-digest"))):
                return file, found
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


def _plain_record(path: Path, offset: int) -> WarcRecord | None:
    with path.open("rb") as file:
        size = file.seek(0, 2)
        if offset >= size:
            return None
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as whole:
            found = parse_record(whole, offset, size)
            return found[0] if found else None


def _capture(record: WarcRecord) -> WarcCapture:
    head, body = http_head.split_head(record.block) if record.http else (b"", record.block)
    return WarcCapture(
        url=record.url,
        at=cdxj.at_of(record.date),
        status=http_head.status_of(head) or 200,
        headers=http_head.parse_fields(head) or (("content-type", record.field("content-type") or ""),),
        body=body,
        record_id=record.record_id,
        kind=record.kind,
        head=head,
        payload=record.field("warc-payload-digest"),
        truncated=record.field("warc-truncated"),
    )


def _same(one: str, other: str | None) -> bool:
    return other is not None and one.rpartition(":")[2].upper() == other.rpartition(":")[2].upper()


def _unreadable(file: str, offset: int, why: str) -> ArchiveError:
    return ArchiveError(
        f"no capture at {file}, byte {offset}: {why}. Run `webstrata check` to see what is damaged and "
        "`webstrata reindex` to build the index again."
    )
