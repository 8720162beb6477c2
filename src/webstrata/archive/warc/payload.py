"""The payload of a record: the bytes that were sent for the page, their digests, and the digest that was declared.

Bodies are digested without chunked transfer coding, which may cut the same content differently each time. Content
codings stay as they are archived.
"""

from __future__ import annotations

import hashlib

from msgspec import Struct

from webstrata.archive.warc import http_head
from webstrata.archive.warc.record import WarcRecord
from webstrata.digests import Digest


class RecordPayload(Struct, frozen=True, kw_only=True):
    """The payload of a response, revisit or resource record."""

    head: bytes
    """The HTTP head; empty if the record has none."""
    body: bytes | None
    """Without chunked transfer coding; None if the record does not hold all of it."""
    coded: bytes | None = None
    """As archived, if it is chunked. Some writers digest this form."""

    def digests(self, algorithm: str) -> list[Digest]:
        """The digests of the payload, in one or two forms."""
        forms = [form for form in (self.body, self.coded) if form is not None]
        return [(algorithm, hashlib.new(algorithm, form, usedforsecurity=False).digest()) for form in forms]


def record_payload(record: WarcRecord) -> RecordPayload:
    """The payload of a record. One that is cut, segmented or not kept in memory as a whole has no body."""
    head, body = http_head.split_head(record.block) if record.http else (b"", record.block)
    is_whole = record.is_complete and len(record.block) >= (record.declared or 0)
    if not is_whole or record.field("warc-segment-number") or record.kind == "revisit":
        return RecordPayload(head=head, body=None)
    if _is_chunked(head) and (plain := http_head.unchunked(body)) is not None:
        return RecordPayload(head=head, body=plain, coded=body)
    return RecordPayload(head=head, body=body)


def _is_chunked(head: bytes) -> bool:
    coding = header(head, "transfer-encoding") or ""
    return coding.lower().rpartition(",")[2].strip() == "chunked"


def header(head: bytes, name: str) -> str | None:
    """The first value of a header in an HTTP head."""
    return next((value for key, value in http_head.parse_fields(head) if key == name), None)


def empty_digest(algorithm: str) -> Digest:
    """The digest of no bytes, which some writers declare for a response without a body."""
    return algorithm, hashlib.new(algorithm, usedforsecurity=False).digest()
