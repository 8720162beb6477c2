"""Validation of records: the fields of WARC 1.1, block and payload digests, HTTP content lengths."""

from __future__ import annotations

import re
from functools import lru_cache
from ipaddress import ip_address
from pathlib import Path

from webstrata.archive.warc import http_head
from webstrata.archive.warc.record import PieceDigest, WarcRecord, bare_uri, matches
from webstrata.archive.warc.record_pieces import block_pieces, record_start
from webstrata.errors import ArchiveError

_MANDATORY = ("warc-type", "warc-record-id", "warc-date", "content-length")
_NEEDS_TARGET = frozenset({"response", "request", "revisit", "resource", "conversion", "continuation"})
_KINDS = _NEEDS_TARGET | {"warcinfo", "metadata"}
_MANDATORY_BY_KIND = {"revisit": ("warc-profile",), "continuation": ("warc-segment-number", "warc-segment-origin-id")}

_DEFINED = frozenset(
    {
        *("warc-type", "warc-record-id", "warc-date", "content-length", "content-type", "warc-target-uri"),
        *("warc-block-digest", "warc-payload-digest", "warc-ip-address", "warc-truncated", "warc-warcinfo-id"),
        *("warc-refers-to", "warc-refers-to-target-uri", "warc-refers-to-date", "warc-filename", "warc-profile"),
        *("warc-identified-payload-type", "warc-segment-number", "warc-segment-origin-id"),
        "warc-segment-total-length",
    }
)
"""The fields of WARC 1.1 that a record may have only once: all but `WARC-Concurrent-To`. Others are extensions."""

_DATE = re.compile(r"\d{4}(-\d\d(-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d))?)?)?|\d{14}", re.IGNORECASE)
_URI = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:\S.*")
_DIGEST = re.compile(r"[a-zA-Z0-9-]+:\S+")
_NUMBER = re.compile(r"\d+")
_MEDIA = re.compile(r"[^\s/\\;]+/[^\s/\\;]+\s*(;.*)?", re.DOTALL)
_FORMATS = {
    "warc-date": _DATE,
    "warc-refers-to-date": _DATE,
    "warc-record-id": _URI,
    "warc-concurrent-to": _URI,
    "warc-refers-to": _URI,
    "warc-target-uri": _URI,
    "warc-segment-origin-id": _URI,
    "warc-warcinfo-id": _URI,
    "warc-block-digest": _DIGEST,
    "warc-payload-digest": _DIGEST,
    "content-length": _NUMBER,
    "warc-segment-number": _NUMBER,
    "warc-segment-total-length": _NUMBER,
    "content-type": _MEDIA,
}
_BODILESS = frozenset({204, 304})


def record_faults(record: WarcRecord, path: Path | None = None) -> list[str]:
    """All faults of a record, one short phrase each; empty for a valid record.

    `path`: the file of the record. A block that is not in memory is read from there.
    """
    if record.version.startswith("ARC"):
        return [] if record.declared is not None else ["content-length is malformed"]
    return [
        *missing_fields(record),
        *_repeated_fields(record),
        *_malformed_fields(record),
        *_segment_faults(record),
        *(_content_faults(record) if is_kept(record) or path is None else _large_faults(record, path)),
    ]


def is_kept(record: WarcRecord) -> bool:
    """Whether the whole block of a record is in memory."""
    return len(record.block) >= (record.declared or 0)


def missing_fields(record: WarcRecord) -> list[str]:
    """Mandatory fields that are absent or empty."""
    names = [*_MANDATORY, *_MANDATORY_BY_KIND.get(record.kind, ())]
    if record.kind in _NEEDS_TARGET:
        names.append("warc-target-uri")
    return [f"{name} is missing" for name in names if not record.field(name)]


def _repeated_fields(record: WarcRecord) -> list[str]:
    """Each repetition of a field that a record may have once. Readers differ in which of the values they use."""
    faults: list[str] = []
    names: set[str] = set()
    for name, value in record.fields:
        if name in names and name in _DEFINED:
            faults.append(f"{name} is repeated: {value[:80]!r}")
        names.add(name)
    return faults


