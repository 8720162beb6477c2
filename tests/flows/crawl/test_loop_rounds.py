"""Rounds of `run` follow each other at once while pages are due, and the loop sleeps otherwise."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest

from tests.flows.conftest import DAILY, DAY_S, START_AT, Archiver
from tests.flows.scripted_servers import reply, robots
from webstrata.flows.crawl import loop
from webstrata.flows.crawl.selection.page_choice import RoundRequest
from webstrata.flows.crawl.selection.round_selector import RoundSelector
from webstrata.records import Page

VALUE = "schedule.policy=value"
AT_ONCE = ("polite.delay=0s", "polite.address_delay=0s")


@pytest.fixture
def rounds(monkeypatch: pytest.MonkeyPatch) -> list[tuple[float, int]]:
    """Collects (time, pages) of each round that the loop starts."""
    started: list[tuple[float, int]] = []
    claim = RoundSelector.claim

    async def counting(self: RoundSelector, request: RoundRequest) -> list[Page]:
        leased = await claim(self, request)
        started.append((request.now, len(leased)))
        return leased

    monkeypatch.setattr(RoundSelector, "claim", counting)
    return started


@pytest.mark.parametrize("policy", [VALUE, DAILY])
def test_rounds_follow_each_other_while_pages_are_due(
    run_scenario: Callable[..., None], monkeypatch: pytest.MonkeyPatch, policy: str
) -> None:
    """More pages than one round takes are all visited before the first round's minute is over."""
    monkeypatch.setattr(loop, "ROUND_PAGES", 10)

    async def scenario(archiver: Archiver) -> None:
        pages = [f"http://{host}.test/{n:02}" for host in "abc" for n in range(15)]
        await archiver.watch(*pages)
        await archiver.run(600)
        visited = [request for request in archiver.servers.requests() if request.path != "/robots.txt"]
        assert len(visited) == 45
        assert max(request.at for request in visited) < START_AT + 60

    run_scenario(scenario, policy, *AT_ONCE)


def test_pages_found_in_a_round_are_visited_at_once(run_scenario: Callable[..., None]) -> None:
    """The pages of a new site do not wait for the end of the minute in which its start page was read."""

    async def scenario(archiver: Archiver) -> None:
        links = "".join(f'<a href="/{n}">{n}</a>' for n in range(5))
        archiver.servers.serve("http://a.test/", reply(f"<p>Start.{links}"))
        await archiver.watch_site("http://a.test/")
        await archiver.run(600)
        assert set(archiver.servers.paths("a.test")) >= {f"/{n}" for n in range(5)}
        assert max(archiver.servers.times("a.test")) < START_AT + 60

    run_scenario(scenario, *AT_ONCE)


@pytest.mark.parametrize("policy", [VALUE, DAILY])
def test_a_host_with_more_pages_than_a_round_has_time_for_is_visited_without_pause(
    run_scenario: Callable[..., None], policy: str
) -> None:
    """The requests of a host are as close as its delay allows, from one round to the next, and never closer."""

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve("http://a.test/robots.txt", robots("User-agent: *\nCrawl-delay: 5"))
        await archiver.watch(*[f"http://a.test/{n:02}" for n in range(60)])
        await archiver.run(600)
        times = archiver.servers.times("a.test")
        assert len(times) == 61
        gaps = [after - before for before, after in pairwise(times)]
        assert min(gaps) >= 5
        assert times[-1] - times[0] <= 60 * 5 * 1.05

    run_scenario(scenario, policy)


@pytest.mark.parametrize("policy", [VALUE, DAILY])
def test_a_budget_is_kept_when_rounds_follow_at_once(
    run_scenario: Callable[..., None], monkeypatch: pytest.MonkeyPatch, policy: str
) -> None:
    """The origin counts no more visits than the budget pays for, however many rounds a day has."""
    monkeypatch.setattr(loop, "ROUND_PAGES", 3)

    async def scenario(archiver: Archiver) -> None:
        await archiver.watch(*[f"http://{host}.test/{n:02}" for host in "abc" for n in range(20)])
        await archiver.run(3 * DAY_S)
        visited = [request for request in archiver.servers.requests() if request.path != "/robots.txt"]
        for days in range(1, 4):
            # Unspent budget of six hours may be there at the start.
            assert sum(request.at < START_AT + days * DAY_S for request in visited) <= 8 * days + 2
        assert len(visited) >= 21

    run_scenario(scenario, policy, "budget.total=8/day", *AT_ONCE)


def test_an_idle_loop_sleeps(run_scenario: Callable[..., None], rounds: list[tuple[float, int]]) -> None:
    """When all pages are visited, no round starts before the next visit."""

    async def scenario(archiver: Archiver) -> None:
        await archiver.watch("http://a.test/0", "http://b.test/0")
        await archiver.run(0.9 * DAY_S)
        assert [pages for _, pages in rounds if pages] == [2]
        assert len(rounds) <= 2

    run_scenario(scenario, DAILY)


@pytest.mark.parametrize("policy", [VALUE, DAILY])
def test_a_loop_whose_hosts_all_asked_for_a_pause_sleeps(
    run_scenario: Callable[..., None], rounds: list[tuple[float, int]], policy: str
) -> None:
    """Hosts that refuse requests for hours cause a few rounds, not a busy loop, and are not asked meanwhile."""

    async def scenario(archiver: Archiver) -> None:
        for host in "abc":
            refusal = reply("later", 429, Retry_After="7200")
            archiver.servers.serve(f"http://{host}.test/robots.txt", robots("User-agent: *\nAllow: /"))
            for n in range(20):
                archiver.servers.serve(f"http://{host}.test/{n}", refusal)
        await archiver.watch(*[f"http://{host}.test/{n}" for host in "abc" for n in range(20)])
        await archiver.run(7000)
        assert len([request for request in archiver.servers.requests() if request.path != "/robots.txt"]) == 3
        assert len(rounds) <= 7000 / 60

    run_scenario(scenario, policy)
