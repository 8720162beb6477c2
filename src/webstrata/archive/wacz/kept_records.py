"""The records of a capture's WARC file as `KeptRecord`s: what they state, and what is wrong with them."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from webstrata.archive.index.segment import record_line
from webstrata.archive.wacz.record_stream import DigestedRecord
from webstrata.archive.warc import http_head
from webstrata.archive.warc.compose import NOT_MODIFIED
from webstrata.archive.warc.record import WarcRecord, bare_uri
from webstrata.archive.warc.rules import record_faults
from webstrata.digests import parse_digest
from webstrata.records import KEPT_HEADERS, KeptRecord

_DIGEST = re.compile(r"sha1:[A-Z2-7]{32}|sha256:(?:[0-9a-f]{64}|[A-Z2-7]{52}={0,4})")
_CAPTURES = frozenset({"response", "revisit", "resource"})
_KINDS = _CAPTURES | {"warcinfo", "request"}
"""Captures have no others."""


def kept_record(digested: DigestedRecord, file: str) -> KeptRecord:
    """The record with its faults. `file` is the path of its WARC file in the package."""
    record = WarcRecord(
        offset=digested.offset,
        length=digested.length,
        version="WARC/1.1",
        fields=digested.fields,
        block=digested.head,
        declared=digested.block_bytes,
        size=digested.block_bytes,
    )
    is_response = record.kind in ("response", "revisit")
    headers = http_head.parse_fields(digested.head) if is_response else ()
    return KeptRecord(
        record=record.record_id,
        sha256=digested.sha256,
        kind=record.kind,
        url=record.url,
        date=record.date,
        payload=digested.field("warc-payload-digest"),
        content_type=digested.field("content-type"),
        is_unmodified=record.kind == "revisit" and digested.field("warc-profile") == NOT_MODIFIED,
        refers_to=bare_uri(digested.field("warc-refers-to")),
        refers_to_url=bare_uri(digested.field("warc-refers-to-target-uri")),
        refers_to_date=digested.field("warc-refers-to-date"),
        concurrent_to=bare_uri(digested.field("warc-concurrent-to")),
        truncated=digested.field("warc-truncated"),
        status=(http_head.status_of(digested.head) or 0) if is_response else 0,
        headers=tuple((name, value) for name, value in headers if name in KEPT_HEADERS),
        file=file,
        offset=digested.offset,
        body_bytes=digested.block_bytes - len(digested.head),
        index_line=record_line(record, PurePosixPath(file).name) or b"",
        faults=(*record_faults(record), *_faults(record, digested, headers)),
    )


def _faults(record: WarcRecord, digested: DigestedRecord, headers: tuple[tuple[str, str], ...]) -> list[str]:
    """Faults of a record's digests and HTTP head, and of records that captures do not have."""
    faults: list[str] = []
    kind = record.kind
    if kind not in _KINDS:
        faults.append(f"captures have no records of type {kind[:40]!r}")
    if record.field("warc-segment-number"):
        faults.append("it is a segment of a record")
    if not _agrees(digested.field("warc-block-digest"), digested.block_digests):
        faults.append("its block digest is missing or wrong")
    if kind in ("response", "resource") and not _agrees(
        digested.field("warc-payload-digest"), digested.payload_digests
    ):
        faults.append("its payload digest is missing or wrong")
    if kind == "revisit" and digested.block_bytes > len(digested.head):
        faults.append("a revisit record has a payload of its own")
    if kind == "response" or (kind == "revisit" and digested.head):
        faults += _head_faults(digested, headers, kind)
    return faults


def _head_faults(digested: DigestedRecord, headers: tuple[tuple[str, str], ...], kind: str) -> list[str]:
    head = digested.head
    faults: list[str] = []
    if http_head.status_of(head) is None or not head.endswith((b"\n\r\n", b"\n\n")):
        faults.append("it is not a record of an HTTP response")
    if any(name == "transfer-encoding" for name, _ in headers):
        faults.append("its body has a transfer coding, which readers remove in different ways")
    lengths = {value for name, value in headers if name == "content-length"}
    is_bodiless = http_head.status_of(head) in (204, 304)
    if kind == "response" and not is_bodiless and not digested.field("warc-truncated"):
        body_bytes = digested.block_bytes - len(head)
        if lengths and lengths != {str(body_bytes)}:
            faults.append("the Content-Length of the HTTP response does not match its body")
    return faults


def _agrees(label: str, digests: dict[str, bytes]) -> bool:
    """Whether a declared digest is that of the bytes, by an algorithm and in an encoding that captures have."""
    declared = parse_digest(label) if _DIGEST.fullmatch(label) else None
    return declared is not None and digests.get(declared[0]) == declared[1]
