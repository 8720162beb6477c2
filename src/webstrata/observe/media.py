"""Media type and charset label of a body: from the Content-Type header, or from the first bytes.

A valid header is trusted. The bytes decide only if the header is missing or malformed, or names a type that servers
send for unknown files (`application/octet-stream` and similar). `text/plain` is trusted: a page served as plain text is
meant as plain text.
"""

from __future__ import annotations

import re
from functools import lru_cache

from webstrata.observe.documents.formats import ZIP_TYPES, zip_format

HTML = frozenset({"text/html", "application/xhtml+xml"})

_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_MEDIA_TYPE = re.compile(rf"\s*({_TOKEN}/{_TOKEN})\s*(?:;|,|$)")
_CHARSET = re.compile(rf";\s*charset\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|({_TOKEN}))", re.IGNORECASE)

_UNKNOWN = frozenset({"", "application/octet-stream", "application/unknown", "unknown/unknown", "*/*"})
_MAX_HEADER_LENGTH = 1024
_CACHED_HEADERS = 64
_SNIFFED = 1445  # the number of bytes in the WHATWG MIME sniffing standard

_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"%PDF-", "application/pdf"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"\x1f\x8b", "application/gzip"),
    (b"II*\0", "image/tiff"),
    (b"MM\0*", "image/tiff"),
    (b"\0\0\1\0", "image/x-icon"),
    (b"BEGIN:VCALENDAR", "text/calendar"),
)
_MAGIC_INSIDE: tuple[tuple[int, bytes, str], ...] = (
    (8, b"WEBP", "image/webp"),
    (4, b"ftypavif", "image/avif"),
    (257, b"ustar", "application/x-tar"),
)
"""Signatures that do not stand at the beginning, with their positions."""
_ZIP = b"PK\x03\x04"
_HTML_START = re.compile(
    rb"(?:\xef\xbb\xbf)?[\t\n\f\r ]*(?:<!--.*?-->[\t\n\f\r ]*)*"
    rb"<(?:!doctype\s+html|(?:html|head|body|title|script|iframe|h1|div|font|table|a|style|b|br|p|meta|link)[\s>])",
    re.IGNORECASE | re.DOTALL,
)
_XML_START = re.compile(rb"(?:\xef\xbb\xbf)?[\t\n\f\r ]*<\?xml[\s]")
_SVG_START = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*|<!DOCTYPE\s+svg[^>]*>\s*)*<svg[\s>]", re.DOTALL
)
_XHTML_ROOT = re.compile(rb"<html[\s>]", re.IGNORECASE)
_BINARY_BYTES = bytes(b for b in range(0x20) if b not in b"\t\n\x0b\f\r\x1b")


@lru_cache(maxsize=_CACHED_HEADERS)
def header_media_type(content_type: str | None) -> str:
    """The media type in a Content-Type header, in lower case without parameters; `""` if there is no valid one."""
    match = _MEDIA_TYPE.match((content_type or "")[:_MAX_HEADER_LENGTH])
    return match[1].lower() if match else ""


@lru_cache(maxsize=_CACHED_HEADERS)
def header_charset(content_type: str | None) -> str | None:
    """The charset label in a Content-Type header, as written."""
    match = _CHARSET.search((content_type or "")[:_MAX_HEADER_LENGTH])
    return (match[1] or match[2] or match[3] or "").strip() or None if match else None


def media_type(body: bytes, content_type: str | None) -> str:
    """The media type of a body; `application/octet-stream` if it is unknown."""
    declared = header_media_type(content_type)
    return declared if declared not in _UNKNOWN else _sniffed(body)


def _sniffed(body: bytes) -> str:
    start = body[:_SNIFFED]
    if _HTML_START.match(start):
        return "text/html"
    if _SVG_START.match(start):
        return "image/svg+xml"
    if _XML_START.match(start):
        return "application/xhtml+xml" if _XHTML_ROOT.search(start) else "application/xml"
    if start.startswith(_ZIP):
        return ZIP_TYPES[zip_format(body)]
    for magic, kind in _MAGIC:
        if start.startswith(magic):
            return kind
    for position, magic, kind in _MAGIC_INSIDE:
        if start.startswith(magic, position):
            return kind
    if start.startswith((b"\xfe\xff", b"\xff\xfe", b"\xef\xbb\xbf")):
        return "text/plain"
    is_text = bool(start) and start.translate(None, _BINARY_BYTES) == start
    return "text/plain" if is_text else "application/octet-stream"
