"""Each page is visited by the handler that its rules, role, URL or media type determine."""

from __future__ import annotations

import pytest

from webstrata.fetch.handlers.choose import chooser, handler_name
from webstrata.fetch.handlers.plain import PlainHandler
from webstrata.records import Fingerprint, Page, PageRole, PageRules, PageState

CHOICES = [
    ("http://e/", {}, "http"),
    ("http://e/a.ttl", {}, "rdf"),
    ("http://e/a.TTL?x=y", {}, "rdf"),
    ("http://e/news.atom", {}, "feed"),
    ("http://e/sparql", {}, "http"),
    ("http://e/sparql?query=SELECT%20*%20%7B%7D", {}, "sparql"),
    ("http://e/sparql?query=SELECT%20*%20%7B%7D", {"depth": 1, "site_id": 1}, "http"),
    ("http://e/sparql?query=SELECT%20*%20%7B%7D", {"depth": 1, "page_rules": PageRules(handler="sparql")}, "sparql"),
    ("http://e/sparql?query=SELECT%20*%20%7B%7D", {"state": PageState.CAPTURED}, "http"),
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
    """The rule of the user decides, then the role, the URL and the last media type; `auto` starts nothing large.

    A query in a URL is sent only if the user named the URL.
    """
    page = Page(id=1, url=url, host="e", **fields)  # type: ignore[arg-type]
    assert handler_name(page) == expected


def test_chooser() -> None:
    """A page gets its handler, or the plain handler if there is none of that name."""
    plain, feed = PlainHandler(), PlainHandler("feed")
    choose = chooser({"http": plain, "feed": feed})
    assert choose(Page(id=1, url="http://e/a.rss", host="e")) is feed
    assert choose(Page(id=1, url="http://e/", host="e", page_rules=PageRules(handler="browser"))) is plain
