"""Digests as WARC headers write them: `sha1:` and base32, read in every common spelling.

A record read from a WARC or ARC file, whoever wrote it.
"""

from __future__ import annotations

import hashlib
import mmap
import re
from base64 import b32encode, b64encode, urlsafe_b64encode

from msgspec import Struct

from webstrata.archive.warc import http_head

_ALGORITHMS = frozenset({"sha1", "sha256", "sha512", "md5"})

# base32, ten bits at a time: the library's encoder takes longer than the digest of a small record.
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_PAIRS = [one + two for one in _LETTERS for two in _LETTERS]
_SHIFTS = tuple(range(150, -1, -10))


def sha1(*parts: bytes) -> str:
    """`sha1:` and base32 of the parts in a row."""
    state = hashlib.sha1(usedforsecurity=False)
    for part in parts:
        state.update(part)
    number = int.from_bytes(state.digest(), "big")
    return "sha1:" + "".join([_PAIRS[number >> shift & 1023] for shift in _SHIFTS])


def matches(label: str, data: bytes) -> bool | None:
    """Does the digest fit the data? None where the label names no algorithm that we know.

    Read as hex, base32 or base64 in either alphabet: writers differ, and only the bytes count.
    """
    name, _, value = label.partition(":")
    name = name.strip().lower().replace("-", "")
    if name not in _ALGORITHMS:
        return None
    wanted = hashlib.new(name, data, usedforsecurity=False).digest()
    spelt = value.strip()
    return spelt.rstrip("=").upper() == b32encode(wanted).decode().rstrip("=") or spelt in _spellings(wanted)


def _spellings(digest: bytes) -> set[str]:
    spelt = {b64encode(digest).decode(), urlsafe_b64encode(digest).decode()}
    return spelt | {text.rstrip("=") for text in spelt} | {digest.hex(), digest.hex().upper()}


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
        version=http_head.decode_text(raw.split(b"\n", 1)[0].strip()).upper(),
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
        ("warc-target-uri", http_head.decode_text(url)),
        ("warc-date", date.decode("ascii")),
        ("warc-ip-address", http_head.decode_text(address)),
        ("content-type", http_head.decode_text(media_type)),
        ("content-length", http_head.decode_text(length)),
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
