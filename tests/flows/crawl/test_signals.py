"""Signals in the loop: stored once, checked by visits, and trusted as far as they were right."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.flows.conftest import DAY_S, START_AT, Archiver
from tests.flows.scripted_servers import ReceivedRequest, Reply, reply
from webstrata.clock import iso
from webstrata.flows.crawl.signals import is_trusted
from webstrata.records import Batch, NewAnnouncements, PageRules, SignalSource

MAP, FEED = "http://a.test/sitemap.xml", "http://a.test/feed"
NAMES = [f"p{number}" for number in range(30)]
WEEK_S = 7 * DAY_S
WEEKLY = ("schedule.policy=week",)


def sitemap(times: dict[str, float]) -> str:
    rows = "".join(
        f"<url><loc>http://b.test/{name}</loc><lastmod>{iso(at)}</lastmod></url>" for name, at in times.items()
    )
    return f"<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{rows}</urlset>"


def feed(times: dict[str, float]) -> str:
    rows = "".join(
        f"<entry><id>urn:{name}</id><title>{name}</title><link href='http://b.test/{name}'/><updated>{iso(at)}</updated></entry>"
        for name, at in times.items()
    )
    return f"<feed xmlns='http://www.w3.org/2005/Atom'><title>News</title>{rows}</feed>"


LISTS: dict[str, tuple[str, Callable[[dict[str, float]], str], str]] = {
    "sitemap": (MAP, sitemap, "application/xml"),
    "feed": (FEED, feed, "application/atom+xml"),
}


class Place:
    """Pages that change on given days, and lists with these or other times."""

    def __init__(self, archiver: Archiver, changes: dict[str, list[float]]) -> None:
        self.changes = {name: [START_AT + day * DAY_S for day in days] for name, days in changes.items()}
        for name in changes:
            archiver.servers.serve(f"http://b.test/{name}", self._page(name))

    def _page(self, name: str) -> Callable[[ReceivedRequest], Reply]:
        def answer(request: ReceivedRequest) -> Reply:
            return reply(
                f"<title>{name}</title><main><p>Version {self.edits(name, request.at)} of the words.</p></main>"
            )

        return answer

    def edits(self, name: str, at: float) -> str:
        return "abcdefghijklmnopqrstuvwxyz"[sum(one <= at for one in self.changes[name])]

    def last(self, at: float) -> dict[str, float]:
        """When each page really changed last."""
        return {
            name: max([START_AT - 50 * DAY_S, *(one for one in days if one <= at)])
            for name, days in self.changes.items()
        }


def played(archiver: Archiver, kind: str, times: Callable[[float], dict[str, float]]) -> str:
    url, make, media_type = LISTS[kind]
    archiver.servers.serve(url, lambda request: reply(make(times(request.at)), kind=media_type))
    return url


async def source_of(archiver: Archiver, url: str) -> SignalSource:
    async with archiver.node.store() as store:
        (source,) = await store.signals.sources([url])
    return source


async def read_first(archiver: Archiver, url: str, day: float, *, pages: bool = True) -> None:
    """Visit the list half a day before the day, and the pages on the day or later."""
    if day:
        at = {page.id: START_AT + (day - 0.5 * (page.url == url)) * DAY_S for page in (await archiver.pages()).values()}
        async with archiver.node.store() as store:
            await store.queue.release(at.items())
        await archiver.crawl(after_s=START_AT + (day - 0.4) * DAY_S - archiver.clock.now())
    if pages:
        await archiver.crawl(after_s=START_AT + day * DAY_S - archiver.clock.now())


@pytest.mark.parametrize("kind", LISTS)
def test_a_correct_list_is_trusted(run_scenario: Callable[..., None], kind: str) -> None:
    """Signals that were right make a source trusted; then a new one brings the visit forward, with this reason."""

    async def scenario(archiver: Archiver) -> None:
        place = Place(archiver, {"p": [10, 24, 38, 52, 66, 79.2], "q": []})
        url = played(archiver, kind, place.last)
        await archiver.watch(url, page_rules=PageRules(handler=kind))
        await archiver.watch("http://b.test/p", "http://b.test/q")
        for day in (0, 8, 16, 25, 40, 54, 68, 78):
            await read_first(archiver, url, day)
        assert await archiver.outcomes("http://b.test/p") == ["new", "same", *["changed"] * 5, "same"]
        source = await source_of(archiver, url)
        assert (source.announced, source.announced_changed) == (pytest.approx(5, abs=0.05), source.announced)
        assert 0.1 < source.announced_expected < 2.5, "what the page's own rate explains"
        assert is_trusted(source)
        page = await archiver.page("http://b.test/p")
        async with archiver.node.store() as store:
            assert [one.news for one in await store.signals.announcements([page.id])] == [0]
            await store.queue.release([((await archiver.page(url)).id, START_AT + 79.5 * DAY_S)])
        await archiver.crawl(after_s=1.6 * DAY_S)
        called, left = await archiver.page("http://b.test/p"), await archiver.page("http://b.test/q")
        assert called.next_at is not None
        assert called.next_at < (page.next_at or 0.0)
        assert called.next_at <= archiver.clock.now()
        assert called.reason == f"announced by {url}: 5 of 5 announcements were right"
        assert "announced" not in left.reason
        async with archiver.node.store() as store:
            (said,) = await store.signals.announcements([page.id])
        assert (said.news, said.at) == (1, pytest.approx(START_AT + 79.2 * DAY_S))
        await archiver.crawl()
        assert (await archiver.outcomes("http://b.test/p"))[-1] == "changed"
        assert (await source_of(archiver, url)).announced_changed > source.announced_changed

    run_scenario(scenario, *WEEKLY)


def test_a_list_whose_entries_become_pages_is_known(run_scenario: Callable[..., None]) -> None:
    """A sitemap of a watched site, or with `--entries`, finds pages; one that is only watched does not. This is known
    also after reads that found the list unchanged."""

    async def scenario(archiver: Archiver) -> None:
        place = Place(archiver, {"p": []})
        for url in (MAP, "http://b.test/sitemap.xml", "http://a.test/entries.xml"):
            archiver.servers.serve(url, lambda request: reply(sitemap(place.last(request.at)), kind="text/xml"))
        await archiver.watch(MAP, page_rules=PageRules(handler="sitemap"))
        await archiver.watch("http://a.test/entries.xml", page_rules=PageRules(handler="sitemap", entries=True))
        await archiver.watch_site("http://b.test/")
        for days in (0, 200):
            await archiver.crawl(after_s=days * DAY_S)
            found = {
                url: (await source_of(archiver, url)).finds_pages
                for url in (MAP, "http://b.test/sitemap.xml", "http://a.test/entries.xml")
            }
            assert list(found.values()) == [False, True, True]

    run_scenario(scenario, *WEEKLY)


@pytest.mark.parametrize(("kind", "media_type"), [("sitemap", "text/xml"), ("feed", "application/xml")])
def test_a_list_needs_no_handler(run_scenario: Callable[..., None], kind: str, media_type: str) -> None:
    """A list is recognised by its content, whatever its URL and media type; HTML with the same links is no list."""

    async def scenario(archiver: Archiver) -> None:
        url, text = "http://a.test/news?view=3", LISTS[kind][1]({"p": START_AT - DAY_S, "q": START_AT - 2 * DAY_S})
        archiver.servers.serve(url, reply(text, kind=media_type))
        archiver.servers.serve("http://a.test/page", reply("<a href='http://b.test/p'>p</a>"))
        Place(archiver, {"p": [], "q": []})
        await archiver.watch(url, "http://a.test/page", "http://b.test/p")
        await archiver.crawl()
        async with archiver.node.store() as store:
            assert await store.signals.listed_by(url) == {"http://b.test/p": START_AT - DAY_S}
            assert await store.signals.listed_by("http://a.test/page") == {}
        assert set(await archiver.pages()) == {url, "http://a.test/page", "http://b.test/p"}, "no page is added"

    run_scenario(scenario, *WEEKLY)


def test_a_list_that_gives_the_present_time_is_not_trusted(run_scenario: Callable[..., None]) -> None:
    """Times that change at every request are found wrong by visits, move no visit, and only a sample is stored."""

    async def scenario(archiver: Archiver) -> None:
        place = Place(archiver, {name: [] for name in NAMES})
        url = played(archiver, "sitemap", lambda at: dict.fromkeys(place.changes, at))
        await archiver.watch(url, page_rules=PageRules(handler="sitemap"))
        await archiver.watch(*(f"http://b.test/{name}" for name in NAMES))
        for day in (0, 8, 16, 24, 32):
            await read_first(archiver, url, day)
        source = await source_of(archiver, url)
        assert (source.announced_changed, source.announced > 20, source.reads, source.floods) == (0.0, True, 5, 4)
        assert not is_trusted(source)
        for page in (await archiver.pages()).values():
            assert "announced" not in page.reason

    run_scenario(scenario, *WEEKLY)


def test_silence_and_delay_are_counted(run_scenario: Callable[..., None]) -> None:
    """A change that a list does not announce lowers its recall; entries that appear late count as delay."""

    async def scenario(archiver: Archiver) -> None:
        place = Place(archiver, {"p": [3], "q": [3]})

        def times(at: float) -> dict[str, float]:
            return {"p": place.last(at - DAY_S)["p"], "q": START_AT - 50 * DAY_S}

        url = played(archiver, "sitemap", times)
        await archiver.watch(url, page_rules=PageRules(handler="sitemap"))
        await archiver.watch("http://b.test/p", "http://b.test/q")
        await read_first(archiver, url, 0)
        await read_first(archiver, url, 4, pages=False)
        await read_first(archiver, url, 8)
        source = await source_of(archiver, url)
        assert source.announced == source.announced_changed == pytest.approx(1.0, abs=0.01)
        assert 0.5 < source.silent_changed <= 1.0, "the time after the last statement is not counted"
        assert source.changes == pytest.approx(2.0, abs=0.01)
        assert source.late_days / source.dated == pytest.approx(0.6, abs=0.01), "it was still missing 0.6 days after"

    run_scenario(scenario, *WEEKLY)


def test_signals_of_pages_watched_later(run_scenario: Callable[..., None]) -> None:
    """Signals of a URL apply when it is watched later; those of pages that the list drops are deleted."""

    async def scenario(archiver: Archiver) -> None:
        place = Place(archiver, {"p": [], "q": [], "x": []})
        listed: list[dict[str, Any]] = [place.changes, {"q": [], "x": []}]
        url = played(archiver, "sitemap", lambda at: dict.fromkeys(listed[at > START_AT + DAY_S], START_AT - DAY_S))
        await archiver.watch(url, page_rules=PageRules(handler="sitemap"))
        await archiver.watch("http://b.test/p", "http://b.test/q")
        await archiver.crawl()
        async with archiver.node.store() as store:
            assert set(await store.signals.listed_by(url)) == {"http://b.test/p", "http://b.test/q"}
        await archiver.watch("http://b.test/x")
        page = await archiver.page("http://b.test/x")
        async with archiver.node.store() as store:
            (said,) = await store.signals.announcements([page.id])
            assert (said.at, said.news) == (START_AT - DAY_S, 0)
        await archiver.crawl(after_s=WEEK_S + DAY_S)
        async with archiver.node.store() as store:
            assert set(await store.signals.listed_by(url)) == {"http://b.test/q", "http://b.test/x"}

    run_scenario(scenario, *WEEKLY)


# Hours from the beginning of the visit to the time that is announced meanwhile, and whether that calls for a next one.
@pytest.mark.parametrize(("hours", "called"), [(0.1, True), (-5.0, False)])
def test_an_announcement_during_the_visit_is_kept(
    run_scenario: Callable[..., None], hours: float, called: bool
) -> None:
    """An announcement of a trusted list during the visit of the page still brings the next visit forward."""

    async def scenario(archiver: Archiver) -> None:
        place = Place(archiver, {"p": [10, 24, 38, 52, 66]})
        url = played(archiver, "sitemap", place.last)
        await archiver.watch(url, page_rules=PageRules(handler="sitemap"))
        await archiver.watch("http://b.test/p")
        for day in (0, 8, 16, 25, 40, 54, 68):
            await read_first(archiver, url, day)
        source = await source_of(archiver, url)
        assert is_trusted(source)

        def answer(request: ReceivedRequest) -> Reply:
            given_at = request.at + hours * 3600.0
            said = ("http://b.test/p", given_at, given_at)
            news = NewAnnouncements(
                source=url,
                kind="sitemap-lastmod",
                seen_at=request.at + 600.0,
                signals=(said,),
                visit_soon=said[:1],
                reason="now",
            )
            with ThreadPoolExecutor(1) as another:  # as another process would
                another.submit(asyncio.run, announce(archiver, news)).result()
            return reply("<main><p>Other words.</p></main>")

        archiver.servers.serve("http://b.test/p", answer)
        async with archiver.node.store() as store:
            await store.queue.release([((await archiver.page("http://b.test/p")).id, START_AT + 73 * DAY_S)])
        await archiver.crawl(after_s=5 * DAY_S)
        page = await archiver.page("http://b.test/p")
        assert page.last_visit_at is not None
        assert page.next_at is not None
        assert page.reason.startswith("announced by") is called
        soon = page.last_visit_at + 3600.0
        assert (page.next_at == soon) if called else (page.next_at > soon)

    run_scenario(scenario, *WEEKLY)


async def announce(archiver: Archiver, news: NewAnnouncements) -> None:
    async with archiver.node.store() as store:
        await store.visit_log.commit(Batch(announced=(news,)))
