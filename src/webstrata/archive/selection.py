"""Which captures an export takes, and every record that they need."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from webstrata.archive.cdxj import parse
from webstrata.archive.index import Index, Match
from webstrata.archive.reader import WarcReader
from webstrata.archive.record import WarcRecord, bare_uri
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


def chosen(index: Index, selection: Selection) -> Iterator[bytes]:
    """Index lines of the selection, in the order of the index."""
    since, until = selection.since, selection.until
    if selection.url is None:
        return index.lines(since=since, until=until)
    return index.lookup_lines(selection.url, match=selection.match, since=since, until=until)


def pieces(index: Index, reader: WarcReader, selection: Selection) -> list[SelectedRecord]:
    """Every record of the selection in the order of the files: captures, and the originals of revisits."""
    found: set[SelectedRecord] = set()
    for line in chosen(index, selection):
        entry = parse(line)
        if entry is None:
            continue
        found.add(SelectedRecord(file=entry.filename, offset=entry.offset))
        if entry.revisit:
            original = reader.original_of(reader.record(entry.filename, entry.offset))
            if original:
                found.add(SelectedRecord(file=original[0], offset=original[1].offset))
    return sorted(found)


def pieces_at(reader: WarcReader, positions: Iterable[Position]) -> list[SelectedRecord]:
    """The records at these places in the order of the files, and the originals of those that are revisits."""
    found: set[SelectedRecord] = set()
    for place in positions:
        found.add(SelectedRecord(file=place.file, offset=place.offset))
        if place.kind == "revisit":
            original = reader.original_of(reader.record(place.file, place.offset))
            if original:
                found.add(SelectedRecord(file=original[0], offset=original[1].offset))
    return sorted(found)


def with_request(reader: WarcReader, piece: SelectedRecord) -> Iterator[WarcRecord]:
    """A capture's record and, where it stands right behind, the request that got it."""
    capture = reader.record(piece.file, piece.offset)
    yield capture
    try:
        behind = reader.record(piece.file, piece.offset + capture.length)
    except ArchiveError:
        return  # the last record of its file, or a foreign one without its request
    if bare_uri(behind.field("warc-concurrent-to") or "") == capture.record_id and behind.kind == "request":
        yield behind
