"""Composition of WARC records as bytes, by hand: a general-purpose writer takes longer than the compression."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import chain
from typing import Literal

from webstrata.archive.warc import http_head
from webstrata.archive.warc.record import sha1, sha1_of, without_spaces
from webstrata.clock import iso
from webstrata.records import Capture, Original, PageRole, ResourceCapture, VisitPart

_REVISIT = "http://netpreserve.org/warc/1.1/revisit/"
IDENTICAL = _REVISIT + "identical-payload-digest"
NOT_MODIFIED = _REVISIT + "server-not-modified"

RECORD_END = b"\r\n\r\n"

VISIT_PAGE = "WARC-Visit-Page"
VISIT_DATE = "WARC-Visit-Date"
VISIT_PART = "WARC-Visit-Part"
VISIT_PAGE_ROLE = "WARC-Visit-Page-Role"
VISIT_PAGE_STATE = "WARC-Visit-Page-State"
VISIT_FAILURE = "WARC-Visit-Failure"


def record_ids() -> Iterator[str]:
    """Random `urn:uuid:` identifiers (version 4); random bytes are requested in bulk."""
    while True:
        pool = os.urandom(16 * 256).hex()
        for start in range(0, len(pool), 32):
            h = pool[start : start + 32]
            variant = "89ab"[int(h[16], 16) & 3]
            yield f"urn:uuid:{h[:8]}-{h[8:12]}-4{h[13:16]}-{variant}{h[17:20]}-{h[20:]}"


def warcinfo(record_id: str, at: float, filename: str, software: str, operator: str | None) -> bytes:
    """The `warcinfo` record at the start of a file."""
    lines = {
        "software": software,
        "format": "WARC File Format 1.1",
        "conformsTo": "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
        "robots": "obey",
        "operator": operator,
    }
    block = "".join(f"{key}: {_one_line(value)}\r\n" for key, value in lines.items() if value).encode()
    fields = [
        ("WARC-Type", "warcinfo"),
        ("WARC-Record-ID", f"<{record_id}>"),
        ("WARC-Date", iso(at)),
        ("WARC-Filename", filename),
        ("WARC-Block-Digest", sha1(block)),
        ("Content-Type", "application/warc-fields"),
    ]
    return _record(fields, block)


class ExchangeRecords:
    """The two records of an exchange (response or revisit, and request), with the index fields of the first.

    If the body is not in memory, the record of the response ends before it: the body and `RECORD_END` follow.
    """

    __slots__ = ("date", "digest", "head", "kind", "record", "record_id", "request", "truncated", "url")

    content_type: str | None = None

    def __init__(self, capture: Capture, record_id: str, request_id: str) -> None:
        exchange = capture.exchange
        self.url = target_uri(exchange.url)
        self.date = iso(exchange.at)
        self.record_id = record_id
        self.kind: Literal["response", "revisit"] = "revisit" if capture.original else "response"
        self.digest = capture.payload
        self.head = http_head.archived_head(exchange.response_head, exchange.status, exchange.body_bytes)
        self.truncated: str | None = exchange.truncated
        if capture.original:
            self.record = self._revisit(capture, capture.original, record_id)
        else:
            self.record = self._response(capture, record_id)
        self.request = self._request(capture, request_id, record_id)

    def _fields(self, kind: str, record_id: str, address: str | None) -> list[tuple[str, str]]:
        fields = _first_fields(kind, record_id, self.date, self.url)
        if address:
            fields.append(("WARC-IP-Address", address))
        return fields

    def _response(self, capture: Capture, record_id: str) -> bytes:
        body, large = capture.exchange.body, capture.exchange.large
        fields = self._fields("response", record_id, capture.exchange.address)
        digest = sha1(self.head, body) if large is None else sha1_of(chain([self.head], large.pieces()))
        fields += [("WARC-Payload-Digest", self.digest), ("WARC-Block-Digest", digest)]
        if self.truncated:
            fields.append(("WARC-Truncated", self.truncated))
        fields += _visit_fields(capture.visit)
        fields.append(("Content-Type", "application/http; msgtype=response"))
        if large is not None:
            return _start(fields, len(self.head) + large.size) + self.head
        return _record(fields, self.head, body)

    def _revisit(self, capture: Capture, original: Original, record_id: str) -> bytes:
        unmodified = capture.exchange.status == 304
        fields = self._fields("revisit", record_id, capture.exchange.address)
        fields += [
            ("WARC-Profile", NOT_MODIFIED if unmodified else IDENTICAL),
            *_refers_to(original),
            ("WARC-Payload-Digest", self.digest),
            ("WARC-Block-Digest", sha1(self.head)),
        ]
        if not unmodified:  # the block is a response without its payload, which WARC-Truncated must declare
            fields.append(("WARC-Truncated", self.truncated or "length"))
        self.truncated = None
        fields += _visit_fields(capture.visit)
        fields.append(("Content-Type", "application/http; msgtype=response"))
        return _record(fields, self.head)

    def _request(self, capture: Capture, request_id: str, record_id: str) -> bytes:
        block = capture.exchange.request_head + capture.exchange.request_body
        fields = self._fields("request", request_id, capture.exchange.address)
        fields += [
            ("WARC-Concurrent-To", f"<{record_id}>"),
            ("WARC-Block-Digest", sha1(block)),
            ("Content-Type", "application/http; msgtype=request"),
        ]
        return _record(fields, block)


class ResourceRecord:
    """The record of a derived resource (resource or revisit), with its index fields."""

    __slots__ = ("content_type", "date", "digest", "head", "kind", "record", "record_id", "request", "truncated", "url")

    def __init__(self, capture: ResourceCapture, record_id: str) -> None:
        resource, original = capture.resource, capture.original
        self.url = target_uri(resource.url)
        self.date = iso(resource.at)
        self.record_id = record_id
        self.kind: Literal["resource", "revisit"] = "revisit" if original else "resource"
        self.digest = capture.payload
        self.head = b""
        self.truncated: str | None = None
        self.content_type = _one_line(resource.content_type)
        self.request = b""
        fields = _first_fields(self.kind, record_id, self.date, self.url)
        if original:
            fields += [("WARC-Profile", IDENTICAL), *_refers_to(original), ("WARC-Truncated", "length")]
        fields += _visit_fields(capture.visit)
        body = b"" if original else resource.body
        fields += [
            ("WARC-Payload-Digest", self.digest),
            ("WARC-Block-Digest", sha1(body)),
            ("Content-Type", self.content_type),
        ]
        self.record = _record(fields, body)


def _first_fields(kind: str, record_id: str, date: str, url: str) -> list[tuple[str, str]]:
    record = ("WARC-Record-ID", f"<{record_id}>")
    return [("WARC-Type", kind), record, ("WARC-Date", date), ("WARC-Target-URI", url)]


def _refers_to(original: Original) -> list[tuple[str, str]]:
    """The fields of a revisit that identify its original."""
    return [
        ("WARC-Refers-To", f"<{original.record_id}>"),
        ("WARC-Refers-To-Target-URI", target_uri(original.url)),
        ("WARC-Refers-To-Date", iso(original.at)),
        # The position of the original at the time of writing: saves a search; readers verify its record ID.
        ("WARC-Refers-To-Filename", original.file),
        ("WARC-Refers-To-File-Offset", str(original.offset)),
    ]


def _visit_fields(visit: VisitPart | None) -> list[tuple[str, str]]:
    """Fields of our own from which `webstrata rebuild` learns which records belong to which visit."""
    if visit is None:
        return []
    fields = [
        (VISIT_PAGE, target_uri(visit.page)),
        (VISIT_DATE, iso(visit.at)),
        (VISIT_PART, visit.part),
    ]
    if visit.role is not PageRole.PAGE:
        fields.append((VISIT_PAGE_ROLE, visit.role.value))
    if visit.captured:
        fields.append((VISIT_PAGE_STATE, "captured"))
    if visit.failure is not None:
        fields.append((VISIT_FAILURE, f"{visit.failure.kind.value} {_one_line(visit.failure.detail)}".strip()))
    return fields


def target_uri(url: str) -> str:
    """The URL as a header value: control characters and spaces are percent-encoded."""
    return without_spaces(url if url.isascii() else url.encode("utf-8", "replace").decode("utf-8"))


def _record(fields: list[tuple[str, str]], *block: bytes) -> bytes:
    return b"".join((_start(fields, sum(map(len, block))), *block, RECORD_END))


def _start(fields: list[tuple[str, str]], size: int) -> bytes:
    """The header of a record whose block has this size."""
    head = "".join([f"{name}: {value}\r\n" for name, value in fields])
    return f"WARC/1.1\r\n{head}Content-Length: {size}\r\n\r\n".encode("utf-8", "replace")


def _one_line(value: str) -> str:
    return " ".join(value.split())
