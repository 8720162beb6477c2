"""Watched sites: which pages are found from links and sitemaps, and where discovery stops."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable

import pytest

from tests.flows.conftest import DAY_S, Life
from tests.flows.town import reply, robots
from webstrata.records import PageRole

SEED = "http://a.test/blog/"


def linking(*targets: str, head: str = "") -> str:
    return f"<head>{head}</head><body>" + "".join(f'<a href="{target}">{target}</a>' for target in targets)


def sitemap(urls: Iterable[str], kind: str = "urlset", entry: str = "url") -> str:
    rows = "".join(f"<{entry}><loc>{url}</loc></{entry}>" for url in urls)
    return f'<?xml version="1.0"?><{kind} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{rows}</{kind}>'


async def found(life: Life) -> set[str]:
    """All pages but the usual sitemap."""
    return {url for url in await life.pages() if not url.endswith("/sitemap.xml")} - {SEED}


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        ("prefix", {"http://a.test/blog/in"}),
        ("host", {"http://a.test/blog/in", "http://a.test/out"}),
        ("domain", {"http://a.test/blog/in", "http://a.test/out", "http://www.a.test/sub", "http://a.test:81/blog/port"}),
    ],
)  # fmt: skip
def test_scope(live: Callable[..., None], scope: str, expected: set[str]) -> None:
    """A site reaches as far as its scope says: below its folder, its host, or its domain."""

    async def scenario(life: Life) -> None:
        links = (
            "in",
            "/out",
            "http://www.a.test/sub",
            "http://b.test/",
            "http://a.test:81/blog/port",
            "mailto:x@a.test",
        )
        life.town.play(SEED, reply(linking(*links, "ftp://a.test/", "javascript:void(0)", "in#part", "")))
        await life.watch_site(SEED, scope=scope)
        await life.crawl()
        assert await found(life) == expected

    live(scenario, hosts={"a.test": "127.0.0.2", "www.a.test": "127.0.0.2", "b.test": "127.0.0.3"})


@pytest.mark.parametrize(("depth", "pages"), [(0, 0), (1, 1), (3, 3)])
def test_depth(live: Callable[..., None], depth: int, pages: int) -> None:
    """Links are followed as many steps from the seed as wanted, and no sitemap leads further."""

    async def scenario(life: Life) -> None:
        for n in range(6):
            life.town.play(f"{SEED}{n or ''}", reply(linking(f"{SEED}{n + 1}")))
        life.town.play("http://a.test/sitemap.xml", reply(sitemap([f"{SEED}1"]), kind="application/xml"))
        await life.watch_site(SEED, max_depth=depth)
        await life.crawl()
        assert await found(life) == {f"{SEED}{n}" for n in range(1, pages + 1)}
        assert {page.depth for page in (await life.pages()).values()} == set(range(pages + 1))

    live(scenario)


def test_max_pages_counts_pages_and_not_links(live: Callable[..., None]) -> None:
    """A site stops growing at its limit; links to pages that it has already take up none of the room."""

    async def scenario(life: Life) -> None:
        old, new = [f"{SEED}{n}" for n in range(6)], [f"{SEED}new{n}" for n in range(9)]
        life.town.play(SEED, reply(linking(*old)), reply(linking(*old, *new)))
        await life.watch_site(SEED, max_pages=10)
        await life.crawl()
        assert await found(life) == set(old)
        await life.crawl(after_s=2 * DAY_S)
        assert await found(life) == {*old, *new[:2]}
        assert len(await life.pages()) == 10
        await life.crawl(after_s=2 * DAY_S)
        assert len(await life.pages()) == 10

    live(scenario)


def test_patterns_and_traps(live: Callable[..., None]) -> None:
    """Only what the patterns want is taken, and nothing that looks endless."""

    async def scenario(life: Life) -> None:
        wanted = ["page-1", "page-2"]
        others = ["about", "page-3?print=1", "page-a/a/a/a/a", "page-calendar/2955/01/", "page-" + "x" * 3000]
        life.town.play(SEED, reply(linking(*wanted, *others)))
        await life.watch_site(SEED, include=("*/page-*",), exclude=("*print*",))
        await life.crawl()
        assert await found(life) == {f"{SEED}{name}" for name in wanted}

    live(scenario)


def test_nofollow(live: Callable[..., None]) -> None:
    """A page that asks not to follow its links is archived, and its links are left alone; so is a marked link."""

    async def scenario(life: Life) -> None:
        life.town.play(SEED, reply(linking("a", "b") + '<a rel="nofollow" href="c">c</a>'))
        life.town.play(f"{SEED}a", reply(linking("no", head='<meta name="robots" content="nofollow">')))
        await life.watch_site(SEED)
        await life.crawl()
        assert f"{SEED}no" not in await found(life)
        assert {f"{SEED}a", f"{SEED}b"} <= await found(life)

    live(scenario)


def test_sitemaps_of_every_kind(live: Callable[..., None]) -> None:
    """The usual sitemap, those that robots.txt names, indexes and packed ones lead to pages; foreign entries not."""

    async def scenario(life: Life) -> None:
        life.town.play("http://a.test/robots.txt", robots("Sitemap: http://a.test/map.xml\nSitemap: /feed.txt"))
        files = ["http://a.test/pages-1.xml", "http://a.test/deep/pages-2.xml.gz", "http://b.test/foreign.xml"]
        life.town.play("http://a.test/sitemap.xml", reply(sitemap(files, "sitemapindex", "sitemap"), kind="text/xml"))
        life.town.play(files[0], reply(sitemap([f"{SEED}one", "http://b.test/", "http://a.test/out"])))
        packed = gzip.compress(sitemap([f"{SEED}two"]).encode())
        life.town.play(files[1], reply(packed, kind="application/gzip"))
        life.town.play("http://a.test/map.xml", reply(sitemap([f"{SEED}three"])))
        life.town.play("http://a.test/feed.txt", reply(f"{SEED}four\n", kind="text/plain"))
        await life.watch_site(SEED)
        await life.crawl()
        pages = await life.pages()
        assert {url for url, page in pages.items() if page.role is PageRole.PAGE} == {
            SEED, f"{SEED}one", f"{SEED}two", f"{SEED}three", f"{SEED}four"
        }  # fmt: skip
        assert {url for url, page in pages.items() if page.role is PageRole.SITEMAP} == {
            "http://a.test/sitemap.xml", "http://a.test/map.xml", "http://a.test/feed.txt", *files[:2]
        }  # fmt: skip
        assert all(page.visits == 1 for page in pages.values())
        life.town.play("http://a.test/map.xml", reply(sitemap([f"{SEED}three", f"{SEED}five"])))
        await life.crawl(after_s=2 * DAY_S)
        assert (await life.page(f"{SEED}five")).visits == 1

    live(scenario)


def test_found_pages_inherit_from_their_site(live: Callable[..., None]) -> None:
    """Tags, weight and the wish for requisites are those of the site."""

    async def scenario(life: Life) -> None:
        life.town.play(SEED, reply(linking("x")))
        await life.watch_site(SEED, tags=("t",), weight=3.0, requisites=True)
        await life.crawl()
        page = await life.page(f"{SEED}x")
        assert (page.tags, page.weight, page.requisites, page.depth) == (("t",), 3.0, True, 1)

    live(scenario)


def test_requisites_are_archived_once_and_woken_by_changes(live: Callable[..., None]) -> None:
    """Images, styles and scripts come with their page, once; when the page changes, they are looked at again."""
    page, other = "http://a.test/page", "http://a.test/other"
    parts = ["/i.png", "/small.png", "/large.png", "/s.css", "/j.js"]
    head = '<link rel="stylesheet" href="/s.css"><script src="/j.js"></script>'
    body = '<img src="/i.png" srcset="/small.png 1x, /large.png 2x"><p>'

    async def scenario(life: Life) -> None:
        for part in parts:
            life.town.play(f"http://a.test{part}", reply(part * 50, kind="image/png"))
        life.town.play(page, reply(head + body), reply(head + body), reply(head + body + "new words"))
        life.town.play(other, reply(head + body + "other"))
        await life.watch(page, other, requisites=True)
        await life.crawl()
        asked = [path for path in life.town.paths() if path in parts]
        assert sorted(asked) == sorted(parts)
        for part in parts:
            requisite = await life.page(f"http://a.test{part}")
            assert (requisite.role, requisite.next_at, requisite.visits) == (PageRole.REQUISITE, None, 1)
        await life.crawl(after_s=2 * DAY_S)
        assert len([path for path in life.town.paths() if path in parts]) == len(parts)
        await life.crawl(after_s=2 * DAY_S)
        assert sorted(path for path in life.town.paths() if path in parts) == sorted(parts * 2)
        for part in parts:
            assert [record.kind for record in life.records(f"http://a.test{part}")] == ["response", "revisit"]
            assert await life.outcomes(f"http://a.test{part}") == ["new", "same"]
        plain = await life.census()
        assert (plain.pages, plain.requisites) == (2, 5)

    live(scenario)
