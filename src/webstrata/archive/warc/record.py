"""Parsing of WARC and ARC records from any writer, and the digests in their headers.

Digests are written as `sha1:` and base32, and accepted in all common encodings.
"""

from __future__ import annotations

import hashlib
import mmap
import re
from base64 import b32encode, b64encode, urlsafe_b64encode
from collections.abc import Iterable

from msgspec import Struct

from webstrata.archive.warc import http_head

_ALGORITHMS = frozenset({"sha1", "sha256", "sha512", "md5"})

# base32, ten bits at a time: the encoder of the standard library takes longer than the digest of a small record.
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_PAIRS = [first + second for first in _LETTERS for second in _LETTERS]
_SHIFTS = tuple(range(150, -1, -10))


def sha1(*parts: bytes) -> str:
    """`sha1:` and the base32 digest of the concatenated parts."""
    return sha1_of(parts)


def sha1_of(parts: Iterable[bytes]) -> str:
    """The same for parts that are not in memory together."""
    state = hashlib.sha1(usedforsecurity=False)
    for part in parts:
        state.update(part)
    number = int.from_bytes(state.digest(), "big")
    return "sha1:" + "".join([_PAIRS[number >> shift & 1023] for shift in _SHIFTS])


def matches(label: str, data: bytes) -> bool | None:
    """Whether the digest matches the data; None if the algorithm is not known.

    The value may be hex, base32 or base64 in either alphabet, because writers differ.
    """
    return PieceDigest(label, data).matches()


class PieceDigest:
    """The digest of data that arrives in pieces, to be compared with a declared one."""

    def __init__(self, label: str, data: bytes = b"") -> None:
        """`label`: the declared digest, with its algorithm."""
        name, _, self._value = label.partition(":")
        name = name.strip().lower().replace("-", "")
        self._state = hashlib.new(name, data, usedforsecurity=False) if name in _ALGORITHMS else None

    def update(self, data: bytes) -> None:
        if self._state is not None:
            self._state.update(data)

    def matches(self) -> bool | None:
        """Whether the digest matches the data; None if the algorithm is not known."""
        return None if self._state is None else _is_digest(self._value.strip(), self._state.digest())


def _is_digest(value: str, expected: bytes) -> bool:
    base64 = {b64encode(expected).decode(), urlsafe_b64encode(expected).decode()}
    encodings = base64 | {text.rstrip("=") for text in base64} | {expected.hex(), expected.hex().upper()}
    return value.rstrip("=").upper() == b32encode(expected).decode().rstrip("=") or value in encodings


# A longer header is not parsed to its end.
_MAX_HEADER_BYTES = 1024 * 1024

_VERSION = re.compile(rb"warc/\d+\.\d+", re.IGNORECASE)
_ARC = re.compile(rb"([a-zA-Z][\w+.-]*:\S*) +(\S+) +(\d{8,}) +(\S+)(?: +\S+)*? +(\S+)\r?\n")
_TWO_LINES = re.compile(rb"[^\n]*\n[^\n]*\n")
_HEADER_END = re.compile(rb"\n\r?\n")
_URI_SPACE = re.compile(r"[\x00-\x20\x7f]")

Buffer = bytes | mmap.mmap


class WarcRecord(Struct, frozen=True, kw_only=True):
    """A record: its header fields (names in lower case) and its block."""

    offset: int
    """Offset in the file: of the gzip member, or of the record itself in an uncompressed file."""
    length: int
    version: str
    fields: tuple[tuple[str, str], ...]
    block: bytes
    declared: int | None
    """Content-Length; None if it is missing or not a number."""
    size: int
    """Bytes of the block in the file (`block` may hold only the first of them)."""

    def field(self, name: str) -> str | None:
        """The value of the first field with this name."""
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
        return without_spaces(bare_uri(self.field("warc-target-uri") or ""))

    @property
    def date(self) -> str:
        return self.field("warc-date") or ""

    @property
    def is_complete(self) -> bool:
        """Whether the file holds all of the block that the header declares."""
        return self.declared is not None and self.declared <= self.size

    @property
    def http(self) -> bool:
        """Whether the block is an HTTP message."""
        declared = (self.field("content-type") or "").lower()
        if self.version.startswith("ARC"):
            return self.kind == "response" and self.url[:4].lower() == "http"
        return self.kind in ("response", "request", "revisit") and declared.startswith("application/http")