def _malformed_fields(record: WarcRecord) -> list[str]:
    faults = [
        f"{name} is malformed: {value[:80]!r}"
        for name, value in record.fields
        if value and name in _FORMATS and not _FORMATS[name].fullmatch(bare_uri(value))
    ]
    address = record.field("warc-ip-address")
    if address and not _is_address(address):
        faults.append(f"warc-ip-address is malformed: {address[:80]!r}")
    if record.kind and record.kind not in _KINDS:
        faults.append(f"warc-type is unknown: {record.kind[:40]!r}")
    return faults


def _segment_faults(record: WarcRecord) -> list[str]:
    number = record.field("warc-segment-number") or ""
    if not number.isdigit():
        return []
    if record.kind == "continuation":
        return [] if int(number) > 1 else ["warc-segment-number of a continuation is not above 1"]
    return [] if int(number) == 1 else ["warc-segment-number of a first segment is not 1"]


def _content_faults(record: WarcRecord) -> list[str]:
    faults: list[str] = []
    if not record.is_complete or not is_kept(record):
        return faults  # reported by `walk` as torn or damaged
    block_digest = record.field("warc-block-digest")
    if block_digest and matches(block_digest, record.block) is False:
        faults.append("warc-block-digest does not match the block")
    if record.kind == "revisit" or record.field("warc-segment-number"):
        return faults  # at least a part of the payload is in other records
    head, payload = http_head.split_head(record.block) if record.http else (b"", record.block)
    digest = record.field("warc-payload-digest")
    if digest and not _payload_matches(digest, payload):
        faults.append("warc-payload-digest does not match the payload")
    if record.kind == "response" and record.http and not _content_length_matches(record, head, len(payload)):
        faults.append("Content-Length of the HTTP response does not match its body")
    return faults


def _large_faults(record: WarcRecord, path: Path) -> list[str]:
    """The same for a record whose block is not in memory."""
    if not record.is_complete or not record.length:
        return []
    try:
        start = record_start(path, record.offset)
        block, payload = record.field("warc-block-digest") or "", record.field("warc-payload-digest") or ""
        of_block, of_payload = PieceDigest(block, start.head), PieceDigest(payload)
        for piece in block_pieces(path, record.offset, start, len(start.head)):
            of_block.update(piece)
            of_payload.update(piece)
    except ArchiveError as problem:
        return [str(problem)]
    faults: list[str] = []
    if of_block.matches() is False:
        faults.append("warc-block-digest does not match the block")
    if record.kind == "revisit" or record.field("warc-segment-number"):
        return faults
    if of_payload.matches() is False and not _is_chunked(start.head):
        faults.append("warc-payload-digest does not match the payload")
    size = (record.declared or 0) - len(start.head)
    if record.kind == "response" and record.http and not _content_length_matches(record, start.head, size):
        faults.append("Content-Length of the HTTP response does not match its body")
    return faults


def _is_chunked(head: bytes) -> bool:
    """Whether the body has a transfer coding, as some writers archive it: its digest may be of either form."""
    return any(name == "transfer-encoding" for name, _ in http_head.parse_fields(head))


def _payload_matches(digest: str, payload: bytes) -> bool:
    """Whether the digest matches. Writers digest a chunked body with or without the chunking; both are accepted."""
    if matches(digest, payload) is not False:
        return True
    plain = http_head.unchunked(payload)
    return plain is not None and matches(digest, plain) is True


def _content_length_matches(record: WarcRecord, head: bytes, body_bytes: int) -> bool:
    fields = dict(reversed(http_head.parse_fields(head)))
    declared = fields.get("content-length", "")
    if "transfer-encoding" in fields or not declared.isdigit() or record.field("warc-truncated"):
        return True
    return http_head.status_of(head) in _BODILESS or int(declared[:19]) == body_bytes


@lru_cache(1024)
def _is_address(value: str) -> bool:
    try:
        ip_address(value.strip("[]"))
    except ValueError:
        return False
    return True
