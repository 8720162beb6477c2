"""Which media type a body has: what the server said, and a light look at the bytes where it said little or nonsense.

A server's plausible word is taken. Bytes decide only for an absent or malformed header and for what
servers give when they do not know (`application/octet-stream` and its kin; `text/plain` is not one of them: a page
that is served as source is meant as source).
"""

from __future__ import annotations

import re
from functools import lru_cache

HTML = frozenset({"text/html", "application/xhtml+xml"})

_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_MEDIA_TYPE = re.compile(rf"\s*({_TOKEN}/{_TOKEN})\s*(?:;|,|$)")
_CHARSET = re.compile(rf";\s*charset\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|({_TOKEN}))", re.IGNORECASE)

_UNKNOWN = frozenset({"", "application/octet-stream", "application/unknown", "unknown/unknown", "*/*"})
_HEADER_READ = 1024
_HEADERS = 64
"""Remembered: servers say the same few again and again."""
_SNIFFED = 1445  # as far as the WHATWG MIME sniffing standard looks

_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"%PDF-", "application/pdf"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"\x1f\x8b", "application/gzip"),
    (b"PK\x03\x04", "application/zip"),
)
_HTML_START = re.compile(
    rb"(?:\xef\xbb\xbf)?[\t\n\f\r ]*(?:<!--.*?-->[\t\n\f\r ]*)*"
    rb"<(?:!doctype\s+html|(?:html|head|body|title|script|iframe|h1|div|font|table|a|style|b|br|p|meta|link)[\s>])",
    re.IGNORECASE | re.DOTALL,
)
_XML_START = re.compile(rb"(?:\xef\xbb\xbf)?[\t\n\f\r ]*<\?xml[\s]")
_XHTML_ROOT = re.compile(rb"<html[\s>]", re.IGNORECASE)
_BINARY_BYTES = bytes(b for b in range(0x20) if b not in b"\t\n\x0b\f\r\x1b")


@lru_cache(maxsize=_HEADERS)
def header_media_type(content_type: str | None) -> str:
    """Media type that a Content-Type header names, in lower case without parameters; `""` if none that makes sense."""
    match = _MEDIA_TYPE.match((content_type or "")[:_HEADER_READ])
    return match[1].lower() if match else ""


@lru_cache(maxsize=_HEADERS)
def header_charset(content_type: str | None) -> str | None:
    """Charset label that a Content-Type header names, as written."""
    match = _CHARSET.search((content_type or "")[:_HEADER_READ])
    return (match[1] or match[2] or match[3] or "").strip() or None if match else None


def media_type(body: bytes, content_type: str | None) -> str:
    """Media type of a body; `application/octet-stream` where nobody can tell."""
    said = header_media_type(content_type)
    return said if said not in _UNKNOWN else _sniffed(body)


def _sniffed(body: bytes) -> str:
    start = body[:_SNIFFED]
    if _HTML_START.match(start):
        return "text/html"
    if _XML_START.match(start):
        return "application/xhtml+xml" if _XHTML_ROOT.search(start) else "application/xml"
    for magic, kind in _MAGIC:
        if start.startswith(magic):
            return kind
    if start.startswith((b"\xfe\xff", b"\xff\xfe", b"\xef\xbb\xbf")):
        return "text/plain"
    is_text = bool(start) and start.translate(None, _BINARY_BYTES) == start
    return "text/plain" if is_text else "application/octet-stream"