def bare_uri(value: str) -> str:
    """The URI without the angle brackets that some writers put around it."""
    return value[1:-1] if value[:1] == "<" and value[-1:] == ">" else value


def without_spaces(uri: str) -> str:
    """The URI with spaces and control characters percent-encoded."""
    return _URI_SPACE.sub(lambda match: f"%{ord(match.group()):02X}", uri)


def parse_record(
    buffer: Buffer, start: int, end: int, max_block_bytes: int | None = None
) -> tuple[WarcRecord, int] | None:
    """The record at `start` (after any blank lines) and the position of its end; None if there is no record.

    Of its block at most `max_block_bytes` are kept. `offset` and `length` refer to the buffer; the caller replaces them
    if the buffer was inflated.
    """
    at = start
    while at < end and buffer[at] in b"\r\n":
        at += 1
    head_line = buffer[at : min(end, at + 4096)]
    if _VERSION.match(head_line):
        return _parse_warc(buffer, at, end, max_block_bytes)
    arc = _ARC.match(head_line)
    return _parse_arc(buffer, at, end, arc, max_block_bytes) if arc else None


def _parse_warc(buffer: Buffer, at: int, end: int, max_block_bytes: int | None) -> tuple[WarcRecord, int]:
    limit = min(end, at + _MAX_HEADER_BYTES)
    match = _HEADER_END.search(buffer, at, limit)
    body_at = match.end() if match else limit
    raw = buffer[at:body_at]
    fields = http_head.parse_fields(raw)
    declared = _length(next((value for name, value in fields if name == "content-length"), ""))
    stop_at = min(end, body_at + (declared or 0))
    block = _block(buffer, body_at, stop_at, max_block_bytes)
    version = http_head.decode_text(raw.split(b"\n", 1)[0].strip()).upper()
    return _record(at, body_at, stop_at, version, fields, block, declared)


def _parse_arc(
    buffer: Buffer, at: int, end: int, match: re.Match[bytes], max_block_bytes: int | None
) -> tuple[WarcRecord, int]:
    url, address, date, media_type, length = match.groups()
    body_at = at + match.end()
    declared = _length(http_head.decode_text(length))
    stop_at = min(end, body_at + (declared or 0))
    is_file_header = url.startswith(b"filedesc:")
    if is_file_header and (lines := _TWO_LINES.match(buffer, body_at, end)):
        stop_at = max(stop_at, lines.end())  # its declared length often omits a line end, or is -1
    fields = (
        ("warc-type", "warcinfo" if is_file_header else "response"),
        ("warc-target-uri", http_head.decode_text(url)),
        ("warc-date", date.decode("ascii")),
        ("warc-ip-address", http_head.decode_text(address)),
        ("content-type", http_head.decode_text(media_type)),
        ("content-length", http_head.decode_text(length)),
    )
    block = _block(buffer, body_at, stop_at, max_block_bytes)
    return _record(at, body_at, stop_at, "ARC/1.0", fields, block, declared)


def _block(buffer: Buffer, start: int, end: int, max_bytes: int | None) -> bytes:
    return buffer[start : end if max_bytes is None else min(end, start + max_bytes)]


def _record(
    at: int,
    body_at: int,
    stop_at: int,
    version: str,
    fields: tuple[tuple[str, str], ...],
    block: bytes,
    declared: int | None,
) -> tuple[WarcRecord, int]:
    record = WarcRecord(
        offset=at,
        length=stop_at - at,
        version=version,
        fields=fields,
        block=block,
        declared=declared,
        size=stop_at - body_at,
    )
    return record, stop_at


def _length(value: str) -> int | None:
    return int(value) if value.isascii() and value.isdigit() and len(value) < 19 else None
