"""The capture records of archive files, reduced to what tells their contents apart."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf, isfinite
from typing import Literal

from msgspec import Struct

from webstrata import urls
from webstrata.archive.warc import http_head
from webstrata.archive.warc.dates import DateInterval, date_interval
from webstrata.archive.warc.payload import RecordPayload, empty_digest, header, record_payload
from webstrata.archive.warc.record import WarcRecord, bare_uri, without_spaces
from webstrata.digests import Digest, parse_digest
from webstrata.errors import BadUrl

_UNDATED = DateInterval(-inf, inf)
_COMPUTED = ("sha1", "sha256")
"""Digests of all payloads, because revisits may declare another one than their original."""


class RevisitClaim(Struct, frozen=True, kw_only=True, gc=False):
    """What a revisit record states about the record that it repeats. Identifiers are hashes, to save memory."""

    record: int | None
    """Of its identifier."""
    capture: int | None
    """Of its URL and its date, in whole seconds."""
    digest: Digest | None
    """Of its payload."""


class SeenRecord(Struct, kw_only=True, gc=False):
    """A capture record."""

    url: str
    at: float
    resolution_s: float
    record: int | None
    """Hash of its identifier."""
    concurrent_to: int | None
    """Hash of the identifier of the record of the same download that it names."""
    status: int
    media_type: str = ""
    content: str = ""
    failure: str = ""
    target: str = ""
    evidence: Literal["payload", "revisit", "declared"] = "payload"
    has_wrong_digest: bool = False
    claim: RevisitClaim | None = None
    """Of a revisit whose content is not known yet."""


class PayloadDigests:
    """The contents of the payloads in the files, by their digests."""

    def __init__(self) -> None:
        self._contents: dict[Digest, str] = {}

    def add(self, digests: Iterable[Digest], content: str) -> None:
        """Add a content with its digests."""
        for digest in digests:
            if self._contents.setdefault(digest, content) != content:
                self._contents[digest] = ""  # two contents with one digest: it tells nothing

    def content(self, digest: Digest) -> str | None:
        """The content with this digest; None if there is none, or if it is not certain which."""
        return self._contents.get(digest) or None

    def contradicts(self, digest: Digest, content: str) -> bool:
        """Whether the digest is certainly not of this content."""
        known = self._contents.get(digest)
        return digest[0] in _COMPUTED if known is None else known != content


def seen_record(record: WarcRecord, digests: PayloadDigests) -> SeenRecord | None:
    """A response, revisit or resource record; None if its URL is not one of a page. Its digests are added."""
    try:
        url = urls.canonical(record.url)
    except BadUrl:
        return None
    if url.endswith("/robots.txt"):
        return None
    payload = record_payload(record)
    date = date_interval(record.date) or _UNDATED
    media_type = http_head.media_type_of(payload.head) if payload.head else record.field("content-type")
    seen = SeenRecord(
        url=url,
        at=date.at,
        resolution_s=date.resolution_s,
        record=identifier(record.field("warc-record-id")),
        concurrent_to=identifier(record.field("warc-concurrent-to")),
        status=200 if record.kind == "resource" else http_head.status_of(payload.head) or 0,
        media_type=(media_type or "").partition(";")[0].strip().lower(),
    )
    seen.failure = _failure(seen, record)
    if 300 <= seen.status < 400 and seen.status != 304:
        seen.target = urls.join(url, header(payload.head, "location") or "") or ""
        seen.content = seen.target
        seen.failure = seen.failure or ("" if seen.target else "redirect without target")
    label = record.field("warc-payload-digest")
    declared = parse_digest(label) if label else None
    if record.kind == "revisit":
        seen.claim = _claim(record, declared, is_unmodified=seen.status in (0, 304))
    elif seen.status != 304:
        _set_content(seen, payload, declared, digests)
    return seen


def _failure(seen: SeenRecord, record: WarcRecord) -> str:
    if not record.is_complete:
        return "incomplete record"
    if record.field("warc-truncated") and record.kind != "revisit":  # revisits have this field for their own payload
        return "truncated"
    if seen.status == 206:
        return "partial content"
    return "no HTTP response" if seen.status == 0 and record.kind == "response" else ""


def _claim(record: WarcRecord, declared: Digest | None, *, is_unmodified: bool) -> RevisitClaim:
    if declared is not None and (not declared[1] or (is_unmodified and declared == empty_digest(declared[0]))):
        declared = None  # of the response 304 itself, which has no body
    uri = record.field("warc-refers-to-target-uri")
    date = date_interval(record.field("warc-refers-to-date") or "")
    capture = None
    if uri and date is not None:
        try:
            capture = capture_key(urls.canonical(without_spaces(bare_uri(uri))), date.at)
        except BadUrl:
            capture = None
    return RevisitClaim(record=identifier(record.field("warc-refers-to")), capture=capture, digest=declared)


def _set_content(seen: SeenRecord, payload: RecordPayload, declared: Digest | None, digests: PayloadDigests) -> None:
    if payload.body is None:
        if seen.target or seen.failure:
            return
        if declared is None or not declared[1]:
            seen.failure = "the payload is too large, or segmented, and has no digest"
        else:
            seen.content, seen.evidence = declared_content(declared), "declared"
        return
    algorithms = dict.fromkeys((*_COMPUTED, *((declared[0],) if declared is not None else ())))
    found = {algorithm: payload.digests(algorithm) for algorithm in algorithms}
    seen.has_wrong_digest = declared is not None and declared not in found[declared[0]]
    if not seen.target:
        seen.content = f"sha256:{found['sha256'][0][1].hex()}"
        digests.add((digest for row in found.values() for digest in row), seen.content)


def capture_key(url: str, at: float) -> int:
    """A URL and a date. References often have a coarser date than the record itself."""
    return hash((url, int(at) if isfinite(at) else at))


def identifier(value: str | None) -> int | None:
    """The hash of the identifier of a record."""
    return hash(bare_uri(value)) if value else None


def declared_content(digest: Digest) -> str:
    """The content that is known by a declared digest only. It equals no content that is known by its bytes."""
    return f"declared {digest[0]}:{digest[1].hex()}"
