from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webstrata.observe.page import ObservedContent, fingerprint, observe

URL = "https://a.test/dir/page.html"

PAGE = """<!doctype html><html><head><title> A  title </title>
<base href="/other/"><meta name="Robots" content="NOINDEX, nofollow">
<link rel="stylesheet" href="s.css"><link rel="shortcut icon" href="/i.ico"><link rel="canonical" href="//a.test/c">
<link rel="alternate" type="application/atom+xml" href="feed.atom"><link rel="alternate" hreflang="de" href="de">
<style>p{}</style><script src="x.js"></script><noscript><img src="tracker.gif"></noscript></head>
<body><p>One<b> bold</b> word</p><p>Two&nbsp;
words</p><script>var secret</script><template><p>no</p></template>
<a href="l1">L1</a> <a href="l1#f">again</a> <a href="/l2">L2</a><a>none</a><a href="mailto:x@y.z">m</a>
<map><area href="l3"></map><iframe src="l4"></iframe>
<picture><source srcset="p1.png 1x, p2.png 2x"><img src="p0.png" srcset="p3.png 3x"></picture>
<ul><li>i<li>ii</ul>tail<br>end</body></html>"""


def look(html: str) -> ObservedContent:
    return observe(html.encode(), "text/html; charset=utf-8", URL)


def test_a_page_in_full() -> None:
    """Title, text, links, requisites, feeds, canonical address and robots are read from one page."""
    seen = look(PAGE)
    assert seen.title == "A title"
    assert seen.text == "A title\nOne bold word\nTwo words\nL1 again L2 none m\ni\nii\ntail\nend"
    assert seen.links == tuple(f"https://a.test/{path}" for path in ("other/l1", "l2", "other/l3", "other/l4"))
    assert seen.requisites == tuple(
        f"https://a.test/{path}"
        for path in (
            "other/s.css",
            "i.ico",
            "other/p1.png",
            "other/p2.png",
            "other/p0.png",
            "other/p3.png",
            "other/x.js",
        )
    )
    assert seen.feeds == ("https://a.test/other/feed.atom",)
    assert seen.canonical == "https://a.test/c"
    assert seen.nofollow
    assert seen.noindex
    mark = seen.fingerprint
    assert (mark.media_type, mark.charset, mark.title, mark.link_count) == ("text/html", "utf-8", "A title", 4)
    assert mark == fingerprint(PAGE.encode(), "text/html", "utf-8", URL)


SAME_TEXT = [
    ("<p>a b</p>", "<div>a\n  b</div>"),
    ("<p>a b</p>", "<p class=x>a <b>b</b></p>"),
    ("<p>a b</p>", "<p>a b</p><script>1</script><style>x</style><!-- c -->"),
    ("<p>a b</p>", "<p>a&nbsp;b</p>"),
    ("<p>a b</p>", "<noscript>x</noscript><p>a b<template>t</template>"),
    ("<a href=x>a</a>", "<a href=y>a</a>"),
]
OTHER_TEXT = [
    ("<p>a b</p>", "<p>a c</p>"),
    ("<p>a b</p>", "<p>b a</p>"),
    ("<table><tr><td>1<td>23", "<table><tr><td>12<td>3"),
    ("<p>nowhere", "<p>no where"),
    ("<title>a</title>x", "<title>b</title>x"),
    ("<p>a", "<p>A"),
]


@pytest.mark.parametrize(("one", "other"), SAME_TEXT)
def test_markup_alone_leaves_the_text(one: str, other: str) -> None:
    """Markup, scripts, comments and white space do not touch the text digest; the raw digest sees them."""
    before, after = look(one).fingerprint, look(other).fingerprint
    assert before.text == after.text
    assert before.raw != after.raw


@pytest.mark.parametrize(("one", "other"), OTHER_TEXT)
def test_words_change_the_text(one: str, other: str) -> None:
    """Any word, order or word boundary changes the text digest."""
    assert look(one).fingerprint.text != look(other).fingerprint.text


def test_links_are_a_set() -> None:
    """The order and number of the same links do not matter, a new one does."""
    one = look("<a href=x>1</a><a href=y>2</a>").fingerprint
    assert one.links == look("<a href=y>1</a><a href=x>2</a><a href=x>3</a>").fingerprint.links
    assert one.links != look("<a href=x>1</a><a href=z>2</a>").fingerprint.links


def test_no_words_no_text_layer() -> None:
    """A page that says nothing is compared by its bytes, so that two empty shells are not taken for the same."""
    assert look("<div id=app></div><script src=1.js></script>").fingerprint.text is None


def test_other_media() -> None:
    """Plain text has a text layer, other media only their bytes."""
    plain = observe(b"a  b\r\n\r\n c ", "text/plain", URL)
    assert plain.text == "a b\nc"
    assert plain.fingerprint.text == observe(b"a b c", "text/plain", URL).fingerprint.text
    data = observe(b"{}", "application/json", URL)
    assert (data.text, data.fingerprint.text, data.fingerprint.links, data.links) == (None, None, None, ())
    assert data.fingerprint.size == 2
    assert data.requisites == ()


@given(st.binary(max_size=400) | st.text(max_size=200).map(lambda text: ("<p>" + text).encode("utf-8", "replace")))
def test_lines_and_digest_agree(body: bytes) -> None:
    """Whatever the bytes, nothing is raised, and the lines hold the very words that the digest was taken of."""
    seen = observe(body, "text/html", URL)
    words = b" ".join((seen.text or "").replace("\n", " ").encode().split())
    plain = observe(words, "text/plain; charset=utf-8", URL)
    assert seen.fingerprint.text == plain.fingerprint.text
    assert isinstance(seen.requisites, tuple)


@pytest.mark.parametrize("header", [None, "", "text/html; charset=no-such", "nonsense", "text/html; charset=utf-16"])
def test_odd_headers(header: str | None) -> None:
    """No header stops the look."""
    assert observe(PAGE.encode(), header, URL).fingerprint.size == len(PAGE.encode())


@pytest.mark.parametrize("url", ["", "nowhere", "example.org/x", "file:///a/b", "http://", "https://a.test"])
def test_odd_addresses(url: str) -> None:
    """Nor does an address that is none."""
    assert observe(PAGE.encode(), "text/html", url).fingerprint.parts is not None
