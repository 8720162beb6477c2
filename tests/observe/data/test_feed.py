"""Feeds: entries, digest, malformed feeds, times."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webstrata.observe.data.dispatch import data_digest
from webstrata.observe.data.feed import feed_digest, parse_feed
from webstrata.observe.data.feed_entry import feed_time

URL = "https://example.org/blog/feed.xml"
AT = 1_704_067_200.0  # 2024-01-01T00:00:00Z

FEEDS = {
    "rss 2.0": "<rss version='2.0'><channel><title>t</title><item><guid isPermaLink='false'>1</guid>"
    "<link>/a</link><title>One</title><pubDate>Mon, 01 Jan 2024 00:00:00 GMT</pubDate></item></channel></rss>",
    "atom": "<feed xmlns='http://www.w3.org/2005/Atom' xml:base='https://example.org/'><title>t</title><entry><id>1</id>"
    "<link rel='self' href='x'/><link href='a'/><title type='html'>&lt;b&gt;One&lt;/b&gt;</title>"
    "<updated>2024-01-01T01:00:00+01:00</updated></entry></feed>",
    "rss 1.0": "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns='http://purl.org/rss/1.0/' "
    "xmlns:dc='http://purl.org/dc/elements/1.1/'><channel/><item rdf:about='1'><link>https://example.org/a</link>"
    "<title>One</title><dc:date>2024-01-01</dc:date></item></rdf:RDF>",
    "undeclared prefix": "<rss><channel><item><guid>1</guid><link>https://example.org/a</link><title>One</title>"
    "<dc:date>2024-01-01T00:00:00Z</dc:date></item></channel></rss>",
    "stray ampersands": "<rss><channel><item><guid>1</guid><link>https://example.org/a</link><title>One</title>"
    "<description>AT&T &nbsp; &copy;</description><pubDate>1 Jan 2024 00:00 UT</pubDate></item></channel></rss>",
}


@pytest.mark.parametrize("name", FEEDS)
def test_entries(name: str) -> None:
    """Every kind of feed gives the same entry: id, absolute URL, plain title, time."""
    (entry,) = parse_feed(FEEDS[name].encode(), None, URL).entries
    assert (entry.id, entry.url, entry.title, entry.updated_at) == ("1", "https://example.org/a", "One", AT)


def rss(*items: str, build: str = "") -> str:
    return f"<rss><channel><title>t</title><lastBuildDate>{build}</lastBuildDate>{''.join(items)}</channel></rss>"


def item(number: int, title: str = "x", text: str = "y", more: str = "") -> str:
    return f"<item><guid>{number}</guid><title>{title}</title><description>{text}</description>{more}</item>"


def digest(text: str) -> str | None:
    return feed_digest(text.encode(), None, URL).digest


def test_order_build_date_and_counts_do_not_count() -> None:
    """Order, build date and comment counts do not change the digest."""
    one = rss(item(1), item(2), build="Mon, 01 Jan 2024 00:00:00 GMT")
    other = rss(
        item(2, more="<slash:comments>7</slash:comments>"), "\n", item(1), build="Tue, 02 Jan 2024 00:00:00 GMT"
    )
    assert digest(one) == digest(other) is not None


@pytest.mark.parametrize(
    "other",
    [
        item(3),
        item(1, title="z"),
        item(1, text="z"),
        item(1, more="<link>/b</link>"),
        item(1, more="<pubDate>2024-01-01</pubDate>"),
    ],
)
def test_fields_of_an_entry_count(other: str) -> None:
    """The id, title, content, address, time and existence of an entry change the digest."""
    assert digest(rss(item(1))) != digest(rss(other)) is not None
    assert digest(rss(item(1))) != digest(rss(item(1), other))


NO_FEED = [
    "",
    "x",
    "<html/>",
    "<rss><channel/></rss>",
    "<rss><channel><item></rss>",
    "<!DOCTYPE r [<!ENTITY x SYSTEM 'file:///x'>]><rss>&x;</rss>",
]


@pytest.mark.parametrize("text", NO_FEED)
def test_other_documents_have_no_digest(text: str) -> None:
    """Other documents have no digest, and neither has a feed without entries."""
    data = feed_digest(text.encode(), None, URL)
    assert data.digest is None
    assert data.note


@given(st.binary(max_size=200))
def test_any_bytes(body: bytes) -> None:
    """Any bytes inside a feed give a digest or a note."""
    for whole in (body, b"<rss><channel><item>" + body + b"</item></channel></rss>"):
        data = feed_digest(whole, None, URL)
        assert (data.digest is None) <= (data.note is not None)


def test_large_feeds_are_bounded() -> None:
    """A feed with too many entries is parsed up to the limit."""
    body = b"<rss><channel>" + b"<item><guid>%d</guid></item>" * 3 % (1, 2, 3)
    body += b"".join(b"<item><guid>%d</guid></item>" % number for number in range(60_000)) + b"</channel></rss>"
    begun = time.process_time()
    feed = parse_feed(body, None, URL)
    assert len(feed.entries) == 50_000
    assert "more than" in str(feed.problem)
    assert time.process_time() - begun < 10.0


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("2024-01-01", AT),
        ("2024-01", AT),
        ("2024", AT),
        ("20240101T000000Z", AT),
        ("2024-01-01T00:00Z", AT),
        ("2024-01-01 01:00:00.5 +0100", AT),
        ("Mon, 1 Jan 2024 00:00:00 +0000", AT),
        ("Mon, 01 Jan 24 00:00:00 EST", AT + 5 * 3600),
        ("yesterday", None),
        ("2024-13-45", None),
        ("", None),
        ("9" * 100, None),
    ],
)
def test_times(text: str, at: float | None) -> None:
    """Times in the formats of feeds, with common mistakes."""
    assert feed_time(text) == at


JSON_FEED = """{{"version": "https://jsonfeed.org/version/1.1", "title": "t", "items": [{items}]}}"""


@pytest.mark.parametrize("media_type", ["application/feed+json", "application/json"])
def test_json_feed(media_type: str) -> None:
    """A JSON feed is compared as a set of entries: order and the feed's own title do not count, an edit does."""
    one = '{"id": 1, "url": "/a", "title": "A", "content_html": "x", "date_published": "2026-01-01T00:00:00Z"}'
    two = '{"id": "2", "url": "https://e.org/b", "content_text": "y"}'
    url = "https://e.org/feed.json"
    bodies = [JSON_FEED.format(items=items).encode() for items in (f"{one},{two}", f"{two}, {one}", two)]
    bodies.append(bodies[0].replace(b'"x"', b'"z"'))
    digests = [data_digest(body, media_type, None, url) for body in bodies]
    assert all(data is not None and data.kind == "feed" and data.digest for data in digests)
    found = [data.digest for data in digests if data is not None]
    assert found[0] == found[1]
    assert len(set(found)) == 3
    first, second = parse_feed(bodies[0], None, url).entries
    assert (first.id, first.url, first.title, first.updated_at) == ("1", "https://e.org/a", "A", 1767225600.0)
    assert (second.id, second.url) == ("2", "https://e.org/b")


@given(st.binary(max_size=100))
def test_damaged_json_feeds(inserted: bytes) -> None:
    """A JSON feed with any bytes among its items has entries or a problem, and never raises."""
    body = JSON_FEED.format(items='{"id": "1"},').encode().replace(b"},", b"}," + inserted)
    feed = parse_feed(body, None, "https://e.org/")
    assert feed.problem is not None or feed.entries


def test_contents_are_read_only_on_request() -> None:
    """The text of contents is kept for differences only, without tags, and up to a limit."""
    item = "<item><guid>{}</guid><description>&lt;p&gt;{}&lt;/p&gt; &amp;amp; more</description></item>"
    body = f"<rss><channel>{item.format(1, 'some words')}{item.format(2, 'w ' * 50_000)}</channel></rss>".encode()

    plain = parse_feed(body, None, "http://a.test/")
    with_content = parse_feed(body, None, "http://a.test/", with_content=True)

    assert [entry.content for entry in plain.entries] == ["", ""]
    assert with_content.entries[0].content == "some words & more"
    assert 15_000 < len(with_content.entries[1].content) <= 20_000
    assert [entry.digest for entry in plain.entries] == [entry.digest for entry in with_content.entries]
