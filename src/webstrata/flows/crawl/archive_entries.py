"""`BatchEntries`: which exchanges and resources of a batch of visits become which WARC records.

A record is identified by its index in the batch until the archive has returned its position.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from webstrata.flows.crawl.parse import ParsedContent, payload_digest
from webstrata.records import (
    Capture,
    Exchange,
    Original,
    Page,
    PageRole,
    PageState,
    Position,
    Resource,
    ResourceCapture,
    VisitPart,
    VisitResult,
)


class VisitPositions(Struct, frozen=True, kw_only=True):
    """The archive positions of one visit's records."""

    exchanges: tuple[Position | None, ...] = ()
    """One for each exchange of the visit; none if there was no response."""
    content: Position | None = None
    """Of the content that a handler made."""
    extras: tuple[Position, ...] = ()
    """Of the visit's further resources."""


class BatchEntries:
    """The records of a batch in the order in which they are written, each with its payload digest."""

    def __init__(
        self, batch: Sequence[VisitResult], parsed: Sequence[ParsedContent | None], robots: Iterable[Exchange]
    ) -> None:
        """`robots`: exchanges of robots.txt requests, which belong to no visit."""
        self._entries: list[tuple[Exchange | Resource, str, VisitPart | None]] = []
        self.archived: dict[int, Position] = {}
        """By index: the records that were written before the batch."""
        self._visits = [self._add_visit(result, content) for result, content in zip(batch, parsed, strict=True)]
        for exchange in robots:
            if exchange.response_head:
                self._add(exchange, payload_digest(exchange.body))

    def repeatable_payloads(self) -> list[str]:
        """The payloads for which a revisit record may be written if an original is known."""
        return list({payload for source, payload, _ in self._entries if _may_repeat(source)})

    def captures(self, originals: Mapping[str, Original]) -> list[Capture | ResourceCapture]:
        """What the archive appends; a payload with a known original becomes a revisit record."""
        return [
            _capture(source, payload, originals.get(payload) if _may_repeat(source) else None, visit)
            for source, payload, visit in self._entries
        ]

    def positions(self, written: Sequence[Position]) -> list[VisitPositions]:
        """The positions of each visit's records, in the order of the batch."""
        return [
            VisitPositions(
                exchanges=tuple([None if index is None else written[index] for index in exchanges]),
                content=None if content is None else written[content],
                extras=tuple([written[index] for index in extras]),
            )
            for exchanges, content, extras in self._visits
        ]

    def _add(self, source: Exchange | Resource, payload: str, visit: VisitPart | None = None) -> int:
        self._entries.append((source, payload, visit))
        return len(self._entries) - 1

    def _add_visit(
        self, result: VisitResult, parsed: ParsedContent | None
    ) -> tuple[list[int | None], int | None, list[int]]:
        """The index of each exchange's record, of the content that a handler made, and of each further resource."""
        exchanges: list[int | None] = []
        for exchange in result.exchanges:
            index = None
            if exchange.response_head:
                is_answer = exchange is result.answer
                payload = _payload(exchange, result.page, parsed if is_answer and result.content is None else None)
                index = self._add(exchange, payload, visit_part(result, exchange))
                if is_answer and parsed is not None and parsed.position is not None:
                    self.archived[index] = parsed.position
            exchanges.append(index)
        content = None
        if result.content is not None:
            content = self._add(result.content, payload_digest(result.content.body), _part(result, "content"))
        extras = [
            self._add(resource, payload_digest(resource.body), _part(result, "extra")) for resource in result.extras
        ]
        return exchanges, content, extras


def new_originals(captures: Sequence[Capture | ResourceCapture], written: Sequence[Position]) -> list[Original]:
    """The payloads that were archived for the first time; of equal ones the first in the batch."""
    originals: dict[str, Original] = {}
    for capture, position in zip(captures, written, strict=True):
        source = capture.resource if isinstance(capture, ResourceCapture) else capture.exchange
        # Revisit records may refer to a complete body only.
        if capture.original is None and capture.payload not in originals and _is_complete(source):
            originals[capture.payload] = Original(
                payload=capture.payload,
                record_id=position.record_id,
                at=source.at,
                url=source.url,
                file=position.file,
                offset=position.offset,
            )
    return list(originals.values())


def is_conditional(exchange: Exchange) -> bool:
    """Whether the request was conditional. A 304 response to any other request proves nothing."""
    return b"\r\nIf-" in exchange.request_head


def visit_part(result: VisitResult, exchange: Exchange) -> VisitPart | None:
    """What the record of an exchange says about its visit; None if its URL and date say everything."""
    return None if _is_plain(result) else _part(result, "answer" if exchange is result.answer else "hop")


def _is_plain(result: VisitResult) -> bool:
    """Whether the URL and the date of the visit's only record say everything about it."""
    page = result.page
    return (
        len(result.exchanges) == 1
        and result.exchanges[0].url == page.url
        and result.exchanges[0].at == result.at
        and result.failure is None
        and result.content is None
        and not result.extras
        and page.role is PageRole.PAGE
        and page.state is not PageState.CAPTURED
        and not page.url.endswith("/robots.txt")  # such a record without a visit is a request of the crawler's own
    )


def _part(result: VisitResult, part: Literal["hop", "answer", "content", "extra"]) -> VisitPart:
    return VisitPart(
        page=result.page.url,
        at=result.at,
        part=part,
        role=result.page.role,
        captured=result.page.state is PageState.CAPTURED,
        failure=result.failure,
    )


def _payload(exchange: Exchange, page: Page, parsed: ParsedContent | None) -> str:
    if parsed is not None:
        return parsed.payload
    if exchange.status == 304 and page.payload is not None and is_conditional(exchange):
        return page.payload
    return payload_digest(exchange.body) if exchange.large is None else exchange.large.payload


def _may_repeat(source: Exchange | Resource) -> bool:
    """Whether a revisit record may replace it: a complete body, or a 304 response to a conditional request."""
    if isinstance(source, Exchange) and source.status == 304:
        return is_conditional(source)
    return _is_complete(source)


def _is_complete(source: Exchange | Resource) -> bool:
    if isinstance(source, Resource):
        return bool(source.body)
    return source.body_bytes > 0 and source.truncated is None


def _capture(
    source: Exchange | Resource, payload: str, original: Original | None, visit: VisitPart | None
) -> Capture | ResourceCapture:
    if isinstance(source, Resource):
        return ResourceCapture(resource=source, payload=payload, original=original, visit=visit)
    return Capture(exchange=source, payload=payload, original=original, visit=visit)
