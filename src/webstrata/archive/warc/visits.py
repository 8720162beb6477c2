"""The visits that the WARC files of an archive hold, read back in the order in which they were made.

A record belongs to the visit that its own fields name (`WARC-Visit-Page`, see `compose.py`). A record without these
fields is a visit of its own, of the page with its URL; one of a robots.txt file belongs to no page.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal, cast

from msgspec import Struct

from webstrata.archive.index.cdxj import at_of
from webstrata.archive.warc import compose, http_head
from webstrata.archive.warc.members import DamagedBytes
from webstrata.archive.warc.reader import WarcReader
from webstrata.archive.warc.record import WarcRecord, bare_uri
from webstrata.archive.warc.record_pieces import HEAD_BYTES
from webstrata.archive.warc.walk import archive_files, plain_name, walk
from webstrata.records import (
    ArchivedExchange,
    ArchivedResource,
    ArchivedVisit,
    Exchange,
    Failure,
    FailureKind,
    PageRole,
    Position,
    Resource,
)

_CAPTURES = ("response", "revisit", "resource")
_PAGE, _DATE, _PART = (name.lower() for name in (compose.VISIT_PAGE, compose.VISIT_DATE, compose.VISIT_PART))
_ROLE, _STATE = compose.VISIT_PAGE_ROLE.lower(), compose.VISIT_PAGE_STATE.lower()
_FAILURE = compose.VISIT_FAILURE.lower()
_TRUNCATED = {"length", "time", "disconnect"}


class _Part(Struct, frozen=True):
    """A capture record with the request that belongs to it."""

    record: WarcRecord
    request: bytes = b""


class ArchivedVisits:
    """Iterates over all visits of an archive. Damaged records, and revisits without their original, are left out.

    `on_progress` is called with the number of bytes of each record read.
    """

    def __init__(
        self,
        archive_folder: Path,
        reader: WarcReader,
        *,
        on_progress: Callable[[int], object] = lambda count: None,
    ) -> None:
        self._folder = archive_folder
        self._reader = reader
        self._on_progress = on_progress
        self.unreadable = 0
        """Records that could not be read, and revisit records whose original could not be read."""

    def __iter__(self) -> Iterator[ArchivedVisit]:
        """The files in the order of their first records; files of the same time (of two crawlers) are merged."""
        waiting = sorted((_first_at(path), path) for path in archive_files(self._folder))
        waiting.reverse()
        streams: list[tuple[float, int, ArchivedVisit, Iterator[ArchivedVisit]]] = []
        number = 0
        while waiting or streams:
            while waiting and (not streams or waiting[-1][0] <= streams[0][0]):
                stream = self._visits_of(waiting.pop()[1])
                if (visit := next(stream, None)) is not None:
                    heapq.heappush(streams, (visit.at, number, visit, stream))
                    number += 1
            if not streams:
                continue
            _, mine, visit, stream = streams[0]
            yield visit
            following = next(stream, None)
            if following is None:
                heapq.heappop(streams)
            else:
                heapq.heapreplace(streams, (following.at, mine, following, stream))

    # ── one file ────────────────────────────────────────────────────────────────────────────────────────────────

    def _visits_of(self, path: Path) -> Iterator[ArchivedVisit]:
        name = plain_name(path.name)
        group: list[_Part] = []
        for part in self._parts(path):
            if group and not _belong_together(group[-1].record, part.record):
                yield from self._visit(name, group)
                group = []
            group.append(part)
        if group:
            yield from self._visit(name, group)

    def _parts(self, path: Path) -> Iterator[_Part]:
        """The captures of a file, each with its request, which is the next record."""
        capture: WarcRecord | None = None
        for item in walk(path, max_data_bytes=self._reader.max_body_bytes + HEAD_BYTES, of_larger=HEAD_BYTES):
            self._on_progress(item.length)
            if isinstance(item, DamagedBytes):
                self.unreadable += 1
            elif item.kind == "request":
                if capture is not None and bare_uri(item.field("warc-concurrent-to") or "") == capture.record_id:
                    yield _Part(capture, item.block)
                    capture = None
            elif item.kind in _CAPTURES and item.is_complete:
                if capture is not None:
                    yield _Part(capture)
                capture = item
        if capture is not None:
            yield _Part(capture)

    def _visit(self, file: str, group: list[_Part]) -> Iterator[ArchivedVisit]:
        """The visit of these parts; nothing if its content cannot be read, or if it is not of a page."""
        first = group[0].record
        exchanges: list[ArchivedExchange] = []
        main: int | None = None
        content: ArchivedResource | None = None
        extras: list[ArchivedResource] = []
        for part in group:
            kind = part.record.field(_PART) or ("answer" if part.record.http else "extra")
            if kind in ("hop", "answer"):
                exchange = self._exchange(file, part)
                if exchange is None:
                    self.unreadable += 1
                    return
                main = len(exchanges) if kind == "answer" else main
                exchanges.append(ArchivedExchange(exchange=exchange, position=_position(file, part.record)))
                continue
            resource = self._resource(part.record)
            if resource is None:
                self.unreadable += 1
                return
            archived = ArchivedResource(resource=resource, position=_position(file, part.record))
            if kind == "content":
                content = archived
            else:
                extras.append(archived)
        page = first.field(_PAGE) or ("" if first.url.endswith("/robots.txt") else first.url)
        if not exchanges or not (page == "" or page.startswith(("http://", "https://"))):
            return
        yield ArchivedVisit(
            page=page,
            at=at_of(first.field(_DATE) or first.date),
            role=_role(first),
            captured=first.field(_STATE) == "captured",
            failure=_failure(first),
            exchanges=tuple(exchanges),
            main=len(exchanges) if main is None else main,
            content=content,
            extras=tuple(extras),
        )

    def _exchange(self, file: str, part: _Part) -> Exchange | None:
        """The exchange; None if its body is in another record, which cannot be read."""
        record = part.record
        head, body = http_head.split_head(record.block)
        large = self._reader.large_body(file, record)
        is_repeated = record.kind == "revisit" and not (record.field("warc-profile") or "").endswith(
            "server-not-modified"
        )
        if is_repeated:
            original = self._reader.original_of(record)
            if original is None:
                return None
            body, large = _payload(original[1]), self._reader.large_body(*original)
        truncated = record.field("warc-truncated") if record.kind == "response" else None
        request_head, request_body = http_head.split_head(part.request)
        head = http_head.received_head(head)
        return Exchange(
            url=record.url,
            at=at_of(record.date),
            duration_s=0.0,
            request_head=request_head,
            request_body=request_body,
            address=record.field("warc-ip-address"),
            status=http_head.status_of(head),
            response_head=head,
            headers=http_head.parse_fields(head),
            body=body if large is None else b"",
            large=large,
            truncated=cast(Literal["length", "time", "disconnect"], truncated) if truncated in _TRUNCATED else None,
        )

    def _resource(self, record: WarcRecord) -> Resource | None:
        body = record.block
        if record.kind == "revisit":
            original = self._reader.original_of(record)
            if original is None:
                return None
            body = _payload(original[1])
        return Resource(
            url=record.url, at=at_of(record.date), content_type=record.field("content-type") or "", body=body
        )


def _first_at(path: Path) -> float:
    """The time of the first dated record of a file."""
    items = walk(path, max_data_bytes=HEAD_BYTES)
    return next((at_of(item.date) for item in items if isinstance(item, WarcRecord) and item.date), 0.0)


def _belong_together(before: WarcRecord, record: WarcRecord) -> bool:
    page = record.field(_PAGE)
    return page is not None and page == before.field(_PAGE) and record.field(_DATE) == before.field(_DATE)


def _role(record: WarcRecord) -> PageRole:
    try:
        return PageRole(record.field(_ROLE) or "page")
    except ValueError:
        return PageRole.PAGE


def _failure(record: WarcRecord) -> Failure | None:
    kind, _, detail = (record.field(_FAILURE) or "").partition(" ")
    try:
        return Failure(kind=FailureKind(kind), detail=detail) if kind else None
    except ValueError:
        return Failure(kind=FailureKind.INTERNAL, detail=f"{kind} {detail}")


def _payload(record: WarcRecord) -> bytes:
    return http_head.split_head(record.block)[1] if record.http else record.block


def _position(file: str, record: WarcRecord) -> Position:
    return Position(
        file=file,
        offset=record.offset,
        length=record.length,
        record_id=record.record_id,
        kind=cast(Literal["response", "revisit", "resource"], record.kind),
    )
