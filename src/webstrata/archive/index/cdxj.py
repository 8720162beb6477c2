"""CDXJ lines: `SURT timestamp {json}`, one for each capture.

The writer and a rebuild of the index give identical lines. The keys are in a fixed order (url, mime, status, digest,
length, offset, filename, truncated); keys without a value are omitted; numbers are strings, as in other CDXJ indexers.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from webstrata.archive.warc import http_head
from webstrata.errors import BadUrl
from webstrata.urls import surt

_PLAIN = re.compile(r"[ !#-\[\]-~]*")  # characters that JSON does not escape
_DATE = re.compile(r"(\d{4})(?:-?(\d\d)(?:-?(\d\d)(?:[T ]?(\d\d):?(\d\d)(?::?(\d\d))?)?)?)?")


class _Json(Struct, frozen=True, kw_only=True, gc=False):
    url: str = ""
    mime: str = ""
    status: str = ""
    digest: str = ""
    length: int = 0
    offset: int = 0
    filename: str = ""
    truncated: str = ""


class CdxjEntry(_Json, frozen=True, kw_only=True, gc=False):
    """A parsed line of the index."""

    surt: str
    timestamp: str
    """14 digits."""

    @property
    def revisit(self) -> bool:
        """Whether the line is of a revisit record."""
        return self.mime == "warc/revisit"


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
    """The SURT of a URL. If it is not a valid URL, the text itself, so that every capture has a line."""
    try:
        text = surt(url)
    except BadUrl:
        text = url
    if text.isascii() and text.isprintable() and " " not in text:
        return text or "-"
    return "".join(chr(b) if 0x20 < b < 0x7F else f"%{b:02x}" for b in text.encode("utf-8", "replace"))


def timestamp(date: str) -> str:
    """The 14 digits of a WARC-Date (of any precision) or ARC date; zeros if it is not a date."""
    match = _DATE.match(date.strip())
    if not match:
        return "0" * 14
    year, month, day, hour, minute, second = match.groups()
    return year + (month or "01") + (day or "01") + (hour or "00") + (minute or "00") + (second or "00")


def at_of(date: str) -> float:
    """The instant of a WARC-Date with its fraction of a second; 0 if it is not a date."""
    try:
        # Python accepts at most six digits of a fraction; WARC 1.1 allows nine.
        moment = datetime.fromisoformat(re.sub(r"(\.\d{6})\d+", r"\1", date.strip()))
    except ValueError:
        try:
            moment = datetime.strptime(timestamp(date), "%Y%m%d%H%M%S")  # noqa: DTZ007 - set below
        except ValueError:
            return 0.0
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def parse(raw: bytes) -> CdxjEntry | None:
    """Parse a line; None if it is not a CDXJ line."""
    head, brace, rest = raw.partition(b" {")
    surt_key, _, stamp = head.partition(b" ")
    if not brace or not stamp:
        return None
    try:
        fields = _decoder.decode(b"{" + rest)
        return CdxjEntry(surt=surt_key.decode("ascii"), timestamp=stamp.decode("ascii"), **asdict(fields))
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def sort_key(raw: bytes) -> bytes:
    """SURT and timestamp. A stable sort keeps the order of offsets for equal keys."""
    return raw[: raw.find(b" {")]


def _quoted(value: str) -> str:
    return f'"{value}"' if _PLAIN.fullmatch(value) else json.dumps(value)
