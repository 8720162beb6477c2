"""Endless sets of URLs on a watched site: its real pages all get places, and the user is told what was left out."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator

import pytest

from tests.flows.conftest import DAY_S, Archiver
from tests.flows.scripted_servers import ReceivedRequest, Reply, reply, robots
from webstrata.flows.crawl import site_bounds
from webstrata.records import PageRole, Site, SiteFind

SEED = "http://a.test/"
AT_ONCE = ("polite.delay=0s", "polite.address_delay=0s", "polite.delay_factor=0", "schedule.policy=dyn")
REAL = [f"{SEED}real/{name}" for name in ("one", "two", "three", "four", "five", "six")]


def linking(urls: Iterable[str]) -> str:
    return "".join(f'<a href="{url}">{url}</a>' for url in urls)


def sitemap(urls: Iterable[str], kind: str = "urlset", entry: str = "url") -> Reply:
    rows = "".join(f"<{entry}><loc>{url}</loc></{entry}>" for url in urls)
    return reply(f'<{kind} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{rows}</{kind}>', kind="application/xml")


class AnyPath(dict[tuple[str, str], list[object]]):
    """Replies for URLs that are made up while the test runs."""

    def __init__(self, answer: Callable[[ReceivedRequest], Reply]) -> None:
        super().__init__()
        self._answer = answer

    def get(self, key: tuple[str, str], default: object = None) -> object:  # type: ignore[override]
        return [self._answer]


def serve(archiver: Archiver, answer: Callable[[str], Reply]) -> None:
    """Every URL gets this answer to its path; robots.txt lists nothing."""

    def answered(request: ReceivedRequest) -> Reply:
        return robots("") if request.path == "/robots.txt" else answer(request.path)

    archiver.servers._scripts = AnyPath(answered)  # type: ignore[assignment]


async def left_out(archiver: Archiver) -> dict[str, SiteFind]:
    async with archiver._own_store() as store:
        return {find.name: find for find in await store.pages.left_out()}


@pytest.fixture(autouse=True)
def small_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """The floors are lowered, so that a limit of a hundred pages shows what a limit of ten thousand does."""
    for name, least in (("SOURCE_LEAST", 4), ("SITEMAP_LEAST", 5), ("PATH_LEAST", 5)):
        monkeypatch.setattr(site_bounds, name, least)


def test_indexes_of_indexes_end(run_scenario: Callable[..., None], caplog: pytest.LogCaptureFixture) -> None:
    """Sitemap indexes that list ever new indexes get few places, over few levels; it is said once."""

    def answer(path: str) -> Reply:
        if path.endswith(".xml"):
            base = path.removesuffix(".xml")
            return sitemap([f"{SEED}{base.strip('/')}-{n}.xml" for n in range(4)], "sitemapindex", "sitemap")
        return reply(linking(REAL) if path == "/" else "A page.")

    async def scenario(archiver: Archiver) -> None:
        serve(archiver, answer)
        await archiver.watch_site(SEED, max_pages=100)
        await archiver.crawl()
        pages = await archiver.pages()
        assert set(REAL) <= pages.keys()
        sitemaps = [page for page in pages.values() if page.role is PageRole.SITEMAP]
        assert len(sitemaps) == 10 + 1, "a tenth of the limit, and the one at the usual path"
        found = await left_out(archiver)
        assert sum(find.left_out for find in found.values()) > 10
        assert {find.why for find in found.values()} == {"sitemaps"}
        said = [message for message in caplog.messages if "not watched" in message]
        assert len(said) == 1
        assert "may have 10 sitemaps. Raise --max-pages" in said[0]
        caplog.clear()
        await archiver.crawl(after_s=3 * DAY_S)
        assert len(await archiver.pages()) == len(pages)
        assert not any("not watched" in message for message in caplog.messages)

    caplog.set_level(logging.WARNING, "webstrata.crawl")
    run_scenario(scenario, *AT_ONCE)


def test_a_chain_of_indexes_ends(run_scenario: Callable[..., None]) -> None:
    """An index that lists one index, which lists one index, and so on: three levels below the first are read."""

    def answer(path: str) -> Reply:
        if path.endswith(".xml"):
            number = int(path.removeprefix("/sitemap").removesuffix(".xml") or 0)
            return sitemap([f"{SEED}sitemap{number + 1}.xml"], "sitemapindex", "sitemap")
        return reply("A page.")

    async def scenario(archiver: Archiver) -> None:
        serve(archiver, answer)
        await archiver.watch_site(SEED)
        await archiver.crawl()
        assert [path for path in archiver.servers.paths() if path.endswith(".xml")] == [
            "/sitemap.xml", "/sitemap1.xml", "/sitemap2.xml", "/sitemap3.xml"
        ]  # fmt: skip
        assert {name: find.why for name, find in (await left_out(archiver)).items()} == {f"{SEED}sitemap3.xml": "depth"}

    run_scenario(scenario, *AT_ONCE)


def test_indexes_that_list_each_other_end(run_scenario: Callable[..., None]) -> None:
    """Each file is read once, and nothing is left out."""

    async def scenario(archiver: Archiver) -> None:
        files = [f"{SEED}sitemap.xml", f"{SEED}sitemap-b.xml"]
        serve(
            archiver,
            lambda path: sitemap(files, "sitemapindex", "sitemap") if path.endswith(".xml") else reply("A page."),
        )
        await archiver.watch_site(SEED)
        await archiver.crawl()
        assert sorted(path for path in archiver.servers.paths() if path.endswith(".xml")) == [
            "/sitemap-b.xml", "/sitemap.xml"
        ]  # fmt: skip
        assert await left_out(archiver) == {}

    run_scenario(scenario, *AT_ONCE)


def test_one_sitemap_leaves_half_of_the_places(run_scenario: Callable[..., None]) -> None:
    """A sitemap of made-up pages, also when it lists others each time, leaves places for the links of real pages."""
    read = 0

    def answer(path: str) -> Reply:
        nonlocal read
        if path == "/sitemap.xml":
            read += 1
            return sitemap(f"{SEED}made-up/{read}/{n}" for n in range(80))
        links = {"/": REAL[:2], "/real/one": REAL[2:4], "/real/three": REAL[4:]}
        return reply(linking(links.get(path, ())))

    async def scenario(archiver: Archiver) -> None:
        serve(archiver, answer)
        await archiver.watch_site(SEED, max_pages=100)
        await archiver.crawl()
        await archiver.crawl(after_s=3 * DAY_S)
        pages = await archiver.pages()
        assert set(REAL) <= pages.keys()
        assert sum("made-up" in url for url in pages) == 50
        found = (await left_out(archiver))[f"{SEED}sitemap.xml"]
        assert (found.found, found.left_out, found.why) == (50, 80, "source")
        assert read >= 2

    run_scenario(scenario, *AT_ONCE)


def test_a_calendar_ends(run_scenario: Callable[..., None]) -> None:
    """A calendar whose pages link to all months of the next years, by path and by query, takes few places."""

    def months(path: str) -> Iterator[str]:
        for n in range(1, 13):
            yield f"{SEED}events?month={hash(path) % 1000}-{n}"
            yield f"{SEED}calendar/{2040 + n}/{n:02}/"

    def answer(path: str) -> Reply:
        return reply(linking([*months(path), *(REAL if path == "/" else [])]))

    async def scenario(archiver: Archiver) -> None:
        serve(archiver, answer)
        await archiver.watch_site(SEED, max_pages=100)
        await archiver.crawl()
        pages = await archiver.pages()
        assert set(REAL) <= pages.keys()
        assert sum("/events?" in url for url in pages) == 10
        assert not any("/calendar/" in url for url in pages)
        assert {find.why for find in (await left_out(archiver)).values()} == {"path"}

    run_scenario(scenario, *AT_ONCE)


def test_session_ids_leave_half_of_the_places(run_scenario: Callable[..., None]) -> None:
    """Links that carry a new session id at each request multiply the pages, but the plain ones all get places."""
    number = 0

    def answer(path: str) -> Reply:
        nonlocal number
        number += 1
        names = [url.rpartition("/")[2] for url in REAL]
        ids = [f"{SEED}real/{name}?session={number}" for name in names]
        ids += [f"{SEED}real/{name};jsessionid={number}" for name in names]
        return reply(linking([*ids, *(REAL if path == "/real/one" else [REAL[0]])]))

    async def scenario(archiver: Archiver) -> None:
        serve(archiver, answer)
        await archiver.watch_site(SEED, max_pages=40, max_depth=9)
        await archiver.crawl()
        pages = await archiver.pages()
        assert set(REAL) <= pages.keys()
        assert sum(site_bounds.is_variant(url) for url in pages) <= 20 + len(REAL)
        assert len(pages) < 40

    run_scenario(scenario, *AT_ONCE)


def test_a_pattern_of_the_user_is_not_bounded_by_its_form(run_scenario: Callable[..., None]) -> None:
    """Who asks for the pages of a query by a pattern gets them, up to the limit of the site; that is said too."""

    async def scenario(archiver: Archiver) -> None:
        serve(archiver, lambda path: reply(linking(f"{SEED}view?id={n}" for n in range(60))))
        await archiver.watch_site(SEED, max_pages=40, include=("*/view?id=*",))
        await archiver.crawl()
        pages = await archiver.pages()
        assert sum("/view?" in url for url in pages) == 38
        assert {find.why for find in (await left_out(archiver)).values()} <= {"limit", "source"}

    run_scenario(scenario, *AT_ONCE)


def test_a_raised_limit_lets_the_rest_in(run_scenario: Callable[..., None]) -> None:
    """The bounds are shares of the limit; a source that leaves nothing out any more is not listed."""

    async def scenario(archiver: Archiver) -> None:
        serve(
            archiver,
            lambda path: sitemap(f"{SEED}p{n}" for n in range(80)) if path == "/sitemap.xml" else reply("A page."),
        )
        await archiver.watch_site(SEED, max_pages=100)
        await archiver.crawl()
        assert len(await left_out(archiver)) == 1
        await archiver.watch_site(SEED, max_pages=200)
        await archiver.crawl(after_s=9 * DAY_S)
        assert len(await archiver.pages()) == 82
        assert await left_out(archiver) == {}

    run_scenario(scenario, *AT_ONCE)


def test_bounds_in_words() -> None:
    """Each bound of a site of the default size, as a user reads it."""
    site = Site(id=1, url=SEED)
    assert {why: site_bounds.most(site, why) for why in ("limit", "source", "sitemaps", "path", "variants")} == {
        "limit": 10_000, "source": 5_000, "sitemaps": 1_000, "path": 1_000, "variants": 5_000
    }  # fmt: skip
    assert site_bounds.reason(site, "source") == (
        "one source may add 5,000 of the site's 10,000 pages. Raise --max-pages of the site, or watch single pages by "
        "their URL"
    )
    assert site_bounds.path_key("http://a.test/x;jsessionid=1?y") == "http://a.test/x"
