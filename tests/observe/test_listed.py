"""Pages and signals out of feeds, sitemaps and RDF."""

from __future__ import annotations

import gzip

from webstrata.observe.listings import listed_items

URL = "http://e.org/list"

SITEMAP = b"""<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc>http://e.org/a</loc><lastmod>2026-01-02</lastmod></url><url><loc>/b</loc></url></urlset>"""
FEED = b"""<rss version="2.0"><channel><title>t</title>
<item><link>http://e.org/a</link><pubDate>Fri, 02 Jan 2026 00:00:00 GMT</pubDate><title>1</title></item>
<item><link>http://e.org/a</link><pubDate>Sat, 03 Jan 2026 00:00:00 GMT</pubDate><title>2</title></item>
<item><link>/b</link><title>3</title></item></channel></rss>"""
DAY = 86_400.0
JAN_2 = 1_767_312_000.0


def test_sitemap() -> None:
    """Each entry is a page and a signal with the time the file says, packed or not."""
    for body in (SITEMAP, gzip.compress(SITEMAP)):
        found = listed_items(body, "application/xml", None, URL, "sitemap")
        assert found.urls == ("http://e.org/a", "http://e.org/b")
        assert [(one.url, one.at, one.kind) for one in found.signals] == [
            ("http://e.org/a", JAN_2, "sitemap-lastmod"),
            ("http://e.org/b", None, "sitemap-lastmod"),
        ]
        assert {one.source for one in found.signals} == {URL}


def test_sitemap_index() -> None:
    """Of an index the entries are sitemaps, and no signals."""
    body = b"<sitemapindex><sitemap><loc>http://e.org/1.xml</loc></sitemap></sitemapindex>"
    found = listed_items(body, "application/xml", None, URL, "sitemap")
    assert (found.urls, found.sitemaps, found.signals) == ((), ("http://e.org/1.xml",), ())


def test_feed() -> None:
    """Entries about one page are one signal with the latest of their times."""
    found = listed_items(FEED, "application/rss+xml", None, URL, "feed")
    assert found.urls == ("http://e.org/a", "http://e.org/b")
    assert [(one.at, one.kind) for one in found.signals] == [(JAN_2 + DAY, "feed-entry"), (None, "feed-entry")]


def test_see_also() -> None:
    """Documents named by seeAlso and sameAs are pages; everything else in the graph is none."""
    body = b"""@prefix r: <http://www.w3.org/2000/01/rdf-schema#> . @prefix o: <http://www.w3.org/2002/07/owl#> .
    <#me> r:seeAlso <doc>, <mailto:x@e.org>, "text" ; o:sameAs <http://x.org/me#i> ; r:label "<http://no/>" ."""
    found = listed_items(body, "text/turtle", None, URL, "rdf")
    assert set(found.urls) == {"http://e.org/doc", "http://x.org/me"}
    assert found.signals == ()


def test_nonsense_lists_nothing() -> None:
    """What is broken, or of no listing handler, lists nothing and raises nothing."""
    for handler in ("sitemap", "feed", "rdf", "http", "browser"):
        found = listed_items(b"\xff<a & ]]>", "text/turtle", "utf-8", URL, handler)
        assert (found.urls, found.signals) == ((), ())
