"""`CaptureTable`: what `check` remembers of the captures of one WARC file, to compare the database with it."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator

from webstrata.archive.index.cdxj import at_of
from webstrata.archive.warc import compose, http_head
from webstrata.archive.warc.record import WarcRecord
from webstrata.clock import iso
from webstrata.records import Original, Position

_KINDS = ("response", "revisit", "resource")
_NO_STATUS = 0
_PART = compose.VISIT_PART.lower()


class CaptureTable:
    """The captures of a file in about 60 bytes each: offsets, and hashes of what the database repeats."""

    def __init__(self) -> None:
        self._offsets = array("q")
        self._lengths = array("q")
        self._kinds = array("b")
        self._record_ids = array("q")
        self._payloads = array("q")
        self._urls = array("q")
        self._dates = array("d")
        self._statuses = array("h")
        self._unlogged = bytearray()
        """1 for a capture of a visit that no row of the log names."""

    def add(self, record: WarcRecord) -> None:
        if record.kind not in _KINDS or not record.is_complete:
            return
        self._offsets.append(record.offset)
        self._lengths.append(record.length)
        self._kinds.append(_KINDS.index(record.kind))
        self._record_ids.append(hash(record.record_id))
        self._payloads.append(hash(record.field("warc-payload-digest") or ""))
        self._urls.append(hash(record.url))
        self._dates.append(at_of(record.date))
        status = http_head.status_of(record.block[:64]) if record.http else None
        self._statuses.append(status or _NO_STATUS)
        part = record.field(_PART)
        is_of_visit = part != "extra" if part else record.http and not record.url.endswith("/robots.txt")
        self._unlogged.append(is_of_visit)

    @property
    def unlogged(self) -> int:
        """Captures of visits that `differences` was not asked about."""
        return sum(self._unlogged)

    def fault(self, position: Position, payload: str | None) -> str | None:
        """Why a position does not lead to its capture; None if it does."""
        index = self._index(position.offset)
        if index is None:
            return "no complete record starts here"
        if position.record_id and self._record_ids[index] != hash(position.record_id):
            return "another record starts here"
        if payload and self._payloads[index] != hash(payload):
            return "the record has another payload digest"
        return None

    def at(self, offset: int) -> float | None:
        """The time of the capture at this offset."""
        index = self._index(offset)
        return None if index is None else self._dates[index]

    def differences(self, position: Position, *, url: str | None, status: int | None) -> Iterator[str]:
        """What the log says of the capture at this position, which has no `fault`, and its record does not.

        Without `url` the URL is not compared.
        """
        index = self._index(position.offset)
        if index is None:
            return
        self._unlogged[index] = 0
        if position.length != self._lengths[index]:
            yield f"the length in the log is {position.length}, that of the record {self._lengths[index]}"
        if position.kind != _KINDS[self._kinds[index]]:
            yield f"the log calls the record a {position.kind}, it is a {_KINDS[self._kinds[index]]}"
        if self._statuses[index] == _NO_STATUS:
            return  # content that a handler made
        if status != self._statuses[index]:
            yield f"the status in the log is {status}, that of the record {self._statuses[index]}"
        if url is not None and hash(compose.target_uri(url)) != self._urls[index]:
            yield f"the record has another URL than the log: {url}"

    def original_differences(self, original: Original) -> Iterator[str]:
        """What the list of originals says, and the record does not."""
        position = Position(file=original.file, offset=original.offset, length=0, record_id=original.record_id)
        if fault := self.fault(position, original.payload):
            yield fault
            return
        index = self._index(original.offset)
        if index is None:
            return
        if hash(compose.target_uri(original.url)) != self._urls[index]:
            yield f"the record has another URL: {original.url}"
        if at_of(iso(original.at)) != self._dates[index]:
            yield f"the record has another time than {iso(original.at)}"

    def _index(self, offset: int) -> int | None:
        index = bisect_left(self._offsets, offset)
        return index if index < len(self._offsets) and self._offsets[index] == offset else None
