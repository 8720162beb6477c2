"""Politeness through the real loop: robots.txt, gaps and rests, as the servers see them, across restarts too."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest

from tests.flows.conftest import DAY_S, START_AT, Life
from tests.flows.town import reply, robots
from webstrata.records import FailureKind


def gaps(times: list[float]) -> list[float]:
    return [after - before for before, after in pairwise(times)]


def a_pages(count: int) -> list[str]:
    return [f"http://a.test/{n}" for n in range(count)]


def test_a_forbidden_page_is_never_requested(live: Callable[..., None]) -> None:
    """What robots.txt forbids is not asked for; it is logged as such and looked at again after a day."""

    async def scenario(life: Life) -> None:
        life.town.play("http://a.test/robots.txt", robots("User-agent: webstrata\nDisallow: /0"))
        await life.watch(*a_pages(2))
        await life.crawl()
        assert life.town.paths() == ["/robots.txt", "/1"]
        visit = await life.last("http://a.test/0")
        assert visit.failure is not None
        assert visit.failure.kind is FailureKind.ROBOTS
        assert (visit.status, visit.position) == (None, None)
        page = await life.page("http://a.test/0")
        assert page.next_at == pytest.approx(START_AT + DAY_S, abs=10)
        life.town.play("http://a.test/robots.txt", robots(""))
        life.town.play("http://a.test/0", reply("<p>free now</p>"))
        await life.run(1.5 * DAY_S)
        assert await life.outcomes("http://a.test/0") == ["robots", "new"]

    live(scenario)


@pytest.mark.parametrize("status", [500, 502, 503])
def test_nothing_is_requested_while_robots_fails(live: Callable[..., None], status: int) -> None:
    """A robots.txt that answers with a server error forbids everything until it answers well."""

    async def scenario(life: Life) -> None:
        life.town.play("http://a.test/robots.txt", robots("", status))
        for url in a_pages(3):
            life.town.play(url, reply("<p>x</p>"))
        await life.watch(*a_pages(3))
        await life.run(DAY_S)
        assert set(life.town.paths()) == {"/robots.txt"}
        assert 3 <= len(life.town.paths()) <= 40
        life.town.play("http://a.test/robots.txt", reply("", 404))
        await life.run(DAY_S)
        assert set(life.town.paths()) == {"/robots.txt", "/0", "/1", "/2"}

    live(scenario)


def test_robots_is_asked_once_and_again_after_a_day(live: Callable[..., None]) -> None:
    """However many pages wait, one request for robots.txt serves a host for 24 hours, across restarts."""

    async def scenario(life: Life) -> None:
        for url in a_pages(20):
            life.town.play(url, reply("<p>x</p>"))
        await life.watch(*a_pages(20))
        await life.crawl()
        assert life.town.paths().count("/robots.txt") == 1
        assert life.town.paths()[0] == "/robots.txt"
        await life.watch("http://a.test/late")
        await life.crawl(after_s=DAY_S - 3600)
        assert life.town.paths().count("/robots.txt") == 1
        await life.watch("http://a.test/later")
        await life.crawl(after_s=2 * 3600)
        assert life.town.paths().count("/robots.txt") == 2
        assert life.town.paths().index("/robots.txt", 1) < life.town.paths().index("/later")

    live(scenario, "polite.connections_per_host=4", "schedule.start_interval=7d")


@pytest.mark.parametrize("across_restart", [False, True])
def test_crawl_delay_is_kept(live: Callable[..., None], across_restart: bool) -> None:
    """Between two requests to a host lies what its robots.txt asks, also when the loop was started anew between."""

    async def scenario(life: Life) -> None:
        life.town.play("http://a.test/robots.txt", robots("User-agent: *\nCrawl-delay: 17"))
        urls = a_pages(6)
        if across_restart:
            for url in urls:
                await life.watch(url)
                await life.crawl()
        else:
            await life.watch(*urls)
            await life.crawl()
        assert len(life.town.times()) == 7
        assert gaps(life.town.times()) == pytest.approx([17] * 6)

    live(scenario)


@pytest.mark.parametrize(("status", "asked_s"), [(429, "700"), (503, "900"), (429, None)])
def test_a_rest_is_kept_across_a_restart(live: Callable[..., None], status: int, asked_s: str | None) -> None:
    """After 429 or 503 the host is left alone as long as it asked (or a minute), by the next process too."""

    async def scenario(life: Life) -> None:
        headers = {"Retry_After": asked_s} if asked_s else {}
        life.town.play("http://a.test/0", reply("slow down", status, **headers))
        await life.watch("http://a.test/0")
        await life.crawl()
        assert await life.outcomes("http://a.test/0") == [FailureKind.BACKOFF]
        assert life.records("http://a.test/0")[0].status == str(status)
        await life.watch("http://a.test/1")
        await life.run(3600)
        first, second = life.town.requests("a.test", "/0")[0], life.town.requests("a.test", "/1")[0]
        assert second.at - first.at >= float(asked_s or 60)
        assert await life.outcomes("http://a.test/1") == ["gone"]

    live(scenario)


def test_a_resting_host_holds_up_nobody_else(live: Callable[..., None]) -> None:
    """While a host asks for hours of rest, even for its robots.txt, rounds end in time and others are visited."""

    async def scenario(life: Life) -> None:
        life.town.play("http://a.test/robots.txt", robots("", 503, Retry_After="36000"))
        life.town.play("http://b.test/x", lambda asked: reply(f"<p>{asked.at}</p>"))
        await life.watch("http://a.test/0", "http://b.test/x")
        await life.run(8 * 3600)
        assert len(life.town.times("a.test")) == 1
        assert len(life.town.requests("b.test", "/x")) >= 30

    live(scenario, "schedule.start_interval=10m", "schedule.min_interval=10m")


def test_hosts_on_one_address_share_its_gap(live: Callable[..., None]) -> None:
    """Two hosts on one address are not asked faster together than the address's own gap; others are not slowed."""

    async def scenario(life: Life) -> None:
        shared = [f"http://{host}.test/{n}" for host in "cd" for n in range(5)]
        await life.watch(*shared, *a_pages(5))
        await life.crawl()
        together = sorted(life.town.times("c.test") + life.town.times("d.test"))
        assert len(together) == 12
        assert min(gaps(together)) >= 1.5
        assert gaps(life.town.times("a.test")) == pytest.approx([2] * 5)

    live(scenario, "polite.address_delay=1.5s")


def test_every_request_says_who_asks(live: Callable[..., None]) -> None:
    """The user agent names product and contact on every request, robots.txt included."""

    async def scenario(life: Life) -> None:
        await life.watch(*a_pages(3))
        await life.crawl()
        agents = {asked.headers["user-agent"] for asked in life.town.asked}
        assert len(agents) == 1
        assert agents.pop().startswith("webstrata/")
        assert all("me@example.org" in asked.headers["user-agent"] for asked in life.town.asked)
        assert not any("cookie" in asked.headers for asked in life.town.asked)

    live(scenario, "polite.contact=me@example.org")
