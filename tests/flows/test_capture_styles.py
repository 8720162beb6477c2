"""Files that style sheets name, found in what sites really write and in what would do harm."""

from __future__ import annotations

import gzip

import pytest

from webstrata.flows.capture.styles import MOST_FILES, files_of
from webstrata.records import Exchange

SHEET = "http://a.test/css/main.css"


def answered(text: str | bytes, kind: str = "text/css; charset=utf-8", **headers: str) -> Exchange:
    return Exchange(
        url=SHEET,
        at=0.0,
        duration_s=0.1,
        request_head=b"",
        status=200,
        headers=(("content-type", kind), *((name.replace("_", "-").lower(), headers[name]) for name in headers)),
        body=text.encode() if isinstance(text, str) else text,
    )


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
    """Addresses in every spelling, but none in comments and strings, none inside the file and none off the web."""
    wanted = tuple(name if "://" in name else f"http://a.test/{name}" for name in names)
    assert files_of(answered(sheet)) == wanted


def test_styles_inside_pages() -> None:
    """The style elements and attributes of a page are read; its text and scripts are not."""
    page = """<style media=all>@import "in.css"; p{background:url(one.png)}</style>
        <p style="background:url(&quot;two.png&quot;)">url(text.png)</p>
        <script>x = "url(script.png)"</script><STYLE>i{background:url(three.png)}"""
    found = files_of(answered(page, "text/html"))
    assert found == tuple(f"http://a.test/css/{name}" for name in ("in.css", "one.png", "three.png", "two.png"))


def test_other_files_are_not_read() -> None:
    """Only style sheets and pages name files, packed on their way or not."""
    sheet = "p{background:url(a.png)}"
    assert files_of(answered(sheet, "text/plain")) == ()
    assert len(files_of(answered(gzip.compress(sheet.encode()), Content_Encoding="gzip"))) == 1


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
    """What was made to be slow is read like any other, and names nothing."""
    assert files_of(answered(sheet)) == ()
    assert files_of(answered(sheet, "text/html")) == ()


def test_a_sheet_has_limits() -> None:
    """A sheet that names thousands of files names some hundred."""
    assert (
        len(files_of(answered("".join(f"p{{background:url({number}.png)}}" for number in range(5000))))) == MOST_FILES
    )
