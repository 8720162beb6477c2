"""Titles and texts of pages."""

from __future__ import annotations

import pytest

from webstrata.observe.html.page_text import MAX_TEXT_CHARS, MAX_TITLE_CHARS, page_text

UTF8 = "text/html; charset=utf-8"


@pytest.mark.parametrize(
    ("page", "title"),
    [
        ("<title>A page</title>", "A page"),
        ("<TITLE lang=en>\n A &amp;\t B </Title >", "A & B"),
        ("<!-- <title>no</title> --><script>'<title>no</title>'</script><title>yes</title>", "yes"),
        ("<title>first</title><svg><title>second</title></svg>", "first"),
        ("<title>no end", ""),
        ("<!-- <title>x</title>", ""),
        ("<p>none</p>", ""),
        (f"<title>{'x' * 9999}</title>", "x" * MAX_TITLE_CHARS),
    ],
)
def test_title(page: str, title: str) -> None:
    """The title is the first title element's text; comments and scripts have none."""
    assert page_text(page.encode(), UTF8)[0] == title


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        ("<title>caf\u00e9</title>th\u00e9".encode("latin-1"), "text/html; charset=iso-8859-1"),
        ("<meta charset=utf-8><title>caf\u00e9</title>th\u00e9".encode(), "text/html"),
        ("\ufeff<title>caf\u00e9</title>th\u00e9".encode("utf-16-le"), "text/html"),
        (b"<title>caf&eacute;</title>th&#233;", "text/html"),
    ],
    ids=["header", "meta", "utf-16", "references"],
)
def test_charsets(body: bytes, content_type: str) -> None:
    """Texts are decoded by the charset of the page."""
    title, text = page_text(body, content_type)
    assert title == "caf\u00e9"
    assert text.splitlines()[-1] == "th\u00e9"


def test_text() -> None:
    """The text is what readers see, in lines; it is cut at the limit."""
    assert page_text(b"<h1>One</h1><script>no()</script><p>two <b>three</b>", UTF8)[1] == "One\ntwo\nthree"
    long = page_text(b"<p>word " * 100_000, UTF8)[1]
    assert MAX_TEXT_CHARS - 5 <= len(long) <= MAX_TEXT_CHARS
    assert len(page_text(b"x" * 10**6, UTF8)[1]) == MAX_TEXT_CHARS


@pytest.mark.parametrize("part", [b"<!--", b"<title", b"<script>", b"<title>", b"</title", b"\xff", b"&#xD800;"])
def test_hostile_pages(part: bytes) -> None:
    """Any bytes give a result that can be written as UTF-8, in linear time."""
    for text in page_text(part * 100_000, UTF8):
        text.encode()
