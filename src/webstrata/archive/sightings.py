"""What any crawler's archive saw: address, time and content of every capture, from WARC, ARC and WACZ files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from webstrata import urls
from webstrata.archive.index import cdxj
from webstrata.archive.wacz.reader import WaczReader
from webstrata.archive.warc import http_head
from webstrata.archive.warc.members import DamagedBytes
from webstrata.archive.warc.record import WarcRecord, sha1
from webstrata.archive.warc.walk import SUFFIXES, walk
from webstrata.errors import ArchiveError, BadUrl
from webstrata.records import Sighting

_CAPTURES = frozenset({"response", "revisit", "resource"})


def sightings(
    path: Path, *, media_type: str | None = None, on_progress: Callable[[int], object] = lambda count: None
) -> Iterator[Sighting]:
    """Every capture in a file; of one media type if that is asked for. Damaged records are passed over.

    A time that a record gives to the second is taken as that second. robots.txt is no page.
    """
    if path.suffix.lower() == ".wacz":
        with WaczReader(path) as package:
            for name in package.warcs():
                with package.unpacked(name) as file:
                    yield from _of_file(file, media_type, on_progress)
        return
    if not path.name.endswith(SUFFIXES):
        raise ArchiveError(
            f"{path} is no archive that can be read. Name a .warc.gz, .warc, .arc.gz, .arc or .wacz file."
        )
    try:
        yield from _of_file(path, media_type, on_progress)
    except OSError as problem:
        raise ArchiveError(f"cannot read {path}: {problem.strerror or problem}. Check the path.") from None


def _of_file(path: Path, media_type: str | None, on_progress: Callable[[int], object]) -> Iterator[Sighting]:
    for item in walk(path):
        on_progress(item.length)
        if not isinstance(item, DamagedBytes) and item.kind in _CAPTURES and (seen := _sighting(item, media_type)):
            yield seen


def _sighting(record: WarcRecord, media_type: str | None) -> Sighting | None:
    head, payload = http_head.split_head(record.block) if record.http else (b"", record.block)
    status = (http_head.status_of(head) or 0) if record.http else 200
    kind = http_head.media_type_of(head) if record.http else record.field("content-type")
    repeats = record.kind == "revisit"
    if media_type is not None and not repeats and (kind or "").lower() != media_type.lower():
        return None
    at = cdxj.at_of(record.date)
    try:
        url = urls.canonical(record.url)
    except BadUrl:
        return None
    if not at or url.endswith("/robots.txt"):
        return None
    return Sighting(
        url=url,
        at=at,
        content=record.field("warc-payload-digest") or f"{sha1(payload)}/{record.size}",
        status=200 if repeats and status in (0, 304) else status,
    )
