"""Media types by file name extension."""

from __future__ import annotations

import pytest

from webstrata.lab.livingweb.site import content_type

CASES = [
    ("index.html", "é".encode(), "text/html; charset=utf-8"),
    ("index.html", b"caf\xe9", "text/html"),
    ("a/b.CSV", b"a,b", "text/csv; charset=utf-8"),
    ("x.json", b"{}", "application/json"),
    ("x.jsonld", b"{}", "application/ld+json"),
    ("x.ttl", b"", "text/turtle; charset=utf-8"),
    ("feed.rss", b"<rss/>", "application/rss+xml"),
    ("dir.html/README", b"x", "application/octet-stream"),
    ("noending", b"x", "application/octet-stream"),
]


@pytest.mark.parametrize(("path", "body", "header"), CASES)
def test_type_by_extension(path: str, body: bytes, header: str) -> None:
    """The extension determines the type; a charset is declared only for text that is valid UTF-8."""
    assert content_type(path, body) == header
