"""Bounded parsing of HTML, and scanning of pages without a tree."""

from __future__ import annotations

import time

import pytest

from webstrata.observe.html.tree import parse, plain_lines, scan_metadata, without_invisible
from webstrata.observe.kernel.choice import KERNEL
from webstrata.observe.page import observe

URL = "https://a.test/"

# Each of these trees would take minutes or gigabytes.
HOSTILE = {
    "100,000 deep": "<div>" * 100_000 + "word",
    "10^6 attributes": "<p " + " ".join(f"a{number}=1" for number in range(1_000_000)) + ">word",
    "attributes with quoted ends": "<p " + " ".join(f'a{number}=">"' for number in range(50_000)) + ">word",
    "reopened formatting": "".join(f"<p><b id={number}>" for number in range(20_000)) + "word",
    "adoption agency": "".join(f"<b id={number}><div>" for number in range(5_000)) + "</b>" * 5_000 + "word",
    "open comments": "word" + "<!--" * 500_000,
    "open tags": "word" + "<a " * 500_000,
    "open quotes": "word" + '<a href="' * 200_000,
    "open scripts": "word" + "<script>" * 200_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_markup_takes_bounded_time(name: str) -> None:
    """Pages made to be expensive are processed within seconds, and their text is found."""
    started = time.process_time()
    seen = observe(HOSTILE[name].encode(), "text/html", URL)
    assert time.process_time() - started < 10
    assert "word" in (seen.text or "")


def test_nul_bytes_are_dropped() -> None:
    """NUL bytes are dropped, as in the standard."""
    assert observe(b"<p>a\0b" + b"\0" * 100_000, "text/html", URL).text == "ab"


@pytest.mark.parametrize(
    "html",
    [
        "<p>" * 9_000,
        "<ul>" + "<li>item" * 5_000 + "</ul>",
        "<img src='data:;base64," + "A" * 500_000 + "'>",
        "<code>x</code> <p>" * 3_000,
        "<p class='a' id='b'>" * 8_000,
    ],
)
def test_large_ordinary_pages_get_a_tree(html: str) -> None:
    """Large pages without expensive markup are parsed into a tree."""
    assert parse(html) is not None


FOLDER_URL = "https://a.test/dir/"

HTML = """<html><head><title>A &amp; B</title><style>x</style></head><body><!-- no --><p>One <b>bold</b> word</p>
<script>if (a < b) "no"</script><a href="x?a=1&amp;b=2">L</a><a class=c HREF=/y>M</a><a name=z>N</a>1 < 2
<ul><li>i<li>ii</ul></body></html>"""


def test_scanning_gives_the_same_as_the_tree() -> None:
    """For ordinary markup, scanning gives the same title, text and links as the tree."""
    seen = observe(HTML.encode(), "text/html; charset=utf-8", FOLDER_URL)
    visible = without_invisible(HTML)
    assert plain_lines(KERNEL.scan_text(visible)) == seen.text
    metadata = scan_metadata(visible, FOLDER_URL)
    assert (b" ".join(metadata.title).decode(), metadata.links) == (seen.title, seen.linked)


def test_pages_without_a_tree_have_layers() -> None:
    """A page too large for a tree has text and links, and an added word changes the text digest."""
    giant = "<p>word <a href=x>l</a>" * 20_000
    before, after = (observe(html.encode(), "text/html", URL).fingerprint for html in (giant, giant + "more"))
    assert before.link_count == 1
    assert before.links == after.links
    assert before.text != after.text
