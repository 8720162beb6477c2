"""Entries of feeds and sitemaps become pages if the page's rules say so."""

from __future__ import annotations

import gzip
from collections.abc import Callable

import pytest

from tests.flows.conftest import DAY_S, Archiver
from tests.flows.scripted_servers import Reply, reply
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
def test_entries_become_pages(run_scenario: Callable[..., None], name: str) -> None:
    """With --entries each entry, old or new, is watched with the tags and weight of the list and visited once."""
    url, handler, make, kind, host = KINDS[name]

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve(url, reply(make("x", "y"), kind=kind), reply(make("z", "x", "y"), kind=kind))
        for entry in "xyz":
            archiver.servers.serve(f"http://{host}/{entry}", reply(f"<p>entry {entry}"))
        await archiver.watch(url, tags=("news",), weight=2.0, page_rules=PageRules(handler=handler, entries=True))
        for _ in range(3):
            await archiver.crawl(after_s=2 * DAY_S)
        pages = await archiver.pages()
        entries = {f"http://{host}/{entry}" for entry in "xyz"}
        assert set(pages) == {url, *entries}
        assert all(
            (pages[one].tags, pages[one].weight, pages[one].site_id) == (("news",), 2.0, None) for one in entries
        )
        assert await archiver.outcomes(f"http://{host}/z") == ["new", "same"]
        assert await archiver.outcomes(url) == ["new", "changed", "same"]
        assert (await archiver.visits(url))[1].kind == "data"

    run_scenario(scenario)


def test_entries_only_on_request(run_scenario: Callable[..., None]) -> None:
    """A feed without --entries adds no pages; another order of its entries is no change."""

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve(
            FEED, reply(rss("x", "y"), kind="application/rss+xml"), reply(rss("y", "x"), kind="application/rss+xml")
        )
        await archiver.watch(FEED)
        for _ in range(2):
            await archiver.crawl(after_s=2 * DAY_S)
        assert set(await archiver.pages()) == {FEED}
        assert await archiver.outcomes(FEED) == ["new", "same"]

    run_scenario(scenario)


def test_index_of_sitemaps(run_scenario: Callable[..., None]) -> None:
    """A sitemap index with --entries adds the pages of its sitemaps."""
    index = (
        "<sitemapindex xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>"
        "<sitemap><loc>http://a.test/part.xml</loc></sitemap></sitemapindex>"
    )

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve(MAP, reply(index, kind="application/xml"))
        archiver.servers.serve("http://a.test/part.xml", reply(sitemap("x"), kind="application/xml"))
        archiver.servers.serve("http://b.test/x", reply("<p>x"))
        await archiver.watch(MAP, page_rules=PageRules(handler="sitemap", entries=True))
        for _ in range(3):
            await archiver.crawl(after_s=DAY_S)
        assert set(await archiver.pages()) == {MAP, "http://a.test/part.xml", "http://b.test/x"}

    run_scenario(scenario)


@pytest.mark.parametrize(
    "answer",
    [reply("<rss><channel><item><link>", kind="application/rss+xml"), reply(b"\x1f\x8b\x00", kind="application/gzip")],
    ids=["cut", "no gzip"],
)
def test_broken_lists(run_scenario: Callable[..., None], answer: Reply) -> None:
    """A list that cannot be parsed is a page like any other: no entries, no failure."""

    async def scenario(archiver: Archiver) -> None:
        for url, handler in ((FEED, "feed"), (MAP, "sitemap")):
            archiver.servers.serve(url, answer)
            await archiver.watch(url, page_rules=PageRules(handler=handler, entries=True))
        await archiver.crawl()
        assert set(await archiver.pages()) == {FEED, MAP}
        assert "internal" not in [*await archiver.outcomes(FEED), *await archiver.outcomes(MAP)]

    run_scenario(scenario)
