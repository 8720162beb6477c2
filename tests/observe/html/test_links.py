"""Resolution of links, their kinds, and their digest."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.observe.kernel.python_links import python_links
from webstrata.lab.livingweb.recording import load_shipped
from webstrata.observe.html.links import LinkResolver, PageLinks, srcset_urls
from webstrata.observe.html.outline import outline
from webstrata.observe.html.tree import parse
from webstrata.observe.kernel.python_links import link_hashes, link_text
from webstrata.observe.kernel.results import MAX_LINKS
from webstrata.urls import join

BASE = "https://a.test/dir/page.html?q=1"
BASES = [
    BASE,
    "https://a.test/",
    "https://a.test/d/e/f.html",
    "http://a.test:8080/x?y=/z",
    "https://a.test/%7Ea/b",
    "https://a.test/" + "d/" * 200,
    "http://www.a.test/" + "d" * 2_400 + "/",
]


def packed(hrefs: list[str]) -> bytes:
    return "".join([href + "\0" for href in hrefs]).encode("utf-8", "replace")


def links(hrefs: list[str], base: str = BASE, page: str | None = None) -> PageLinks:
    return LinkResolver(base).links(packed(hrefs), page or base)


@pytest.mark.parametrize(
    ("href", "expected"),
    [
        ("other.html", "https://a.test/dir/other.html"),
        ("../x", "https://a.test/x"),
        ("/x#frag", "https://a.test/x"),
        ("x#a b#c", "https://a.test/dir/x"),
        ("//b.test", "https://b.test/"),
        ("http://b.test", "http://b.test/"),
        ("http://b.test#x", "http://b.test/"),
        ("http://1.2", "http://1.0.0.2/"),
        ("http://xn--a", "http://xn--a/"),
        ("?r=2", "https://a.test/dir/page.html?r=2"),
        ("x?", "https://a.test/dir/x?"),
        ("https:x", "https://a.test/dir/x"),
        ("HTTP://B.test/%7e", "http://b.test/%7e"),
        (" x ", "https://a.test/dir/x"),
        ("#top", None),
        ("mailto:me@a.test", None),
        ("javascript:void(0)", None),
        ("ftp://a.test/", None),
        ("http://[bad", None),
    ],
)
def test_resolves(href: str, expected: str | None) -> None:
    """Links become canonical absolute URLs, or are dropped, alone and among others."""
    found = (expected,) if expected is not None else ()
    assert LinkResolver(BASE).resolve(href) == expected
    assert LinkResolver(BASE).all([href, None, "", href]) == found
    assert links([href, "", href]).urls == found


HREF = st.text(alphabet="abZ09_.~-/?=&%+#:@;\\ é\t", min_size=1, max_size=12)
ODD = st.sampled_from(
    ["/a", "b/../c", "http:", "https:?x", "http:/x", "\\x", "%2e./x", "é", "h\nttp://b/", "x" * 300, "x.PDF", "/d.csv?",
     "x?utm_source=a&b=1", "x?b=1&UTM_x=2?gclid=3", "x&y?fbclid=", "x?a=?utm_a=1", "x?utm_=1&utm_a?utm_b=3", "data:,x",
     "http://a.test/x.pdf", "http://www.a.test/", "https://a.test:8080/", "http://b.zip", "http://b.test/x.djvu#p"]
)  # fmt: skip
HOSTED = st.builds(
    "{}://{}{}".format,
    st.sampled_from(["http", "https", "HTTP", "ftp"]),
    st.text(alphabet="abz019-.xnAé_%:@[", max_size=8) | st.sampled_from(["xn--a", "a.xn--b", "0x1.a", "a.0x1", "a..b"]),
    st.sampled_from(["", "/", "/x", "?x=1", "/./y", "#z", "/x.html?a=b#c", "\\x"]),
)


@settings(max_examples=600, deadline=None)
@given(st.lists(HREF | ODD | HOSTED | st.text(max_size=12), max_size=20), st.sampled_from(BASES))
@example(["http://a-.b-/", "http://-a/", "http://a.-b", "http://a--b.c"], BASE)
def test_kernel_equals_url_library(hrefs: list[str], base: str) -> None:
    """The kernel gives the same URLs, counts and digests as the URL library for each address."""
    hrefs = [href.replace("\0", "\ufffd").encode("utf-8", "replace").decode() for href in hrefs]
    expected = python_links(hrefs, base, "https://www.a.test/page")
    assert links(hrefs, base, "https://www.a.test/page") == expected
    assert LinkResolver(base).all(hrefs) == expected.urls


def test_real_pages() -> None:
    """The links of shipped pages, and those in their body part, equal those of the Python implementation."""
    contents = [body for recording in load_shipped() for body in recording.contents.values()]
    pages = [body for body in contents if b"<html" in body[:2000].lower()][::40]
    assert len(pages) > 50
    for page in pages:
        tree = parse(page.decode("utf-8", "replace"))
        assert tree is not None
        walked = outline(tree.body)
        hrefs = walked.hrefs.decode().split("\0")[:-1]
        assert LinkResolver(BASE).links(walked.hrefs, BASE) == python_links(hrefs, BASE, BASE)


@pytest.mark.parametrize(
    ("spans", "expected"),
    [([], ""), ([(0, 1)], "a"), ([(1, 3), (4, 9)], "bce"), ([(2, 2), (3, 4)], "d"), ([(0, 2**31 - 1)], "abcde")],
)
def test_some_of_the_links(spans: list[tuple[int, int]], expected: str) -> None:
    """Spans select the addresses."""
    given = b"".join([first.to_bytes(4, "little") + end.to_bytes(4, "little") for first, end in spans])
    found = LinkResolver(BASE).links(packed(list("abcde")), BASE, given)
    assert found.urls == tuple(f"https://a.test/dir/{name}" for name in expected)


def test_links_are_limited() -> None:
    """Of a page with 100,000 links the first `MAX_LINKS` are returned."""
    hrefs = [f"p{number}" for number in range(MAX_LINKS + 100)]
    expected = tuple(join(BASE, href) for href in hrefs[:MAX_LINKS])
    assert links(hrefs).urls == expected
    assert LinkResolver(BASE).all(hrefs) == expected


@given(st.binary(max_size=200), st.binary(max_size=40))
def test_any_bytes(hrefs: bytes, spans: bytes) -> None:
    """Any bytes as addresses, and any spans, are processed without reading outside of the buffer."""
    assert LinkResolver(BASE).links(hrefs, BASE).count >= LinkResolver(BASE).links(hrefs, BASE, spans).count


@pytest.mark.parametrize(
    ("srcset", "expected"),
    [
        ("", []),
        ("a.png", ["a.png"]),
        ("a.png 1x, b.png 2x", ["a.png", "b.png"]),
        ("a.png, b.png", ["a.png", "b.png"]),
        (" a.png 100w,\n b,c.png 2x ,d.png", ["a.png", "b,c.png", "d.png"]),
        (", ,a.png x(1,2) , b.png", ["a.png", "b.png"]),
        ("data:,a ( , b ( , c", ["data:,a"]),
    ],
)
def test_srcset(srcset: str, expected: list[str]) -> None:
    """Candidates are split as in browsers."""
    assert srcset_urls(srcset) == expected


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("https://a.test/x", "internal"),
        ("http://www.a.test/x.html", "internal"),
        ("https://b.a.test/", "external"),
        ("https://a.test/p.PDF", "documents"),
        ("https://b.test/d/data.csv?v=1", "documents"),
        ("https://b.test/?f=x.pdf", "external"),
        ("https://b.ps/", "external"),
    ],
)
def test_kinds_of_links(url: str, kind: str) -> None:
    """A link is counted as a document, as internal or as external; exactly one of these."""
    found = links([url])
    assert {name: getattr(found, name) for name in ("internal", "external", "documents")} == {
        "internal": 0,
        "external": 0,
        "documents": 0,
        kind: 1,
    }


@pytest.mark.parametrize(
    ("url", "left"),
    [
        ("https://a.test/?utm_source=x", "https://a.test/"),
        ("https://a.test/?utm_source=x&id=1", "https://a.test/?id=1"),
        ("https://a.test/?id=1&gclid=2&b=3", "https://a.test/?id=1&b=3"),
        ("https://a.test/?id=utm_source", "https://a.test/?id=utm_source"),
    ],
)
def test_tracking_parameters_do_not_count(url: str, left: str) -> None:
    """Tracking parameters do not change the link digest; other parameters do."""
    assert links([url]).digest == links([left]).digest == links([left, url]).digest
    assert (links([url]).urls == links([left]).urls) == (url == left)


PLACES = ["https://a.test/", "https://a.test/x.pdf", "https://a.test/x?y=z.pdf", "https://www.a.test/q",
          "http://a.test/z", "https://a.test.b/z", "https://b.zip/a", "https://a.test/a.b/c",
          "https://a.test/PDF"]  # fmt: skip


@pytest.mark.parametrize(("page", "counts"), [("https://a.test/page", (6, 2, 1)), ("nowhere", (0, 8, 1))])
def test_kinds_of_links_on_odd_pages(page: str, counts: tuple[int, int, int]) -> None:
    """Links to the page's own host are recognised for unusual paths and page URLs."""
    found = links(PLACES, page=page)
    assert (found.internal, found.external, found.documents) == counts


def test_hashes() -> None:
    """Link hashes are BLAKE2b for URLs of any length, sorted and without duplicates."""
    long = ["x" * size for size in (1, 100, 101, 106, 107, 108, 109, 234, 235, 236, 237, 2_500)]
    assert links(long).hashes == link_hashes([link_text(f"https://a.test/dir/{href}") for href in long])
    assert links(["b", "a", "b"]).hashes == links(["a", "b"]).hashes
