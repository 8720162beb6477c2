"""What sitemaps say of how often pages change, read from what sites really send."""

from __future__ import annotations

import gzip

import pytest

from webstrata.clock import DAY_S, iso
from webstrata.flows.capture.pages import SitemapHints, sitemap_hints
from webstrata.records import Exchange

NOW = 1_700_000_000.0
MAP = "http://a.test/map/sitemap.xml"


def answered(body: bytes, **headers: str) -> Exchange:
    return Exchange(
        url=MAP,
        at=NOW,
        duration_s=0.1,
        request_head=b"",
        status=200,
        headers=tuple((name.replace("_", "-").lower(), value) for name, value in headers.items()),
        body=body,
    )


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
    """Every word of the protocol is a time, whatever the spelling round it."""
    assert sitemap_hints(answered(body), NOW)[page] == SitemapHints(every_s=every_s)


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
    ids=["empty", "no word", "no page", "silent", "no address", "never closed", "blanks", "torn"],
)
def test_nothing_said(body: bytes) -> None:
    """What says nothing, or nothing that can be read, moves no rate."""
    assert sitemap_hints(answered(body), NOW) == {}


def test_packed_sitemaps() -> None:
    """A sitemap packed on its way, or a packed file, is read."""
    packed = gzip.compress(entry("http://a.test/x", "daily"))
    for sent in (answered(packed, Content_Encoding="gzip"), answered(packed)):
        assert sitemap_hints(sent, NOW)["http://a.test/x"].every_s == DAY_S


def test_last_changes() -> None:
    """A last change counts by its age; those in the future, just now, or the same for most pages are left out."""
    times = {"a": NOW - 100 * DAY_S, "b": NOW - DAY_S, "future": NOW + 5, "now": NOW - 10, "none": None}
    told = sitemap_hints(answered(dated(times)), NOW)
    assert told == {
        "http://a.test/a": SitemapHints(unchanged_s=100 * DAY_S),
        "http://a.test/b": SitemapHints(unchanged_s=DAY_S),
    }
    made = dict.fromkeys("abcdef", NOW - DAY_S) | {"g": NOW - 9 * DAY_S}
    assert sitemap_hints(answered(dated(made)), NOW) == {}
