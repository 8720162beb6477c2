"""Files that style sheets refer to, in ordinary and in hostile sheets."""

from __future__ import annotations

import gzip

import pytest

from webstrata.coding import EncodedBody
from webstrata.flows.capture.styles import MAX_FILES, style_files

SHEET = "http://a.test/css/main.css"


def response(text: str | bytes, kind: str = "text/css; charset=utf-8", coding: str | None = None) -> EncodedBody:
    body = text.encode() if isinstance(text, str) else text
    return EncodedBody(url=SHEET, body=body, content_type=kind, content_encoding=coding)


@pytest.mark.parametrize(
    ("sheet", "names"),
    [
        ("p { background: url(a.png) }", ["css/a.png"]),
        ("p { background: URL( 'b (1).png' ) }", ["css/b%20(1).png"]),
        ('@font-face { src: url("/f.woff2") format("woff2"), url(/f.woff) }', ["f.woff2", "f.woff"]),
        ('@import "more.css"; @IMPORT url(again.css) print;', ["css/more.css", "css/again.css"]),
        ("@import url('x.css');@import url('x.css');", ["css/x.css"]),
        ("/* url(no.png) */ p{background:url(yes.png)} /* url(never.png)", ["css/yes.png"]),
        ("p::before { content: 'url(no.png)'; background: url(yes.png) }", ["css/yes.png"]),
        (r"p{background:url(\61 \.png)}", ["css/a.png"]),
        ("p{background:url(http://b.test/far.png)}", ["http://b.test/far.png"]),
        ("p{background:url(data:image/png;base64,AAAA);fill:url(#id);x:url();y:url(javascript:1)}", []),
        ("p{background:url(unclosed.png", []),
        ("", []),
    ],
)
def test_style_sheets(sheet: str, names: list[str]) -> None:
    """URLs in all notations are found, except in comments and strings, fragments, and other schemes than http(s)."""
    expected = tuple(name if "://" in name else f"http://a.test/{name}" for name in names)
    assert style_files(response(sheet)) == expected


def test_styles_inside_pages() -> None:
    """The style elements and attributes of a page are parsed; its text and scripts are not."""
    page = """<style media=all>@import "in.css"; p{background:url(one.png)}</style>
        <p style="background:url(&quot;two.png&quot;)">url(text.png)</p>
        <script>x = "url(script.png)"</script><STYLE>i{background:url(three.png)}"""
    files = style_files(response(page, "text/html"))
    assert files == tuple(f"http://a.test/css/{name}" for name in ("in.css", "one.png", "three.png", "two.png"))


def test_other_media_types() -> None:
    """Only style sheets and pages are parsed, also with Content-Encoding gzip."""
    sheet = "p{background:url(a.png)}"
    assert style_files(response(sheet, "text/plain")) == ()
    assert len(style_files(response(gzip.compress(sheet.encode()), coding="gzip"))) == 1


@pytest.mark.parametrize(
    "sheet",
    [
        "/*" * 400_000,
        "url(" * 300_000,
        "url('" * 300_000,
        '"' * 300_001,
        "@import " * 200_000,
        "\\" * 300_000,
        "url(" + "\\61 " * 5_000,
        "url( " + " " * 300_000,
        "<style " * 100_000,
        " style=" * 100_000,
    ],
    ids=[
        "comments",
        "addresses",
        "quoted",
        "quotes",
        "imports",
        "escapes",
        "codes",
        "blanks",
        "elements",
        "attributes",
    ],
)
def test_hostile_sheets(sheet: str) -> None:
    """Sheets made to be slow are parsed in ordinary time and refer to no files."""
    assert style_files(response(sheet)) == ()
    assert style_files(response(sheet, "text/html")) == ()


def test_limit() -> None:
    """Of thousands of files the first `MAX_FILES` are returned."""
    assert (
        len(style_files(response("".join(f"p{{background:url({number}.png)}}" for number in range(5000))))) == MAX_FILES
    )
