"""Feeds and sitemaps in the loop: their entries become pages where that was asked for."""

from __future__ import annotations

import gzip
from collections.abc import Callable

import pytest

from tests.flows.conftest import DAY_S, Life
from tests.flows.town import Reply, reply
from webstrata.records import PageRules

FEED, MAP = "http://a.test/feed", "http://a.test/map.xml"


def rss(*names: str) -> bytes:
    items = "".join(f"<item><title>{name}</title><link>http://b.test/{name}</link></item>" for name in names)
    return f"<rss version='2.0'><channel><title>News</title>{items}</channel></rss>".encode()


def atom(*names: str) -> bytes:
    entries = "".join(
        f"<entry><id>urn:{name}</id><title>{name}</title><link href='/{name}'/></entry>" for name in names
    )
    return f"<feed xmlns='http://www.w3.org/2005/Atom'><title>News</title>{entries}</feed>".encode()


def sitemap(*names: str) -> bytes:
    rows = "".join(f"<url><loc>http://b.test/{name}</loc><lastmod>2026-01-02</lastmod></url>" for name in names)
    return f"<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{rows}</urlset>".encode()


KINDS: dict[str, tuple[str, str, Callable[..., bytes], str, str]] = {
    "rss": (FEED, "feed", rss, "application/rss+xml", "b.test"),
    "atom": (FEED, "feed", atom, "application/atom+xml", "a.test"),
    "sitemap": (MAP, "sitemap", sitemap, "application/xml", "b.test"),
    "packed sitemap": (MAP, "sitemap", lambda *names: gzip.compress(sitemap(*names)), "application/gzip", "b.test"),
}


@pytest.mark.parametrize("name", KINDS)
def test_entries_become_pages(live: Callable[..., None], name: str) -> None:
    """With --entries each entry is watched with the list's tags and weight and visited; a new entry too, once."""
    url, handler, make, kind, host = KINDS[name]

    async def scenario(life: Life) -> None:
        life.town.play(url, reply(make("x", "y"), kind=kind), reply(make("z", "x", "y"), kind=kind))
        for entry in "xyz":
            life.town.play(f"http://{host}/{entry}", reply(f"<p>entry {entry}"))
        await life.watch(url, tags=("news",), weight=2.0, page_rules=PageRules(handler=handler, entries=True))
        for _ in range(3):
            await life.crawl(after_s=2 * DAY_S)
        pages = await life.pages()
        entries = {f"http://{host}/{entry}" for entry in "xyz"}
        assert set(pages) == {url, *entries}
        assert all(
            (pages[one].tags, pages[one].weight, pages[one].site_id) == (("news",), 2.0, None) for one in entries
        )
        assert await life.outcomes(f"http://{host}/z") == ["new", "same"]
        assert await life.outcomes(url) == ["new", "changed", "same"]
        assert (await life.visits(url))[1].kind == "data"

    live(scenario)


def test_entries_only_on_request(live: Callable[..., None]) -> None:
    """A feed that is watched like any page brings no other pages along; entries in another order are no change."""

    async def scenario(life: Life) -> None:
        life.town.play(
            FEED, reply(rss("x", "y"), kind="application/rss+xml"), reply(rss("y", "x"), kind="application/rss+xml")
        )
        await life.watch(FEED)
        for _ in range(2):
            await life.crawl(after_s=2 * DAY_S)
        assert set(await life.pages()) == {FEED}
        assert await life.outcomes(FEED) == ["new", "same"]

    live(scenario)


def test_index_of_sitemaps(live: Callable[..., None]) -> None:
    """Of a sitemap index watched with --entries, the pages of its sitemaps are watched."""
    index = (
        "<sitemapindex xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>"
        "<sitemap><loc>http://a.test/part.xml</loc></sitemap></sitemapindex>"
    )

    async def scenario(life: Life) -> None:
        life.town.play(MAP, reply(index, kind="application/xml"))
        life.town.play("http://a.test/part.xml", reply(sitemap("x"), kind="application/xml"))
        life.town.play("http://b.test/x", reply("<p>x"))
        await life.watch(MAP, page_rules=PageRules(handler="sitemap", entries=True))
        for _ in range(3):
            await life.crawl(after_s=DAY_S)
        assert set(await life.pages()) == {MAP, "http://a.test/part.xml", "http://b.test/x"}

    live(scenario)


@pytest.mark.parametrize(
    "answer",
    [reply("<rss><channel><item><link>", kind="application/rss+xml"), reply(b"\x1f\x8b\x00", kind="application/gzip")],
    ids=["cut", "no gzip"],
)
def test_broken_lists(live: Callable[..., None], answer: Reply) -> None:
    """A list that is none is a page like any other: no entries, no failure of ours."""

    async def scenario(life: Life) -> None:
        for url, handler in ((FEED, "feed"), (MAP, "sitemap")):
            life.town.play(url, answer)
            await life.watch(url, page_rules=PageRules(handler=handler, entries=True))
        await life.crawl()
        assert set(await life.pages()) == {FEED, MAP}
        assert "internal" not in [*await life.outcomes(FEED), *await life.outcomes(MAP)]

    live(scenario)
