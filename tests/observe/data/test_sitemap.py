"""Sitemaps, indexes and lists of URLs."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webstrata.observe.data import sitemap
from webstrata.observe.data.sitemap import parse_sitemap, sitemap_digest

URL = "https://a.test/sitemap.xml"


def urlset(inside: str) -> bytes:
    return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{inside}</urlset>'.encode()


@pytest.mark.parametrize(
    ("lastmod", "expected"),
    [
        ("1970-01-02", 86_400.0),
        ("1970-01", 0.0),
        ("1970-01-01T00:01:00Z", 60.0),
        ("1970-01-01T01:00:00.5+01:00", 0.5),
        ("Thu, 01 Jan 1970 00:00:10 GMT", 10.0),
        ("yesterday", None),
        ("9999-99-99", None),
        ("", None),
    ],
)
def test_lastmod(lastmod: str, expected: float | None) -> None:
    """Common notations of time are parsed; an invalid time does not drop the entry."""
    parsed = parse_sitemap(urlset(f"<url><loc>https://a.test/p</loc><lastmod>{lastmod}</lastmod></url>"), URL)
    assert [(entry.url, entry.lastmod) for entry in parsed.entries] == [("https://a.test/p", expected)]
    assert (parsed.kind, parsed.problem) == ("urlset", None)


def test_index() -> None:
    """A sitemap index has its own kind."""
    body = b"<sitemapindex><sitemap><loc>/s1.xml.gz</loc></sitemap></sitemapindex>"
    parsed = parse_sitemap(gzip.compress(body), URL)
    assert parsed.kind == "index"
    assert [entry.url for entry in parsed.entries] == ["https://a.test/s1.xml.gz"]


HOSTILE = {
    "internal entity": b'<!DOCTYPE u [<!ENTITY a "x">]>' + urlset("<url><loc>https://a.test/&a;</loc></url>"),
    "external entity": b'<!DOCTYPE u [<!ENTITY a SYSTEM "file:///x">]>' + urlset("<url><loc>&a;</loc></url>"),
    "parameter entity": b'<!DOCTYPE u [<!ENTITY % a SYSTEM "http://a.test/x"> %a;]>' + urlset(""),
    "undefined entity": urlset("<url><loc>&nope;</loc></url>"),
    "gzip bomb": gzip.compress(b"<urlset>" + b" " * 60_000_000),
    "not XML": b"<urlset <<<",
    "unknown encoding": b'<?xml version="1.0" encoding="x-none"?><urlset/>',
    "binary": bytes(range(256)),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_refused(name: str) -> None:
    """Files with entities, compression bombs and other bytes have no entries and a problem."""
    parsed = parse_sitemap(HOSTILE[name], URL)
    assert parsed.entries == ()
    assert parsed.problem


def test_deep_and_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Deep nesting raises nothing, and the number of entries is limited in XML and in lists."""
    assert parse_sitemap(b"<a>" * 200_000, URL).entries == ()
    monkeypatch.setattr(sitemap, "MAX_ENTRIES", 10)
    parsed = parse_sitemap(urlset("".join(f"<url><loc>/{number}</loc></url>" for number in range(20))), URL)
    assert len(parsed.entries) == 10
    assert parsed.problem
    parsed = parse_sitemap("".join(f"https://e.org/{number}\n" for number in range(20)).encode(), URL)
    assert (parsed.kind, len(parsed.entries)) == ("text", 10)
    assert parsed.problem


def test_lists_of_urls() -> None:
    """A list of URLs is parsed line by line, with any line ends."""
    parsed = parse_sitemap(b"\xef\xbb\xbfhttps://a.test/1\r\nno url\nftp://a.test/\n HTTPS://a.test/2 \n", URL)
    assert (parsed.kind, [entry.url for entry in parsed.entries]) == ("text", ["https://a.test/1", "https://a.test/2"])
    assert parsed.problem is None
    assert parsed.note == "lines that are not http or https URLs: 2; the first is line 2: 'no url'"


def test_lines_without_a_scheme() -> None:
    """A line without a scheme is neither an entry nor left out silently; the other lines are compared."""
    body = b"https://a.test/1\n\nwww.a.test/2\n/3\n"
    parsed = parse_sitemap(body, URL)
    assert [entry.url for entry in parsed.entries] == ["https://a.test/1"]
    assert parsed.note == "lines that are not http or https URLs: 2; the first is line 3: 'www.a.test/2'"

    digest = sitemap_digest(body, None, URL)
    assert digest.digest == sitemap_digest(b"https://a.test/1\n", None, URL).digest
    assert digest.note == parsed.note
    assert sitemap_digest(b"https://a.test/1\n", None, URL).note is None


@given(
    st.binary(max_size=300) | st.text(max_size=100).map(lambda text: urlset(f"<url><loc>{text}").replace(b"]", b">"))
)
def test_never_raises(body: bytes) -> None:
    """Any bytes give a sitemap, which may be empty."""
    parse_sitemap(body, URL)
