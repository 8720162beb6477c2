"""Signals through the real loop: kept once, checked by visits, believed as far as they have proved right."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.flows.conftest import DAY_S, START_AT, Life
from tests.flows.town import Asked, Reply, reply
from webstrata.clock import iso
from webstrata.predict.source_trust import is_trusted
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
    """Pages that change at given days, and lists that say so, or something else."""

    def __init__(self, life: Life, changes: dict[str, list[float]]) -> None:
        self.changes = {name: [START_AT + day * DAY_S for day in days] for name, days in changes.items()}
        for name in changes:
            life.town.play(f"http://b.test/{name}", self._page(name))

    def _page(self, name: str) -> Callable[[Asked], Reply]:
        def answer(asked: Asked) -> Reply:
            return reply(f"<title>{name}</title><main><p>Version {self.edits(name, asked.at)} of the words.</p></main>")

        return answer

    def edits(self, name: str, at: float) -> str:
        return "abcdefghijklmnopqrstuvwxyz"[sum(one <= at for one in self.changes[name])]

    def last(self, at: float) -> dict[str, float]:
        """When each page really changed last."""
        return {
            name: max([START_AT - 50 * DAY_S, *(one for one in days if one <= at)])
            for name, days in self.changes.items()
        }


def played(life: Life, kind: str, times: Callable[[float], dict[str, float]]) -> str:
    url, make, media_type = LISTS[kind]
    life.town.play(url, lambda asked: reply(make(times(asked.at)), kind=media_type))
    return url


async def source_of(life: Life, url: str) -> SignalSource:
    async with life.node.store() as store:
        (source,) = await store.signals.sources([url])
    return source


@pytest.mark.parametrize("kind", LISTS)
def test_an_honest_list_is_believed(live: Callable[..., None], kind: str) -> None:
    """Signals proved right make a source trusted; then a fresh one brings the visit forward, and says so."""

    async def scenario(life: Life) -> None:
        place = Place(life, {"p": [10, 24, 38, 51.2], "q": []})
        url = played(life, kind, place.last)
        await life.watch(url, page_rules=PageRules(handler=kind))
        await life.watch("http://b.test/p", "http://b.test/q")
        for day in (0, 8, 16, 25, 40, 50):
            await life.crawl(after_s=START_AT + day * DAY_S - life.clock.now())
        assert await life.outcomes("http://b.test/p") == ["new", "same", "changed", "changed", "changed", "same"]
        source = await source_of(life, url)
        assert (source.right > 1.8, source.wrong) == (True, 0.0)
        assert is_trusted(source.right, source.wrong)
        page = await life.page("http://b.test/p")
        async with life.node.store() as store:
            assert [one.news for one in await store.signals.announcements([page.id])] == [0]
            await store.queue.release([((await life.page(url)).id, START_AT + 51.5 * DAY_S)])
        await life.crawl(after_s=1.6 * DAY_S)
        called, left = await life.page("http://b.test/p"), await life.page("http://b.test/q")
        assert called.next_at is not None
        assert called.next_at < (page.next_at or 0.0)
        assert called.next_at <= life.clock.now()
        assert called.reason.startswith(f"announced by {url}, whose announcements are right in ")
        assert "announced" not in left.reason
        async with life.node.store() as store:
            (said,) = await store.signals.announcements([page.id])
        assert (said.news, said.at) == (1, pytest.approx(START_AT + 51.2 * DAY_S))
        await life.crawl()
        assert (await life.outcomes("http://b.test/p"))[-1] == "changed"
        assert (await source_of(life, url)).right > source.right

    live(scenario, *WEEKLY)


def test_a_list_that_stamps_everything_with_now_is_not(live: Callable[..., None]) -> None:
    """Times that change at every fetch are proved wrong by the visits, move no visit and are kept for a sample only."""

    async def scenario(life: Life) -> None:
        place = Place(life, {name: [] for name in NAMES})
        url = played(life, "sitemap", lambda at: dict.fromkeys(place.changes, at))
        await life.watch(url, page_rules=PageRules(handler="sitemap"))
        await life.watch(*(f"http://b.test/{name}" for name in NAMES))
        for _ in range(5):
            await life.crawl(after_s=WEEK_S + DAY_S)
        source = await source_of(life, url)
        assert (source.right, source.wrong > 20, source.reads, source.floods) == (0.0, True, 5, 4)
        assert not is_trusted(source.right, source.wrong)
        for page in (await life.pages()).values():
            assert "announced" not in page.reason

    live(scenario, *WEEKLY)


def test_silence_and_delay_are_counted(live: Callable[..., None]) -> None:
    """A change that a list keeps quiet about counts against its recall; late words count as delay."""

    async def scenario(life: Life) -> None:
        place = Place(life, {"p": [3], "q": [3]})

        def times(at: float) -> dict[str, float]:
            return {"p": place.last(at)["p"], "q": START_AT - 50 * DAY_S}

        url = played(life, "sitemap", times)
        await life.watch(url, page_rules=PageRules(handler="sitemap"))
        await life.watch("http://b.test/p", "http://b.test/q")
        await life.crawl()
        async with life.node.store() as store:
            await store.queue.release([((await life.page(url)).id, START_AT + 5 * DAY_S)])
        await life.crawl(after_s=5 * DAY_S)
        await life.crawl(after_s=10 * DAY_S)
        source = await source_of(life, url)
        assert (source.right, source.wrong) == (pytest.approx(0.985), 0.0)
        assert source.announced == source.silent == source.right
        assert source.delay_s / source.delays == pytest.approx(2 * DAY_S, abs=60)

    live(scenario, *WEEKLY)


def test_what_is_watched_later(live: Callable[..., None]) -> None:
    """What a list said of an address is known to whoever watches it later; dropped pages are forgotten."""

    async def scenario(life: Life) -> None:
        place = Place(life, {"p": [], "q": [], "x": []})
        listed = [place.changes, {"q": [], "x": []}]
        url = played(life, "sitemap", lambda at: dict.fromkeys(listed[at > START_AT + DAY_S], START_AT - DAY_S))
        await life.watch(url, page_rules=PageRules(handler="sitemap"))
        await life.watch("http://b.test/p", "http://b.test/q")
        await life.crawl()
        async with life.node.store() as store:
            assert set(await store.signals.listed_by(url)) == {"http://b.test/p", "http://b.test/q"}
        await life.watch("http://b.test/x")
        page = await life.page("http://b.test/x")
        async with life.node.store() as store:
            (said,) = await store.signals.announcements([page.id])
            assert (said.at, said.news) == (START_AT - DAY_S, 0)
        await life.crawl(after_s=WEEK_S + DAY_S)
        async with life.node.store() as store:
            assert set(await store.signals.listed_by(url)) == {"http://b.test/q", "http://b.test/x"}

    live(scenario, *WEEKLY)


# Hours from the beginning of the visit to the time that is announced meanwhile, and whether that calls for a next one.
@pytest.mark.parametrize(("hours", "called"), [(0.1, True), (-5.0, False)])
def test_a_call_during_the_visit_holds(live: Callable[..., None], hours: float, called: bool) -> None:
    """What a trusted list announces while the page is being visited brings the next visit forward all the same."""

    async def scenario(life: Life) -> None:
        place = Place(life, {"p": [10, 24, 38]})
        url = played(life, "sitemap", place.last)
        await life.watch(url, page_rules=PageRules(handler="sitemap"))
        await life.watch("http://b.test/p")
        for day in (0, 8, 16, 25, 40):
            await life.crawl(after_s=START_AT + day * DAY_S - life.clock.now())
        source = await source_of(life, url)
        assert is_trusted(source.right, source.wrong)

        def answer(asked: Asked) -> Reply:
            given_at = asked.at + hours * 3600.0
            said = ("http://b.test/p", given_at, given_at)
            news = NewAnnouncements(
                source=url,
                kind="sitemap-lastmod",
                seen_at=asked.at + 600.0,
                signals=(said,),
                visit_soon=said[:1],
                reason="now",
            )
            with ThreadPoolExecutor(1) as another:  # as another process would
                another.submit(asyncio.run, announce(life, news)).result()
            return reply("<main><p>Other words.</p></main>")

        life.town.play("http://b.test/p", answer)
        async with life.node.store() as store:
            await store.queue.release([((await life.page("http://b.test/p")).id, START_AT + 45 * DAY_S)])
        await life.crawl(after_s=5 * DAY_S)
        page = await life.page("http://b.test/p")
        assert page.last_visit_at is not None
        assert page.next_at is not None
        assert page.reason.startswith("announced by") is called
        soon = page.last_visit_at + 3600.0
        assert (page.next_at == soon) if called else (page.next_at > soon)

    live(scenario, *WEEKLY)


async def announce(life: Life, news: NewAnnouncements) -> None:
    async with life.node.store() as store:
        await store.visit_log.commit(Batch(announced=(news,)))
