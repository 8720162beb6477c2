"""Sightings from WARC, ARC and WACZ files of any crawler: when each page was downloaded, and what was seen.

Contents are compared by the bytes in the files, not by the digests that the files declare. A date is the interval that
its digits leave open; by the standard it is the time at which the download began. Heritrix records how long a download
took (`fetchTimeMs`). Where a file does not tell it, the caller says how long downloads took at most.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path

from webstrata.archive.revisits import resolve_revisits
from webstrata.archive.seen_records import PayloadDigests, SeenRecord, identifier, seen_record
from webstrata.archive.wacz.check import SignatureCheck
from webstrata.archive.wacz.reader import WaczReader
from webstrata.archive.warc import http_head
from webstrata.archive.warc.members import DamagedBytes
from webstrata.archive.warc.record import WarcRecord
from webstrata.archive.warc.walk import SUFFIXES, walk
from webstrata.errors import ArchiveError
from webstrata.records import Sighting

_CAPTURES = frozenset({"response", "revisit", "resource"})
_MAX_BLOCK_BYTES = 64 * 1024**2
"""A longer payload is known by its declared digest only. A gzip member is read up to this size: memory is limited also
for members that inflate a thousand times."""
_MAX_METADATA_BYTES = 64 * 1024


def sightings(
    *paths: Path,
    media_type: str | None = None,
    longest_download_s: float = 1.0,
    on_progress: Callable[[int], object] = lambda count: None,
    on_damage: Callable[[DamagedBytes], object] = lambda damaged: None,
    signature: SignatureCheck | None = None,
) -> Iterator[Sighting]:
    """All downloads in some files, or those of the pages that were seen with one media type.

    Files of robots.txt are left out, and so are responses to other requests than GET. `on_progress` is called with the
    number of bytes of each record read, `on_damage` with each place that cannot be read. `signature` checks signatures
    of WACZ files; a file with a wrong one raises ArchiveError.
    """
    reader = _SightingReader()
    is_complete = True
    for path in paths:
        for item in _items(path, signature):
            on_progress(item.length)
            if not isinstance(item, DamagedBytes):
                reader.add(item)
                is_complete = item.is_complete
            elif item.kind != "shape" or not is_complete:  # several records in one gzip member can be read
                on_damage(item)
    yield from reader.sightings(media_type, longest_download_s)


def _items(path: Path, signature: SignatureCheck | None) -> Iterator[WarcRecord | DamagedBytes]:
    if path.suffix.lower() == ".wacz":
        with WaczReader(path) as package:
            package.require_trusted(signature)
            for name in package.warcs():
                with package.unpacked(name) as file:
                    yield from walk(file, max_data_bytes=_MAX_BLOCK_BYTES)
        return
    if not path.name.endswith(SUFFIXES):
        raise ArchiveError(
            f"{path} is not a supported archive file. Give a .warc.gz, .warc, .arc.gz, .arc or .wacz file."
        )
    try:
        yield from walk(path, max_data_bytes=_MAX_BLOCK_BYTES)
    except OSError as problem:
        raise ArchiveError(f"cannot read {path}: {problem.strerror or problem}. Check the path.") from None


class _SightingReader:
    """Collects the records of all files: a revisit may precede its original, or be in another file."""

    def __init__(self) -> None:
        self._seen: list[SeenRecord] = []
        self._digests = PayloadDigests()
        self._durations_s: dict[int, float] = {}
        """By the hash of the identifier of the record."""
        self._other_requests: set[int | None] = set()
        """Hashes of the identifiers of requests other than GET, and of the responses that these name."""

    def add(self, record: WarcRecord) -> None:
        if record.kind in _CAPTURES:
            if (seen := seen_record(record, self._digests)) is not None:
                self._seen.append(seen)
            return
        named = identifier(record.field("warc-concurrent-to"))
        if record.kind == "request" and record.http and not record.block.startswith(b"GET "):
            self._other_requests |= {named, identifier(record.field("warc-record-id"))} - {None}
        elif record.kind == "metadata":
            fields = dict(http_head.parse_fields(b"\n" + record.block[:_MAX_METADATA_BYTES]))
            took, of_record = fields.get("fetchtimems", ""), named or identifier(record.field("warc-refers-to"))
            if of_record is not None and took.isascii() and took.isdigit() and len(took) < 12:
                self._durations_s[of_record] = int(took) / 1000

    def sightings(self, media_type: str | None, longest_download_s: float) -> Iterator[Sighting]:
        resolve_revisits(self._seen, self._digests)
        chosen = self._of_type(media_type.lower()) if media_type is not None else None
        known: set[int] = set()
        for one in self._seen:
            if one.record in self._other_requests or one.concurrent_to in self._other_requests:
                continue
            if one.record is not None:
                if (copy := hash((one.record, one.url, one.at, one.content))) in known:
                    continue  # the same record in two files
                known.add(copy)
            if chosen is None or one.url in chosen:
                yield self._sighting(one, longest_download_s)

    def _of_type(self, media_type: str) -> set[str]:
        """The URLs that were seen with a media type. The head of a revisit often names none."""
        contents = {one.content for one in self._seen if one.media_type == media_type}
        return {
            one.url
            for one in self._seen
            if one.media_type == media_type or (not one.media_type and one.content and one.content in contents)
        }

    def _sighting(self, one: SeenRecord, longest_download_s: float) -> Sighting:
        took_s = self._durations_s.get(one.record) if one.record is not None else None
        return Sighting(
            url=one.url,
            at=one.at,
            ended_by=one.at + one.resolution_s + (longest_download_s if took_s is None else took_s)
            if math.isfinite(one.at)
            else math.inf,
            content=one.content,
            status=one.status,
            failure=one.failure,
            target=one.target,
            resolution_s=one.resolution_s,
            is_end_assumed=took_s is None,
            evidence=one.evidence,
            has_wrong_digest=one.has_wrong_digest,
        )
