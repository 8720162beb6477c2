"""Watched sites: which pages are added from links and sitemaps, and where discovery stops."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable

import pytest

from tests.flows.conftest import DAY_S, Archiver
from tests.flows.scripted_servers import reply, robots
from webstrata.records import PageRole

SEED = "http://a.test/blog/"


def linking(*targets: str, head: str = "") -> str:
    return f"<head>{head}</head><body>" + "".join(f'<a href="{target}">{target}</a>' for target in targets)


def sitemap(urls: Iterable[str], kind: str = "urlset", entry: str = "url") -> str:
    rows = "".join(f"<{entry}><loc>{url}</loc></{entry}>" for url in urls)
    return f'<?xml version="1.0"?><{kind} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{rows}</{kind}>'


async def found(archiver: Archiver) -> set[str]:
    """All pages but the sitemap at the usual path."""
    return {url for url in await archiver.pages() if not url.endswith("/sitemap.xml")} - {SEED}


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        ("prefix", {"http://a.test/blog/in"}),
        ("host", {"http://a.test/blog/in", "http://a.test/out"}),
        ("domain", {"http://a.test/blog/in", "http://a.test/out", "http://www.a.test/sub", "http://a.test:81/blog/port"}),
    ],
)  # fmt: skip
def test_scope(run_scenario: Callable[..., None], scope: str, expected: set[str]) -> None:
    """The scope of a site is its folder, its host, or its domain."""

    async def scenario(archiver: Archiver) -> None:
        links = (
            "in",
            "/out",
            "http://www.a.test/sub",
            "http://b.test/",
            "http://a.test:81/blog/port",
            "mailto:x@a.test",
        )
        archiver.servers.serve(SEED, reply(linking(*links, "ftp://a.test/", "javascript:void(0)", "in#part", "")))
        await archiver.watch_site(SEED, scope=scope)
        await archiver.crawl()
        assert await found(archiver) == expected

    run_scenario(scenario, hosts={"a.test": "127.0.0.2", "www.a.test": "127.0.0.2", "b.test": "127.0.0.3"})


@pytest.mark.parametrize(("depth", "pages"), [(0, 0), (1, 1), (3, 3)])
def test_depth(run_scenario: Callable[..., None], depth: int, pages: int) -> None:
    """Links are followed up to the depth of the site, from sitemaps as well."""

    async def scenario(archiver: Archiver) -> None:
        for n in range(6):
            archiver.servers.serve(f"{SEED}{n or ''}", reply(linking(f"{SEED}{n + 1}")))
        archiver.servers.serve("http://a.test/sitemap.xml", reply(sitemap([f"{SEED}1"]), kind="application/xml"))
        await archiver.watch_site(SEED, max_depth=depth)
        await archiver.crawl()
        assert await found(archiver) == {f"{SEED}{n}" for n in range(1, pages + 1)}
        assert {page.depth for page in (await archiver.pages()).values()} == set(range(pages + 1))

    run_scenario(scenario)


def test_max_pages_counts_pages_and_not_links(run_scenario: Callable[..., None]) -> None:
    """No page is added beyond the limit of a site; links to known pages do not count."""

    async def scenario(archiver: Archiver) -> None:
        old, new = [f"{SEED}{n}" for n in range(6)], [f"{SEED}new{n}" for n in range(9)]
        archiver.servers.serve(SEED, reply(linking(*old)), reply(linking(*old, *new)))
        await archiver.watch_site(SEED, max_pages=10)
        await archiver.crawl()
        assert await found(archiver) == set(old)
        await archiver.crawl(after_s=2 * DAY_S)
        assert await found(archiver) == {*old, *new[:2]}
        assert len(await archiver.pages()) == 10
        await archiver.crawl(after_s=2 * DAY_S)
        assert len(await archiver.pages()) == 10

    run_scenario(scenario)


def test_patterns_and_traps(run_scenario: Callable[..., None]) -> None:
    """Only links that match the patterns are added, and no crawler traps."""

    async def scenario(archiver: Archiver) -> None:
        wanted = ["page-1", "page-2"]
        others = ["about", "page-3?print=1", "page-a/a/a/a/a", "page-calendar/2955/01/", "page-" + "x" * 3000]
        archiver.servers.serve(SEED, reply(linking(*wanted, *others)))
        await archiver.watch_site(SEED, include=("*/page-*",), exclude=("*print*",))
        await archiver.crawl()
        assert await found(archiver) == {f"{SEED}{name}" for name in wanted}

    run_scenario(scenario)


def test_nofollow(run_scenario: Callable[..., None]) -> None:
    """A page with nofollow is archived and its links are not added; nor are single links with nofollow."""

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve(SEED, reply(linking("a", "b") + '<a rel="nofollow" href="c">c</a>'))
        archiver.servers.serve(f"{SEED}a", reply(linking("no", head='<meta name="robots" content="nofollow">')))
        await archiver.watch_site(SEED)
        await archiver.crawl()
        assert f"{SEED}no" not in await found(archiver)
        assert {f"{SEED}a", f"{SEED}b"} <= await found(archiver)

    run_scenario(scenario)


def test_sitemaps_of_every_kind(run_scenario: Callable[..., None]) -> None:
    """The usual sitemap, those of robots.txt, indexes and compressed ones add pages; entries out of scope do not."""

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve("http://a.test/robots.txt", robots("Sitemap: http://a.test/map.xml\nSitemap: /feed.txt"))
        files = ["http://a.test/pages-1.xml", "http://a.test/deep/pages-2.xml.gz", "http://b.test/foreign.xml"]
        archiver.servers.serve(
            "http://a.test/sitemap.xml", reply(sitemap(files, "sitemapindex", "sitemap"), kind="text/xml")
        )
        archiver.servers.serve(files[0], reply(sitemap([f"{SEED}one", "http://b.test/", "http://a.test/out"])))
        packed = gzip.compress(sitemap([f"{SEED}two"]).encode())
        archiver.servers.serve(files[1], reply(packed, kind="application/gzip"))
        archiver.servers.serve("http://a.test/map.xml", reply(sitemap([f"{SEED}three"])))
        archiver.servers.serve("http://a.test/feed.txt", reply(f"{SEED}four\n", kind="text/plain"))
        await archiver.watch_site(SEED)
        await archiver.crawl()
        pages = await archiver.pages()
        assert {url for url, page in pages.items() if page.role is PageRole.PAGE} == {
            SEED, f"{SEED}one", f"{SEED}two", f"{SEED}three", f"{SEED}four"
        }  # fmt: skip
        assert {url for url, page in pages.items() if page.role is PageRole.SITEMAP} == {
            "http://a.test/sitemap.xml", "http://a.test/map.xml", "http://a.test/feed.txt", *files[:2]
        }  # fmt: skip
        assert all(page.visits == 1 for page in pages.values())
        archiver.servers.serve("http://a.test/map.xml", reply(sitemap([f"{SEED}three", f"{SEED}five"])))
        await archiver.crawl(after_s=2 * DAY_S)
        assert (await archiver.page(f"{SEED}five")).visits == 1

    run_scenario(scenario)


def test_found_pages_inherit_from_their_site(run_scenario: Callable[..., None]) -> None:
    """Tags, weight and requisites are those of the site."""

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve(SEED, reply(linking("x")))
        await archiver.watch_site(SEED, tags=("t",), weight=3.0, requisites=True)
        await archiver.crawl()
        page = await archiver.page(f"{SEED}x")
        assert (page.tags, page.weight, page.requisites, page.depth) == (("t",), 3.0, True, 1)

    run_scenario(scenario)


def test_requisites_are_archived_once_and_again_after_changes(run_scenario: Callable[..., None]) -> None:
    """Images, styles and scripts are visited once with their page, and again when the page changes."""
    page, other = "http://a.test/page", "http://a.test/other"
    parts = ["/i.png", "/small.png", "/large.png", "/s.css", "/j.js"]
    head = '<link rel="stylesheet" href="/s.css"><script src="/j.js"></script>'
    body = '<img src="/i.png" srcset="/small.png 1x, /large.png 2x"><p>'

    async def scenario(archiver: Archiver) -> None:
        for part in parts:
            archiver.servers.serve(f"http://a.test{part}", reply(part * 50, kind="image/png"))
        archiver.servers.serve(page, reply(head + body), reply(head + body), reply(head + body + "new words"))
        archiver.servers.serve(other, reply(head + body + "other"))
        await archiver.watch(page, other, requisites=True)
        await archiver.crawl()
        asked = [path for path in archiver.servers.paths() if path in parts]
        assert sorted(asked) == sorted(parts)
        for part in parts:
            requisite = await archiver.page(f"http://a.test{part}")
            assert (requisite.role, requisite.next_at, requisite.visits) == (PageRole.REQUISITE, None, 1)
        await archiver.crawl(after_s=2 * DAY_S)
        assert len([path for path in archiver.servers.paths() if path in parts]) == len(parts)
        await archiver.crawl(after_s=2 * DAY_S)
        assert sorted(path for path in archiver.servers.paths() if path in parts) == sorted(parts * 2)
        for part in parts:
            assert [record.kind for record in archiver.records(f"http://a.test{part}")] == ["response", "revisit"]
            assert await archiver.outcomes(f"http://a.test{part}") == ["new", "same"]
        plain = await archiver.totals()
        assert (plain.pages, plain.requisites) == (2, 5)

    run_scenario(scenario)
