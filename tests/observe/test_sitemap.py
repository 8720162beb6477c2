from __future__ import annotations

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webstrata.observe.data import sitemap
from webstrata.observe.data.sitemap import parse_sitemap

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
    """Times in their usual spellings; nonsense is no time, and costs no entry."""
    read = parse_sitemap(urlset(f"<url><loc>https://a.test/p</loc><lastmod>{lastmod}</lastmod></url>"), URL)
    assert [(entry.url, entry.lastmod) for entry in read.entries] == [("https://a.test/p", expected)]
    assert (read.kind, read.problem) == ("urlset", None)


def test_an_index_is_told_from_pages() -> None:
    """Entries of an index are sitemaps."""
    body = b"<sitemapindex><sitemap><loc>/s1.xml.gz</loc></sitemap></sitemapindex>"
    read = parse_sitemap(gzip.compress(body), URL)
    assert read.kind == "index"
    assert [entry.url for entry in read.entries] == ["https://a.test/s1.xml.gz"]


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
def test_hostile_files_give_nothing_but_a_reason(name: str) -> None:
    """Entities, bombs and nonsense end with no entries and a problem told."""
    read = parse_sitemap(HOSTILE[name], URL)
    assert read.entries == ()
    assert read.problem


def test_deep_and_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nesting is no trouble and entries are limited."""
    assert parse_sitemap(b"<a>" * 200_000, URL).entries == ()
    monkeypatch.setattr(sitemap, "MAX_ENTRIES", 10)
    read = parse_sitemap(urlset("".join(f"<url><loc>/{number}</loc></url>" for number in range(20))), URL)
    assert len(read.entries) == 10
    assert read.problem


def test_lists_of_urls() -> None:
    """A plain list is read line by line, whatever the line ends."""
    read = parse_sitemap(b"\xef\xbb\xbfhttps://a.test/1\r\nno url\nftp://a.test/\n HTTPS://a.test/2 \n", URL)
    assert (read.kind, [entry.url for entry in read.entries]) == ("text", ["https://a.test/1", "https://a.test/2"])


@given(
    st.binary(max_size=300) | st.text(max_size=100).map(lambda text: urlset(f"<url><loc>{text}").replace(b"]", b">"))
)
def test_never_raises(body: bytes) -> None:
    """Any bytes give a sitemap, be it an empty one."""
    parse_sitemap(body, URL)
