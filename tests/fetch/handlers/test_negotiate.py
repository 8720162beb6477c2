"""Media types, Accept headers and Link headers are parsed."""

from __future__ import annotations

import pytest

from webstrata.fetch.handlers.negotiate import HeaderLink, accept_quality, bare_type, parse_links

QUALITIES = [
    ("text/html", "text/html;q=0.5", 0.5),
    ("text/html", "text/*;q=0.2,text/html", 1.0),
    ("text/html", "TEXT/HTML", 1.0),
    ("text/html", "text/html; level=1; Q = 0.3, */*", 0.3),
    ("text/html", "text/*;q=0.4, */*;q=0.2", 0.4),
    ("image/png", "text/*;q=0.4, */*;q=0.2", 0.2),
    ("image/png", "*", 1.0),
    ("text/html", "text/html;q=7", 1.0),
    ("text/css", "text/html", 0.0),
    ("text/css", "", 0.0),
    ("text/css", ",,text/css;q=0", 0.0),
]


@pytest.mark.parametrize(("media_type", "accept", "expected"), QUALITIES)
def test_accept_quality(media_type: str, accept: str, expected: float) -> None:
    """The quality of a media type is that of its own entry, else that of the most specific wildcard."""
    assert accept_quality(media_type, accept) == expected


def test_hostile_headers() -> None:
    """An invalid header of any length is parsed in linear time and gives no quality."""
    for text in ('"' * 20000, "," * 20000, ";" * 20000, "a/b;" + 'x="' * 10000, "q=" * 10000):
        assert accept_quality("text/html", text) == 0.0


def test_bare_type() -> None:
    """Parameters are removed and letters are in lower case."""
    assert [bare_type(text) for text in ("Text/HTML; charset=x", "", None)] == ["text/html", "", ""]


@pytest.mark.parametrize("text", ["text", "text/a/b", "text/", "/html", "text /html", "text; q=1", "a b/c"])
def test_values_that_are_no_media_types(text: str) -> None:
    """A header without `type/subtype` counts as missing, and gives no quality in an Accept header."""
    assert bare_type(text) == ""
    assert accept_quality("text/html", text) == 0.0


HEADERS = [
    ("</a>; rel=x", [("http://h/a", {"x"}, "")]),
    (
        '<a>;rel="x Y"; type="text/turtle; q=1", <b>',
        [("http://h/a", {"x", "y"}, "text/turtle"), ("http://h/b", set(), "")],
    ),
    ('<a>; title="x, <y>; rel=z"; rel=q', [("http://h/a", {"q"}, "")]),
    ("<a>; rel=one; rel=two", [("http://h/a", {"one"}, "")]),
    ('<a>; anchor="#x"; rel=y', []),
    ("<javascript:x>; rel=a, <mailto:y>, nonsense, <", []),
    ("", []),
]


@pytest.mark.parametrize(("value", "expected"), HEADERS)
def test_link_header(value: str, expected: list[tuple[str, set[str], str]]) -> None:
    """Links are parsed by RFC 8288; unusable URLs are left out."""
    links = [HeaderLink(url=url, rels=frozenset(rels), type=kind) for url, rels, kind in expected]
    assert parse_links([value], "http://h/page") == links
