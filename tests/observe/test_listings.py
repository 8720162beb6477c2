"""Pages and signals in feeds, sitemaps and RDF documents."""

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
    """Each entry is a page and a signal with the time in the file, gzipped or not."""
    for body in (SITEMAP, gzip.compress(SITEMAP)):
        items = listed_items(body, "application/xml", None, URL, "sitemap")
        assert items.urls == ("http://e.org/a", "http://e.org/b")
        assert [(one.url, one.at, one.kind) for one in items.signals] == [
            ("http://e.org/a", JAN_2, "sitemap-lastmod"),
            ("http://e.org/b", None, "sitemap-lastmod"),
        ]
        assert {one.source for one in items.signals} == {URL}


def test_sitemap_index() -> None:
    """The entries of an index are sitemaps, without signals."""
    body = b"<sitemapindex><sitemap><loc>http://e.org/1.xml</loc></sitemap></sitemapindex>"
    items = listed_items(body, "application/xml", None, URL, "sitemap")
    assert (items.urls, items.sitemaps, items.signals) == ((), ("http://e.org/1.xml",), ())


def test_feed() -> None:
    """Several entries for one page are one signal with the latest time."""
    items = listed_items(FEED, "application/rss+xml", None, URL, "feed")
    assert items.urls == ("http://e.org/a", "http://e.org/b")
    assert [(one.at, one.kind) for one in items.signals] == [(JAN_2 + DAY, "feed-entry"), (None, "feed-entry")]


def test_see_also() -> None:
    """Documents named by seeAlso and sameAs are pages; other resources in the graph are not."""
    body = b"""@prefix r: <http://www.w3.org/2000/01/rdf-schema#> . @prefix o: <http://www.w3.org/2002/07/owl#> .
    <#me> r:seeAlso <doc>, <mailto:x@e.org>, "text" ; o:sameAs <http://x.org/me#i> ; r:label "<http://no/>" ."""
    items = listed_items(body, "text/turtle", None, URL, "rdf")
    assert set(items.urls) == {"http://e.org/doc", "http://x.org/me"}
    assert items.signals == ()


def test_malformed_body() -> None:
    """A malformed body, or a handler that does not list pages, gives an empty result."""
    for handler in ("sitemap", "feed", "rdf", "http", "browser"):
        items = listed_items(b"\xff<a & ]]>", "text/turtle", "utf-8", URL, handler)
        assert (items.urls, items.signals) == ((), ())


def test_a_list_of_unknown_kind() -> None:
    """A list that was fetched without knowing its kind is parsed as a feed, or else as a sitemap; HTML is no list."""
    for body, media_type in ((FEED, "application/rss+xml"), (SITEMAP, "application/xml"), (SITEMAP, "text/plain")):
        items = listed_items(body, media_type, None, URL, "http")
        assert items.urls == ("http://e.org/a", "http://e.org/b")
        assert items.signals
    assert listed_items(FEED, "text/html", None, URL, "http").urls == ()
