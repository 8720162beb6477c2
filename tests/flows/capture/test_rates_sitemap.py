"""The statements of sitemaps about changes of pages."""

from __future__ import annotations

import gzip

import pytest

from webstrata.clock import DAY_S, iso
from webstrata.flows.capture.rates import SitemapHints, sitemap_hints
from webstrata.flows.parsers.tasks import SitemapTask, run_task
from webstrata.observe.data.sitemap import SitemapEntry

NOW = 1_700_000_000.0
MAP = "http://a.test/map/sitemap.xml"


def entries(body: bytes, coding: str | None = None) -> tuple[SitemapEntry, ...]:
    """As a parser process reads them."""
    found: tuple[SitemapEntry, ...] = run_task(SitemapTask(body=body, content_encoding=coding, url=MAP))
    return found


def dated(times: dict[str, float | None]) -> bytes:
    rows = [
        f"<url><loc>http://a.test/{name}</loc>" + (f"<lastmod>{iso(at)}</lastmod>" if at is not None else "") + "</url>"
        for name, at in times.items()
    ]
    return f"<urlset>{''.join(rows)}</urlset>".encode()


def entry(loc: str, often: str) -> bytes:
    return f"<url><loc>{loc}</loc><priority>1</priority><changefreq>{often}</changefreq></url>".encode()


@pytest.mark.parametrize(
    ("body", "page", "every_s"),
    [
        (entry("http://a.test/x", "daily"), "http://a.test/x", DAY_S),
        (entry(" http://a.test/x?a=1&amp;b=2 ", " Weekly\n"), "http://a.test/x?a=1&b=2", 7 * DAY_S),
        (entry("<![CDATA[http://a.test/x]]>", "hourly"), "http://a.test/x", 3600.0),
        (entry("/x", "monthly"), "http://a.test/x", 30 * DAY_S),
        (
            b"<urlset>" + entry("http://a.test/other", "yearly") + entry("http://a.test/x", "never") + b"</urlset>",
            "http://a.test/x",
            3650 * DAY_S,
        ),
        (
            b'<s:urlset xmlns:s="http://www.sitemaps.org/schemas/sitemap/0.9"><s:url><s:loc>http://a.test/x</s:loc>'
            b"<s:changefreq>daily</s:changefreq></s:url></s:urlset>",
            "http://a.test/x",
            DAY_S,
        ),
    ],
)
def test_frequencies(body: bytes, page: str, every_s: float) -> None:
    """Every `changefreq` value is a time, with any whitespace and namespace."""
    assert sitemap_hints(entries(body), NOW)[page] == SitemapHints(every_s=every_s)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        entry("http://a.test/x", "sometimes"),
        entry("mailto:a@b.c", "daily"),
        b"<url><loc>http://a.test/x</loc></url>",
        b"<url><changefreq>daily</changefreq></url>",
        b"<loc>" * 200_000,
        b"<changefreq>" + b" " * 500_000,
        b"\x1f\x8bnot really gzip",
    ],
    ids=["empty", "unknown value", "no page", "no statement", "no loc", "never closed", "whitespace", "broken gzip"],
)
def test_no_statements(body: bytes) -> None:
    """Sitemaps without statements, or that cannot be parsed, have no hints."""
    assert sitemap_hints(entries(body), NOW) == {}


def test_compressed_sitemaps() -> None:
    """Sitemaps with Content-Encoding gzip, and gzip files, are parsed."""
    packed = gzip.compress(entry("http://a.test/x", "daily"))
    for sent in (entries(packed, "gzip"), entries(packed)):
        assert sitemap_hints(sent, NOW)["http://a.test/x"].every_s == DAY_S


def test_last_changes() -> None:
    """A `lastmod` counts by its age; times in the future, just now, or equal for most pages are ignored."""
    times = {"a": NOW - 100 * DAY_S, "b": NOW - DAY_S, "future": NOW + 5, "now": NOW - 10, "none": None}
    hints = sitemap_hints(entries(dated(times)), NOW)
    assert hints == {
        "http://a.test/a": SitemapHints(unchanged_s=100 * DAY_S),
        "http://a.test/b": SitemapHints(unchanged_s=DAY_S),
    }
    equal: dict[str, float | None] = {**dict.fromkeys("abcdef", NOW - DAY_S), "g": NOW - 9 * DAY_S}
    assert sitemap_hints(entries(dated(equal)), NOW) == {}
