from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webstrata.observe.links import MOST_LINKS, Resolver, link_digest, link_kinds, srcset_urls, without_tracking
from webstrata.urls import join

BASE = "https://a.test/dir/page.html?q=1"


@pytest.mark.parametrize(
    ("href", "expected"),
    [
        ("other.html", "https://a.test/dir/other.html"),
        ("../x", "https://a.test/x"),
        ("/x#frag", "https://a.test/x"),
        ("//b.test", "https://b.test/"),
        ("?r=2", "https://a.test/dir/page.html?r=2"),
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
    """Links become canonical absolute URLs, or nothing."""
    assert Resolver(BASE).resolve(href) == expected


@given(
    st.lists(
        st.text(max_size=12)
        | st.sampled_from(["/a", "b/../c", "http:", "https:?x", "http:/x", "\\x", "%2e./x", "é", "h\nttp://b/"]),
        max_size=20,
    ),
    st.sampled_from([BASE, "http://a.test/", "http://a.test/x/?y=/z", "https://a.test/" + "d/" * 200]),
)
def test_the_memo_changes_nothing(hrefs: list[str], base: str) -> None:
    """What the shortcuts give is what resolving each link alone gives (bare fragments and empty links apart)."""
    expected = dict.fromkeys(join(base, href) for href in hrefs if href and not href.startswith("#"))
    expected.pop(None, None)
    assert Resolver(base).all(hrefs) == tuple(expected)


def test_links_are_limited() -> None:
    """A page of a hundred thousand links gives the first so many."""
    assert len(Resolver(BASE).all(f"p{number}" for number in range(MOST_LINKS + 100))) == MOST_LINKS


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
    """Candidates are split as browsers split them."""
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
    """A link leads to a document, to the page's own host, or beyond; exactly one of these."""
    assert link_kinds([url], "https://a.test/page")._asdict() == {
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
    """Who sent the reader is no part of where a link leads; everything else is."""
    assert without_tracking(url) == left
    assert link_digest([url]) == link_digest([left])


HREFS = st.text(alphabet="abZ09_.~-/?=&%+#:@;\\ é\t", min_size=1, max_size=12)


BASES = ["https://a.test/", "https://a.test/d/e/f.html", "http://a.test:8080/x?y=/z", "https://a.test/%7Ea/b"]


@given(HREFS, st.sampled_from(BASES))
def test_plain_addresses_are_resolved_as_all_others(href: str, base: str) -> None:
    """What is put together without the URL parser is what the URL parser says."""
    expected = join(base, href) if not href.startswith(("#", "data:", "tel:")) else None
    assert Resolver(base).resolve(href) == expected
    assert Resolver(base).all([href]) == ((expected,) if expected is not None else ())


PLACES = ["https://a.test/", "https://a.test/x.pdf", "https://a.test/x?y=z.pdf", "https://www.a.test/q",
          "http://a.test/z", "https://a.test.b/z", "https://b.zip/a", "https://a.test/a.b/c",
          "https://a.test/PDF"]  # fmt: skip


def test_kinds_of_links_on_odd_pages() -> None:
    """Links of the page's own host are told from others, whatever stands in their paths or the page's address."""
    assert link_kinds(PLACES, "https://a.test/page") == (6, 2, 1)
    assert link_kinds(PLACES, "nowhere") == (0, 8, 1)
