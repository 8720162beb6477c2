"""Observation of whole pages and other bodies."""

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


def observed(html: str) -> ObservedContent:
    return observe(html.encode(), "text/html; charset=utf-8", URL)


def test_complete_page() -> None:
    """Title, text, links, requisites, feeds, canonical URL and robots directives of one page."""
    content = observed(PAGE)
    assert content.title == "A title"
    assert content.text == "A title\nOne bold word\nTwo words\nL1 again L2 none m\ni\nii\ntail\nend"
    assert content.links == tuple(f"https://a.test/{path}" for path in ("other/l1", "l2", "other/l3", "other/l4"))
    assert content.requisites.files == tuple(
        f"https://a.test/{path}"
        for path in (
            "other/s.css",
            "i.ico",
            "other/x.js",
            "other/tracker.gif",
            "other/l4",
            "other/p1.png",
            "other/p2.png",
            "other/p0.png",
            "other/p3.png",
        )
    )
    assert content.feeds == ("https://a.test/other/feed.atom",)
    assert content.canonical == "https://a.test/c"
    assert content.nofollow
    assert content.noindex
    computed = content.fingerprint
    assert (computed.media_type, computed.charset, computed.title, computed.link_count) == (
        "text/html",
        "utf-8",
        "A title",
        4,
    )
    assert computed == fingerprint(PAGE.encode(), "text/html", "utf-8", URL)


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
def test_markup_does_not_change_the_text(one: str, other: str) -> None:
    """Markup, scripts, comments and white space change the raw digest, but not the text digest."""
    before, after = observed(one).fingerprint, observed(other).fingerprint
    assert before.text == after.text
    assert before.raw != after.raw


@pytest.mark.parametrize(("one", "other"), OTHER_TEXT)
def test_words_change_the_text(one: str, other: str) -> None:
    """A changed word, order or word boundary changes the text digest."""
    assert observed(one).fingerprint.text != observed(other).fingerprint.text


def test_links_are_a_set() -> None:
    """The link digest does not depend on order and repetition, but changes with a new link."""
    one = observed("<a href=x>1</a><a href=y>2</a>").fingerprint
    assert one.links == observed("<a href=y>1</a><a href=x>2</a><a href=x>3</a>").fingerprint.links
    assert one.links != observed("<a href=x>1</a><a href=z>2</a>").fingerprint.links


def test_no_words_no_text_layer() -> None:
    """A page without text has no text digest, so that two pages filled by scripts are not equal."""
    assert observed("<div id=app></div><script src=1.js></script>").fingerprint.text is None


def test_other_media() -> None:
    """Plain text has a text layer; other media types have none."""
    plain = observe(b"a  b\r\n\r\n c ", "text/plain", URL)
    assert plain.text == "a b\nc"
    assert plain.fingerprint.text == observe(b"a b c", "text/plain", URL).fingerprint.text
    data = observe(b"{}", "application/json", URL)
    assert (data.text, data.fingerprint.text, data.fingerprint.links, data.links) == (None, None, None, ())
    assert data.fingerprint.size == 2
    assert data.requisites.files == ()


@given(st.binary(max_size=400) | st.text(max_size=200).map(lambda text: ("<p>" + text).encode("utf-8", "replace")))
def test_lines_and_digest_agree(body: bytes) -> None:
    """For any bytes nothing is raised, and the lines contain the words from which the digest was computed."""
    content = observe(body, "text/html", URL)
    words = b" ".join((content.text or "").replace("\n", " ").encode().split())
    plain = observe(words, "text/plain; charset=utf-8", URL)
    assert content.fingerprint.text == plain.fingerprint.text
    assert isinstance(content.requisites.files, tuple)


@pytest.mark.parametrize("header", [None, "", "text/html; charset=no-such", "nonsense", "text/html; charset=utf-16"])
def test_odd_headers(header: str | None) -> None:
    """An invalid header does not raise."""
    assert observe(PAGE.encode(), header, URL).fingerprint.size == len(PAGE.encode())


@pytest.mark.parametrize("url", ["", "nowhere", "example.org/x", "file:///a/b", "http://", "https://a.test"])
def test_odd_addresses(url: str) -> None:
    """An invalid URL does not raise."""
    assert observe(PAGE.encode(), "text/html", url).fingerprint.parts is not None
