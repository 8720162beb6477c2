"""Accept lists and the best of what is on offer."""

from __future__ import annotations

import pytest

from webstrata.fetch.handlers.choose import chooser, handler_name
from webstrata.fetch.handlers.negotiate import accept_list, bare_type, best_match, quality
from webstrata.fetch.handlers.plain import PlainHandler
from webstrata.records import Fingerprint, Page, PageRole, PageRules

QUALITIES = [
    ("text/html", "text/html;q=0.5", 0.5),
    ("text/html", "text/*;q=0.2,text/html", 1.0),
    ("TEXT/HTML", "text/html", 1.0),
    ("text/html;level=1", "text/html;level=2", 0.0),
    ("text/html;level=1;x=y", "text/html;level=1;q=0.3, text/html", 0.3),
    ("text/css", "text/html", 0.0),
    ("text/css", "", 0.0),
    ("text/css", ",,text/css;q=0", 0.0),
    ('a/b;c="d,e"', 'a/b;c="d,e";q=0.4, */*;q=0.1', 0.4),
]


@pytest.mark.parametrize(("offered", "header", "expected"), QUALITIES)
def test_quality(offered: str, header: str, expected: float) -> None:
    """The most exact range that covers a type says how welcome it is."""
    assert quality(offered, header) == expected


def test_unwelcome_types_are_never_chosen() -> None:
    """A quality of zero excludes a type, however exact the match."""
    assert best_match(["text/html", "text/css"], "text/html;q=0, */*;q=0.1") == "text/css"
    assert best_match(["text/html"], "text/html;q=0, */*") == ""


def test_hostile_headers() -> None:
    """Nonsense of any length is read in time that grows with it, and welcomes nothing."""
    for text in ('"' * 20000, "," * 20000, ";" * 20000, "a/b;" + 'x="' * 10000, "q=" * 10000):
        accept_list(text)
        assert best_match(["text/html"], text) == ""


def test_bare_type() -> None:
    """A Content-Type without its parameters."""
    assert [bare_type(text) for text in ("Text/HTML; charset=x", "", None)] == ["text/html", "", ""]


CHOICES = [
    ("http://e/", {}, "http"),
    ("http://e/a.ttl", {}, "rdf"),
    ("http://e/a.TTL?x=y", {}, "rdf"),
    ("http://e/news.atom", {}, "feed"),
    ("http://e/sparql", {}, "http"),
    ("http://e/sparql?query=SELECT%20*%20%7B%7D", {}, "sparql"),
    ("http://e/find?query=selected+works", {}, "http"),
    ("http://e/a.ttl", {"page_rules": PageRules(handler="http")}, "http"),
    ("http://e/", {"page_rules": PageRules(handler="browser")}, "browser"),
    ("http://e/map.xml", {"role": PageRole.SITEMAP}, "sitemap"),
    ("http://e/a.ttl", {"role": PageRole.REQUISITE}, "http"),
    ("http://e/x", {"fingerprint": Fingerprint(raw="", size=0, media_type="application/rdf+xml")}, "rdf"),
    ("http://e/x", {"fingerprint": Fingerprint(raw="", size=0, media_type="application/rss+xml")}, "feed"),
]


@pytest.mark.parametrize(("url", "fields", "expected"), CHOICES)
def test_choice(url: str, fields: dict[str, object], expected: str) -> None:
    """The user's word, then the role, the URL, the last media type; `auto` never starts anything large."""
    page = Page(id=1, url=url, host="e", **fields)  # type: ignore[arg-type]
    assert handler_name(page) == expected


def test_chooser() -> None:
    """Pages get their handler; where there is none of that name, the plain one."""
    plain, feed = PlainHandler(), PlainHandler("feed")
    choose = chooser({"http": plain, "feed": feed})
    assert choose(Page(id=1, url="http://e/a.rss", host="e")) is feed
    assert choose(Page(id=1, url="http://e/", host="e", page_rules=PageRules(handler="browser"))) is plain
