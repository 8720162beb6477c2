"""Files to which style sheets, scripts, manifests and drawings refer, by the type of the content."""

from __future__ import annotations

import gzip
import json

import pytest

from webstrata.coding import EncodedBody
from webstrata.observe.requisites.files import MAX_FILES, referred_files

URL = "http://a.test/dir/file"
SHEET = "p{background:url(a.png)}"


def content(text: str | bytes, kind: str, coding: str | None = None) -> EncodedBody:
    body = text.encode() if isinstance(text, str) else text
    return EncodedBody(url=URL, body=body, content_type=kind, content_encoding=coding)


MANIFEST = {
    "icons": [{"src": "i.png"}, {"src": 3}, "x"],
    "screenshots": [{"src": "/s.png"}],
    "shortcuts": [{"icons": [{"src": "k.png"}]}, {"icons": None}, 7],
}


@pytest.mark.parametrize(
    ("text", "kind", "paths"),
    [
        (SHEET, "text/css; charset=utf-8", "dir/a.png"),
        ("p{background:url(data:image/png;base64,AA);fill:url(#id);x:url();y:url(javascript:1)}", "text/css", ""),
        ("@import url('x.css');@import url('x.css');", "TEXT/CSS", "dir/x.css"),
        ("import './m.js'", "text/javascript", "dir/m.js"),
        ("import '/m.js'", "application/x-javascript", "m.js"),
        (json.dumps(MANIFEST), "application/manifest+json", "dir/i.png s.png dir/k.png"),
        ("[" * 100_000, "application/json", ""),
        ('["a"]', "application/json", ""),
        (
            "<svg><style>rect{fill:url(a.svg#p)}</style><image href='b.png'/></svg>",
            "image/svg+xml",
            "dir/a.svg dir/b.png",
        ),
        (SHEET, "text/plain", ""),
        (SHEET, "", ""),
    ],
)
def test_types(text: str, kind: str, paths: str) -> None:
    """Each type has its own notations; other types refer to nothing."""
    assert referred_files(content(text, kind)) == tuple(f"http://a.test/{path}" for path in paths.split())


def test_codings() -> None:
    """Content codings are removed, and damaged contents have no files."""
    assert len(referred_files(content(gzip.compress(SHEET.encode()), "text/css", "gzip"))) == 1
    assert referred_files(content(b"\x1f\x8b\x08\x00damaged", "text/css", "gzip")) == ()


def test_limit() -> None:
    """Of thousands of files the first `MAX_FILES` are returned."""
    sheet = "".join(f"p{{background:url({number}.png)}}" for number in range(5000))
    assert len(referred_files(content(sheet, "text/css"))) == MAX_FILES
