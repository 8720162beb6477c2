"""CDXJ lines: `SURT timestamp {json}`, one for each capture, the same from the writer and from a rebuilt index.

The keys stand in a fixed order (url, mime, status, digest, length, offset, filename, truncated); a key without a
value is left out; numbers are written as text, as all indexers of the field do.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime

import msgspec
from msgspec import Struct

from webstrata.archive.warc import http_head
from webstrata.errors import BadUrl
from webstrata.urls import surt

_PLAIN = re.compile(r"[ !#-\[\]-~]*")  # text that JSON writes as it is
_DATE = re.compile(r"(\d{4})(?:-?(\d\d)(?:-?(\d\d)(?:[T ]?(\d\d):?(\d\d)(?::?(\d\d))?)?)?)?")


class CdxjEntry(Struct, frozen=True, kw_only=True, gc=False):
    """A line of the index, read."""

    surt: str
    timestamp: str
    """Fourteen digits."""
    url: str
    mime: str = ""
    status: str = ""
    digest: str = ""
    length: int = 0
    offset: int = 0
    filename: str = ""
    truncated: str = ""

    @property
    def revisit(self) -> bool:
        return self.mime == "warc/revisit"


class _Json(Struct):
    url: str = ""
    mime: str = ""
    status: str = ""
    digest: str = ""
    length: int = 0
    offset: int = 0
    filename: str = ""
    truncated: str = ""


_decoder = msgspec.json.Decoder(_Json, strict=False)


def line(
    *,
    kind: str,
    url: str,
    date: str,
    digest: str | None,
    truncated: str | None,
    head: bytes,
    content_type: str | None,
    length: int,
    offset: int,
    filename: str,
) -> bytes:
    """The index line of a record, from its header fields and (of HTTP messages) its HTTP head."""
    status = http_head.status_of(head) if head else None
    if kind == "revisit":
        mime: str | None = "warc/revisit"
        truncated = None  # says that the payload stands elsewhere, not that it was cut
    elif head:
        mime = http_head.media_type_of(head)
    else:
        mime = re.split(r"[;\s]", content_type, maxsplit=1)[0] if content_type else content_type
    pairs = (
        ("url", url),
        ("mime", mime),
        ("status", None if status is None else str(status)),
        ("digest", digest),
        ("length", str(length)),
        ("offset", str(offset)),
        ("filename", filename),
        ("truncated", truncated or None),
    )
    body = ", ".join([f'"{name}": {_quoted(value)}' for name, value in pairs if value is not None])
    return f"{surt_key(url)} {timestamp(date)} {{{body}}}\n".encode("ascii", "backslashreplace")


def surt_key(url: str) -> str:
    """The SURT of a URL; of what is no URL, the text itself: every capture has a line."""
    try:
        made = surt(url)
    except BadUrl:
        made = url
    return _ascii_key(made)


def _ascii_key(made: str) -> str:
    if made.isascii() and made.isprintable() and " " not in made:
        return made or "-"
    return "".join(chr(b) if 0x20 < b < 0x7F else f"%{b:02x}" for b in made.encode("utf-8", "replace"))


def timestamp(date: str) -> str:
    """Fourteen digits of a WARC-Date (any precision) or ARC date; zeros for what is no date."""
    found = _DATE.match(date.strip())
    if not found:
        return "0" * 14
    year, month, day, hour, minute, second = found.groups()
    return year + (month or "01") + (day or "01") + (hour or "00") + (minute or "00") + (second or "00")


def at_of(date: str) -> float:
    """The instant of a WARC-Date with its fraction; 0 for what is no date."""
    try:
        moment = datetime.fromisoformat(_six_digits(date.strip()))
    except ValueError:
        try:
            moment = datetime.strptime(timestamp(date), "%Y%m%d%H%M%S")  # noqa: DTZ007 - set below
        except ValueError:
            return 0.0
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _six_digits(date: str) -> str:
    """WARC 1.1 allows nine digits of a second; Python reads six."""
    return re.sub(r"(\.\d{6})\d+", r"\1", date)


def parse(raw: bytes) -> CdxjEntry | None:
    """A line read back; None for what is no CDXJ line."""
    head, brace, rest = raw.partition(b" {")
    surt_key, _, stamp = head.partition(b" ")
    if not brace or not stamp:
        return None
    try:
        found = _decoder.decode(b"{" + rest)
        return CdxjEntry(
            surt=surt_key.decode("ascii"),
            timestamp=stamp.decode("ascii"),
            url=found.url,
            mime=found.mime,
            status=found.status,
            digest=found.digest,
            length=found.length,
            offset=found.offset,
            filename=found.filename,
            truncated=found.truncated,
        )
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def sort_key(raw: bytes) -> bytes:
    """SURT and time; lines of one file come in the order of their offsets, which a stable sort keeps."""
    return raw[: raw.find(b" {")]


def line_timestamp(raw: bytes) -> bytes:
    """The fourteen digits of a line."""
    return sort_key(raw).rpartition(b" ")[2]


def _quoted(value: str) -> str:
    return f'"{value}"' if _PLAIN.fullmatch(value) else json.dumps(value)
