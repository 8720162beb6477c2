"""The contents of WARC, ARC and WACZ files of any crawler, one after the other, for an import.

A file is read from the start, or from the end of a record that was read before. Memory is limited by the largest body
that is read; a larger one is known by its declared digest. Damage is an item between the records.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from webstrata.archive.wacz.check import SignatureCheck
from webstrata.archive.wacz.reader import WaczReader
from webstrata.archive.warc import http_head
from webstrata.archive.warc.dates import date_interval
from webstrata.archive.warc.members import DamagedBytes
from webstrata.archive.warc.payload import record_payload
from webstrata.archive.warc.record import WarcRecord, bare_uri, sha1
from webstrata.archive.warc.walk import OPEN_SUFFIX, SUFFIXES, walk
from webstrata.digests import digest_text, parse_digest
from webstrata.errors import ArchiveError, UsageError
from webstrata.records import CapturedContent

_CAPTURES = frozenset({"response", "revisit", "resource"})
_HEAD_BYTES = 64 * 1024
"""Of a record that is too large, so much is read for its head."""
_OTHER_REQUESTS = 1_000
"""Requests other than GET that are remembered: they stand next to their responses."""
_MAX_NAME = 200
_BEGINNING = 1 << 16
_NOTHING = sha1(b"")


class ContentPosition(Struct, kw_only=True):
    """Where reading continues: the number of the WARC file in a package, and an offset in it."""

    file: int = 0
    offset: int = 0
    archive: str = ""


class ContentFile:
    """The contents of one file."""

    def __init__(self, path: Path, *, max_body_bytes: int, signature: SignatureCheck | None = None) -> None:
        """`signature` checks signatures of WACZ files. Raises ArchiveError if the file is not an archive file, or a
        package with a wrong signature, and UsageError if it cannot be opened."""
        self.path = path
        self._max_body_bytes = max_body_bytes
        self._is_package = path.suffix.lower() == ".wacz"
        try:
            self.size = path.stat().st_size
            with path.open("rb") as file:
                self.beginning = file.read(_BEGINNING)
        except OSError as problem:
            raise UsageError(f"cannot read {path}: {problem.strerror}. Check the path and its permissions.") from None
        if self._is_package:
            with WaczReader(path) as package:
                package.require_trusted(signature)
        elif not path.name.removesuffix(OPEN_SUFFIX).endswith(SUFFIXES):
            raise ArchiveError(
                f"{path} is not a supported archive file. Give a .warc.gz, .warc, .arc.gz, .arc or .wacz file."
            )

    def read(self, position: str = "") -> Iterator[CapturedContent]:
        """The contents after a position."""
        at = msgspec.json.decode(position, type=ContentPosition) if position else ContentPosition()
        with ExitStack() as stack:
            package = stack.enter_context(WaczReader(self.path)) if self._is_package else None
            names = package.warcs() if package is not None else [""]
            for number in range(at.file, len(names)):
                with ExitStack() as unpacked:
                    file = unpacked.enter_context(package.unpacked(names[number])) if package else self.path
                    start = at.offset if number == at.file else 0
                    reading = _FileReading(file, start, at.archive, self._max_body_bytes)
                    for content in reading.contents():
                        yield self._placed(content, names[number], number, len(names), reading)

    def _placed(
        self, content: CapturedContent, name: str, number: int, files: int, reading: _FileReading
    ) -> CapturedContent:
        """The content with its place in this file. Until now, `where` and `position` are offsets."""
        position = ""
        if content.position:
            end = ContentPosition(file=number, offset=int(content.position), archive=reading.archive)
            position = msgspec.json.encode(end).decode()
        inner = f"/{name}" if name else ""
        where = f"{self.path.name}{inner}:{content.where}"
        return replace(content, where=where, position=position, done=(number + content.done) / files)


class _FileReading:
    """Reads the records of a WARC or ARC file. A response waits for the record of its request, which may follow it."""

    def __init__(self, path: Path, start: int, archive: str, max_body_bytes: int) -> None:
        self.archive = archive
        self._path = path
        self._start = start
        self._max_body_bytes = max_body_bytes
        self._other_requests: deque[str] = deque(maxlen=_OTHER_REQUESTS)
        """Identifiers of requests other than GET, and of the responses that they name."""

    def contents(self) -> Iterator[CapturedContent]:
        waiting: tuple[CapturedContent, str] | None = None
        """The last content, and the identifier of the record that it names."""
        size = max(1, self._path.stat().st_size)
        is_complete = True
        end = self._start
        items = walk(self._path, self._start, self._max_body_bytes + _HEAD_BYTES, of_larger=_HEAD_BYTES)
        for item in items:
            if waiting is not None and not waiting[0].position and item.offset >= end:
                # This record can be read without those before it. A request may belong to the next response, too.
                waiting = (replace(waiting[0], position=str(end)), waiting[1])
            end = max(end, item.offset + item.length)
            if not isinstance(item, DamagedBytes):
                is_complete = item.is_complete
                if item.kind == "request":
                    self._note_request(item)
                elif item.kind == "warcinfo":
                    self.archive = _archive_of(item) or self.archive
                if item.kind not in _CAPTURES:
                    continue
                found, named = self._content(item), bare_uri(item.field("warc-concurrent-to") or "")
            elif item.kind == "shape" and is_complete:
                continue  # several records in one gzip member can be read
            else:
                found, named = _damage(item), ""
            if waiting is not None:
                yield self._settled(*waiting)
            waiting = (replace(found, done=min(1.0, end / size)), named)
        if waiting is not None:
            yield self._settled(replace(waiting[0], position=waiting[0].position or str(end)), waiting[1])

    def _note_request(self, record: WarcRecord) -> None:
        if record.http and not record.block.startswith(b"GET "):
            ids = (record.record_id, bare_uri(record.field("warc-concurrent-to") or ""))
            self._other_requests.extend(one for one in ids if one)

    def _settled(self, content: CapturedContent, named: str) -> CapturedContent:
        is_other = content.record_id in self._other_requests or named in self._other_requests
        if content.problem or not is_other:
            return content
        return replace(content, problem="response to another request than GET")

    def _content(self, record: WarcRecord) -> CapturedContent:
        payload = record_payload(record)
        fields = http_head.parse_fields(http_head.received_head(payload.head)) if payload.head else ()
        headers = dict(reversed(fields))  # of several, the first
        if record.kind == "resource":
            status: int | None = 200
            headers = {"content-type": record.field("content-type") or ""}
        else:
            status = http_head.status_of(payload.head)
        date = date_interval(record.date)
        content = CapturedContent(
            where=str(record.offset),
            position="",
            done=0.0,
            kind=record.kind,
            url=record.url,
            at=date.at if date is not None and math.isfinite(date.at) else None,
            date=record.date,
            archive=self.archive,
            record_id=record.record_id,
            refers_to=bare_uri(record.field("warc-refers-to") or ""),
            status=status or 0,
            headers=headers,
        )
        if not record.is_complete:
            return replace(content, problem="the record is not complete", is_malformed=True)
        if status is None and record.kind == "response":
            return replace(content, problem="no HTTP response", is_malformed=True)
        label = record.field("warc-payload-digest") or ""
        declared = parse_digest(label) if label else None
        text = digest_text(declared) if declared is not None and declared[1] else ""
        if record.kind == "revisit":
            is_unmodified = content.status in (0, 304)
            digest = "" if is_unmodified and text == _NOTHING else text
            return replace(content, digest=digest, status=0 if is_unmodified else content.status)
        if payload.body is None:
            return replace(content, digest=text, is_cut=bool(record.field("warc-segment-number")))
        digest = sha1(payload.body)
        return replace(
            content,
            digest=digest,
            declared=text if text != digest else "",
            is_wrong=declared is not None and declared not in payload.digests(declared[0]),
            is_cut=bool(record.field("warc-truncated")) or content.status == 206,
            body=payload.body if len(payload.body) <= self._max_body_bytes else None,
        )


def _damage(item: DamagedBytes) -> CapturedContent:
    return CapturedContent(where=str(item.offset), position="", done=0.0, problem=item.what, is_malformed=True)


def _archive_of(record: WarcRecord) -> str:
    """The archive that a `warcinfo` record names: the collection, or the machine that made it."""
    fields = dict(http_head.parse_fields(b"\n" + record.block[:_HEAD_BYTES]))
    name = fields.get("ispartof") or fields.get("hostname") or ""
    return " ".join(name.split())[:_MAX_NAME]
