"""Politeness of the loop as the servers see it: robots.txt, gaps and back-off, across restarts as well."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from tests.flows.conftest import DAILY, DAY_S, START_AT, Archiver
from tests.flows.scripted_servers import reply, robots
from webstrata.records import FailureKind


def gaps(times: list[float]) -> list[float]:
    return [after - before for before, after in pairwise(times)]


def a_pages(count: int) -> list[str]:
    return [f"http://a.test/{n}" for n in range(count)]


def test_a_forbidden_page_is_never_requested(run_scenario: Callable[..., None]) -> None:
    """A page that robots.txt forbids is not requested; it is logged as such and checked again after a day."""

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve("http://a.test/robots.txt", robots("User-agent: webstrata\nDisallow: /0"))
        await archiver.watch(*a_pages(2))
        await archiver.crawl()
        assert archiver.servers.paths() == ["/robots.txt", "/1"]
        visit = await archiver.last("http://a.test/0")
        assert visit.failure is not None
        assert visit.failure.kind is FailureKind.ROBOTS
        assert (visit.status, visit.position) == (None, None)
        page = await archiver.page("http://a.test/0")
        assert page.next_at == pytest.approx(START_AT + DAY_S, abs=10)
        archiver.servers.serve("http://a.test/robots.txt", robots(""))
        archiver.servers.serve("http://a.test/0", reply("<p>free now</p>"))
        await archiver.run(1.5 * DAY_S)
        assert (await archiver.outcomes("http://a.test/0"))[:2] == ["robots", "new"]

    run_scenario(scenario)


@pytest.mark.parametrize("status", [500, 502, 503])
def test_nothing_is_requested_while_robots_fails(run_scenario: Callable[..., None], status: int) -> None:
    """A server error for robots.txt forbids all pages until robots.txt can be read."""

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve("http://a.test/robots.txt", robots("", status))
        for url in a_pages(3):
            archiver.servers.serve(url, reply("<p>x</p>"))
        await archiver.watch(*a_pages(3))
        await archiver.run(DAY_S)
        assert set(archiver.servers.paths()) == {"/robots.txt"}
        assert 3 <= len(archiver.servers.paths()) <= 40
        archiver.servers.serve("http://a.test/robots.txt", reply("", 404))
        await archiver.run(DAY_S)
        assert set(archiver.servers.paths()) == {"/robots.txt", "/0", "/1", "/2"}

    run_scenario(scenario)


def test_robots_is_requested_once_and_again_after_a_day(run_scenario: Callable[..., None]) -> None:
    """robots.txt is requested once for all pages of a host and again after 24 hours, across restarts."""

    async def scenario(archiver: Archiver) -> None:
        for url in a_pages(20):
            archiver.servers.serve(url, reply("<p>x</p>"))
        await archiver.watch(*a_pages(20))
        await archiver.crawl()
        assert archiver.servers.paths().count("/robots.txt") == 1
        assert archiver.servers.paths()[0] == "/robots.txt"
        await archiver.watch("http://a.test/late")
        await archiver.crawl(after_s=DAY_S - 3600)
        assert archiver.servers.paths().count("/robots.txt") == 1
        await archiver.watch("http://a.test/later")
        await archiver.crawl(after_s=2 * 3600)
        assert archiver.servers.paths().count("/robots.txt") == 2
        assert archiver.servers.paths().index("/robots.txt", 1) < archiver.servers.paths().index("/later")

    run_scenario(scenario, "polite.connections_per_host=4", "schedule.start_interval=7d")


@pytest.mark.parametrize("across_restart", [False, True])
def test_crawl_delay_is_kept(run_scenario: Callable[..., None], across_restart: bool) -> None:
    """The Crawl-delay lies between two requests to a host, also across a restart of the loop."""

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve("http://a.test/robots.txt", robots("User-agent: *\nCrawl-delay: 17"))
        urls = a_pages(6)
        if across_restart:
            for url in urls:
                await archiver.watch(url)
                await archiver.crawl()
        else:
            await archiver.watch(*urls)
            await archiver.crawl()
        assert len(archiver.servers.times()) == 7
        assert gaps(archiver.servers.times()) == pytest.approx([17] * 6)

    run_scenario(scenario)


@pytest.mark.parametrize(("status", "asked_s"), [(429, "700"), (503, "900"), (429, None)])
def test_a_back_off_is_kept_across_a_restart(
    run_scenario: Callable[..., None], status: int, asked_s: str | None
) -> None:
    """After 429 or 503 the host gets no request for the Retry-After time (or a minute), even by the next process."""

    async def scenario(archiver: Archiver) -> None:
        headers: dict[str, Any] = {"Retry_After": asked_s} if asked_s else {}
        archiver.servers.serve("http://a.test/0", reply("slow down", status, **headers))
        await archiver.watch("http://a.test/0")
        await archiver.crawl()
        assert await archiver.outcomes("http://a.test/0") == [FailureKind.BACKOFF]
        assert archiver.records("http://a.test/0")[0].status == str(status)
        await archiver.watch("http://a.test/1")
        await archiver.run(3600)
        first, second = archiver.servers.requests("a.test", "/0")[0], archiver.servers.requests("a.test", "/1")[0]
        assert second.at - first.at >= float(asked_s or 60)
        assert await archiver.outcomes("http://a.test/1") == ["gone"]

    run_scenario(scenario)


def test_a_host_in_back_off_delays_no_other_host(run_scenario: Callable[..., None]) -> None:
    """While a host is in back-off for hours, even for its robots.txt, rounds end in time and others are visited."""

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve("http://a.test/robots.txt", robots("", 503, Retry_After="36000"))
        archiver.servers.serve("http://b.test/x", lambda request: reply(f"<p>{request.at}</p>"))
        await archiver.watch("http://a.test/0", "http://b.test/x")
        await archiver.run(8 * 3600)
        assert len(archiver.servers.times("a.test")) == 1
        assert len(archiver.servers.requests("b.test", "/x")) >= 30

    run_scenario(scenario, DAILY, "schedule.start_interval=10m", "schedule.min_interval=10m")


def test_hosts_on_one_address_share_its_gap(run_scenario: Callable[..., None]) -> None:
    """Requests to two hosts at one address keep the gap of the address; other hosts are not delayed."""

    async def scenario(archiver: Archiver) -> None:
        shared = [f"http://{host}.test/{n}" for host in "cd" for n in range(5)]
        await archiver.watch(*shared, *a_pages(5))
        await archiver.crawl()
        together = sorted(archiver.servers.times("c.test") + archiver.servers.times("d.test"))
        assert len(together) == 12
        assert min(gaps(together)) >= 1.5
        assert gaps(archiver.servers.times("a.test")) == pytest.approx([2] * 5)

    run_scenario(scenario, "polite.address_delay=1.5s")


def test_every_request_names_the_crawler(run_scenario: Callable[..., None]) -> None:
    """The User-Agent header names product and contact in every request, for robots.txt as well."""

    async def scenario(archiver: Archiver) -> None:
        await archiver.watch(*a_pages(3))
        await archiver.crawl()
        agents = {request.headers["user-agent"] for request in archiver.servers.received}
        assert len(agents) == 1
        assert agents.pop().startswith("webstrata/")
        assert all("me@example.org" in request.headers["user-agent"] for request in archiver.servers.received)
        assert not any("cookie" in request.headers for request in archiver.servers.received)

    run_scenario(scenario, "polite.contact=me@example.org")
