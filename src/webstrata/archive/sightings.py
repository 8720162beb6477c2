"""Sightings from WARC, ARC and WACZ files of any crawler: URL, time and content digest of each capture."""

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
    """All captures in a file, or those of one media type. Damaged records and robots.txt are skipped.

    `on_progress` is called with the number of bytes of each record read.
    """
    if path.suffix.lower() == ".wacz":
        with WaczReader(path) as package:
            package.require_trusted()
            for name in package.warcs():
                with package.unpacked(name) as file:
                    yield from _file_sightings(file, media_type, on_progress)
        return
    if not path.name.endswith(SUFFIXES):
        raise ArchiveError(
            f"{path} is not a supported archive file. Give a .warc.gz, .warc, .arc.gz, .arc or .wacz file."
        )
    try:
        yield from _file_sightings(path, media_type, on_progress)
    except OSError as problem:
        raise ArchiveError(f"cannot read {path}: {problem.strerror or problem}. Check the path.") from None


def _file_sightings(path: Path, media_type: str | None, on_progress: Callable[[int], object]) -> Iterator[Sighting]:
    for item in walk(path):
        on_progress(item.length)
        if not isinstance(item, DamagedBytes) and item.kind in _CAPTURES and (sighting := _sighting(item, media_type)):
            yield sighting


def _sighting(record: WarcRecord, media_type: str | None) -> Sighting | None:
    head, payload = http_head.split_head(record.block) if record.http else (b"", record.block)
    status = (http_head.status_of(head) or 0) if record.http else 200
    kind = http_head.media_type_of(head) if record.http else record.field("content-type")
    is_revisit = record.kind == "revisit"
    if media_type is not None and not is_revisit and (kind or "").lower() != media_type.lower():
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
        status=200 if is_revisit and status in (0, 304) else status,
    )
