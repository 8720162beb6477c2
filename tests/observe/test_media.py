"""Media types and charset labels."""

from __future__ import annotations

import pytest

from tests.observe.documents import samples
from webstrata.observe.documents.formats import ZIP_TYPES
from webstrata.observe.media import header_charset, media_type

CASES = [
    # body, header, media type
    (b"<p>", "text/html; charset=utf-8", "text/html"),
    (b"<p>", "TEXT/HTML", "text/html"),
    (b"%PDF-1.7", "text/html", "text/html"),  # a valid header is trusted
    (b"<html>", "text/plain", "text/plain"),
    (b"%PDF-1.7", None, "application/pdf"),
    (b"%PDF-1.7", "application/octet-stream", "application/pdf"),
    (b"  <!DOCTYPE html><p>", "", "text/html"),
    (b"<!-- x --><HTML lang=en>", "nonsense", "text/html"),
    (b'<?xml version="1.0"?><urlset/>', None, "application/xml"),
    (b'<?xml version="1.0"?>\n<html xmlns="x">', None, "application/xhtml+xml"),
    (b"\x89PNG\r\n\x1a\n", None, "image/png"),
    (b'<svg xmlns="http://www.w3.org/2000/svg">', None, "image/svg+xml"),
    (b'<?xml version="1.0"?><!-- made by hand --><svg>', None, "image/svg+xml"),
    (b'<?xml version="1.0"?><html><body><svg>', None, "application/xhtml+xml"),
    (b"RIFF\x10\0\0\0WEBPVP8 ", "application/octet-stream", "image/webp"),
    (b"BEGIN:VCALENDAR\r\n", None, "text/calendar"),
    (bytes(257) + b"ustar\x0000", None, "application/x-tar"),
    (samples.docx(["a"]), None, ZIP_TYPES["docx"]),
    (samples.ods({"a": [["b"]]}), "application/octet-stream", ZIP_TYPES["ods"]),
    (samples.zipped({"a": "b"}), None, "application/zip"),
    (samples.docx(["a"]), "application/zip", "application/zip"),
    (b"just words", None, "text/plain"),
    (b"\0\1\2", None, "application/octet-stream"),
    (b"", None, "application/octet-stream"),
    (b"x", "text/html, text/plain", "text/html"),
    (b"<html>", "text", "text/html"),  # not a media type: the header counts as missing
    (b"<html>", "text/a/b", "text/html"),
    (b"<html>", "text/", "text/html"),
    (b"<html>", "/html; charset=utf-8", "text/html"),
    (b"<html>", "text /plain", "text/html"),
]


@pytest.mark.parametrize(("body", "header", "expected"), CASES)
def test_media_type(body: bytes, header: str | None, expected: str) -> None:
    """The media type in a valid header, else the type detected from the bytes."""
    assert media_type(body, header) == expected


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (None, None),
        ("text/html", None),
        ("text/html; charset=utf-8", "utf-8"),
        ('text/html;CharSet="UTF-8"; x=y', "UTF-8"),
        ("text/html; charset='utf-8'", "utf-8"),
        ("text/html; charset=", None),
        ('text/html; charset=""', None),
    ],
)
def test_header_charset(header: str | None, expected: str | None) -> None:
    """The charset parameter in all its notations."""
    assert header_charset(header) == expected
