"""A record read from a WARC or ARC file, whoever wrote it."""

from __future__ import annotations

import mmap
import re

from msgspec import Struct

from webstrata.archive import http_head

# Longer headers are not headers.
_MAX_HEADER_BYTES = 1024 * 1024

_VERSION = re.compile(rb"warc/\d+\.\d+", re.IGNORECASE)
_ARC = re.compile(rb"([a-zA-Z][\w+.-]*:\S*) +(\S+) +(\d{8,}) +(\S+)(?: +\S+)*? +(\S+)\r?\n")
_TWO_LINES = re.compile(rb"[^\n]*\n[^\n]*\n")
_HEADER_END = re.compile(rb"\n\r?\n")
_URI_SPACE = re.compile(r"[\x00-\x20\x7f]")

Buffer = bytes | mmap.mmap


class WarcRecord(Struct, frozen=True, kw_only=True):
    """One record: its header fields (names in lower case), and its block."""

    offset: int
    """Where it can be read from the file: of its gzip member, or of itself."""
    length: int
    version: str
    fields: tuple[tuple[str, str], ...]
    block: bytes
    declared: int | None
    """Content-Length; None where the header has none that can be read."""
    size: int
    """Bytes of the block that are there (the block itself may be kept in part)."""
    raw_header: bytes = b""

    def field(self, name: str) -> str | None:
        for key, value in self.fields:
            if key == name:
                return value
        return None

    @property
    def kind(self) -> str:
        return (self.field("warc-type") or "").lower()

    @property
    def record_id(self) -> str:
        return bare_uri(self.field("warc-record-id") or "")

    @property
    def url(self) -> str:
        return clean_uri(self.field("warc-target-uri") or "")

    @property
    def date(self) -> str:
        return self.field("warc-date") or ""

    @property
    def whole(self) -> bool:
        """All of the block that the header declares is there."""
        return self.declared is not None and self.declared <= self.size

    @property
    def http(self) -> bool:
        """The block is an HTTP message."""
        declared = (self.field("content-type") or "").lower()
        if self.version.startswith("ARC"):
            return self.kind == "response" and self.url[:4].lower() == "http"
        return self.kind in ("response", "request", "revisit") and declared.startswith("application/http")


def bare_uri(value: str) -> str:
    """Without the angle brackets that some writers put round every URI."""
    return value[1:-1] if value[:1] == "<" and value[-1:] == ">" else value


def clean_uri(value: str) -> str:
    """A target URI as it should have been written: no brackets, blanks percent-encoded."""
    return _URI_SPACE.sub(lambda found: f"%{ord(found.group()):02X}", bare_uri(value))


def parse_record(buffer: Buffer, start: int, end: int) -> tuple[WarcRecord, int] | None:
    """The record at `start` (blank lines before it are passed over) and where it ends; None: no record there.

    `offset` and `length` are those in the buffer; whoever inflated it knows better ones.
    """
    at = _skip_blank(buffer, start, end)
    head_line = buffer[at : min(end, at + 4096)]
    if _VERSION.match(head_line):
        return _parse_warc(buffer, at, end)
    arc = _ARC.match(head_line)
    return _parse_arc(buffer, at, end, arc) if arc else None


def _parse_warc(buffer: Buffer, at: int, end: int) -> tuple[WarcRecord, int]:
    limit = min(end, at + _MAX_HEADER_BYTES)
    found = _HEADER_END.search(buffer, at, limit)
    body_at = found.end() if found else limit
    raw = buffer[at:body_at]
    fields = http_head.parse_fields(raw)
    declared = _length(fields)
    stop_at = min(end, body_at + (declared or 0))
    block = buffer[body_at:stop_at]
    record = WarcRecord(
        offset=at,
        length=stop_at - at,
        version=http_head.text(raw.split(b"\n", 1)[0].strip()).upper(),
        fields=fields,
        block=block,
        declared=declared,
        size=len(block),
        raw_header=raw,
    )
    return record, stop_at


def _parse_arc(buffer: Buffer, at: int, end: int, found: re.Match[bytes]) -> tuple[WarcRecord, int]:
    url, address, date, media_type, length = found.groups()
    body_at = at + found.end()
    declared = int(length) if length.isdigit() and len(length) < 19 else None
    stop_at = min(end, body_at + (declared or 0))
    about_file = url.startswith(b"filedesc:")
    if about_file and (lines := _TWO_LINES.match(buffer, body_at, end)):
        stop_at = max(stop_at, lines.end())  # its length often leaves out a line end, or is -1
    block = buffer[body_at:stop_at]
    fields = (
        ("warc-type", "warcinfo" if about_file else "response"),
        ("warc-target-uri", http_head.text(url)),
        ("warc-date", date.decode("ascii")),
        ("warc-ip-address", http_head.text(address)),
        ("content-type", http_head.text(media_type)),
        ("content-length", http_head.text(length)),
    )
    record = WarcRecord(
        offset=at,
        length=stop_at - at,
        version="ARC/1.0",
        fields=fields,
        block=block,
        declared=declared,
        size=len(block),
        raw_header=found.group(0),
    )
    return record, stop_at


def _length(fields: tuple[tuple[str, str], ...]) -> int | None:
    for name, value in fields:
        if name == "content-length":
            return int(value) if value.isascii() and value.isdigit() and len(value) < 19 else None
    return None


def _skip_blank(buffer: Buffer, at: int, end: int) -> int:
    while at < end and buffer[at] in b"\r\n":
        at += 1
    return at
