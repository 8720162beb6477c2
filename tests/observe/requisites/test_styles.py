"""Addresses in style sheets, in ordinary and in hostile ones."""

from __future__ import annotations

import pytest

from webstrata.observe.requisites.styles import style_addresses


@pytest.mark.parametrize(
    ("sheet", "addresses"),
    [
        ("p { background: url(a.png) }", ["a.png"]),
        ("p { background: URL( 'b (1).png' ) }", ["b (1).png"]),
        ('@font-face { src: url("/f.woff2") format("woff2"), url(/f.woff) }', ["/f.woff2", "/f.woff"]),
        ('@import "more.css"; @IMPORT url(again.css) print;', ["more.css", "again.css"]),
        ("/* url(no.png) */ p{background:url(yes.png)} /* url(never.png)", ["yes.png"]),
        ("p::before { content: 'url(no.png)'; background: url(yes.png) }", ["yes.png"]),
        (r"p{background:url(\61 \.png)}", ["a.png"]),
        ("p{background:url(http://b.test/far.png)}", ["http://b.test/far.png"]),
        ("p{background:url(unclosed.png", []),
        ("", []),
        # every form of an import
        ('@import"a.css";', ["a.css"]),
        ("@import/**/'a.css';", ["a.css"]),
        ('@import "a.css" layer;', ["a.css"]),
        ('@import "a.css" layer(base.reset) supports(display: grid) screen and (min-width: 1px);', ["a.css"]),
        ("@import url('a.css') layer(x); @import url(b.css) supports(not (gap: 1px));", ["a.css", "b.css"]),
        ('@import "a.css" supports(selector(a:has("b")));', ["a.css"]),
        # sets of images
        ('p{background:image-set("a.avif" type("image/avif"), "b.png" 2x)}', ["a.avif", "b.png"]),
        ("p{background:-webkit-image-set(url(a.png) 1x, url('b.png') 2x)}", ["a.png", "b.png"]),
        ("p{background:image-set(linear-gradient(red, blue) 1x, 'c.png' 2x);content:'no'}", ["c.png"]),
        ("p{background:image-set('c.png' 1x} i{content:'no'}", ["c.png"]),
        # names that are not files
        ('@namespace svg url("http://www.w3.org/2000/svg"); @charset "utf-8"; p{src:local("no")}', []),
    ],
)
def test_addresses(sheet: str, addresses: list[str]) -> None:
    """Addresses in all notations are found, except in comments and strings."""
    assert list(style_addresses(sheet)) == addresses


@pytest.mark.parametrize(
    "sheet",
    [
        "/*" * 400_000,
        "url(" * 300_000,
        "url('" * 300_000,
        '"' * 300_001,
        "@import " * 200_000,
        "@import/*" * 100_000,
        "@namespace " * 100_000,
        "image-set(" * 200_000,
        "(" * 1_000_000,
        "\\" * 300_000,
        "url(" + "\\61 " * 5_000,
        "url( " + " " * 300_000,
    ],
    ids=lambda sheet: sheet[:12],
)
def test_hostile_sheets(sheet: str) -> None:
    """Sheets made to be slow are read in ordinary time and have no addresses."""
    assert not any(style_addresses(sheet))
