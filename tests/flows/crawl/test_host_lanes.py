"""Queues of slow and unreachable hosts delay no other host."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest

from tests.flows.conftest import DAILY, START_AT, Archiver
from tests.flows.scripted_servers import reply, robots


def test_a_slow_host_delays_no_other_host(run_scenario: Callable[..., None]) -> None:
    """A host with a Crawl-delay of 30 s and fifty pages does not delay the pages of another host."""

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve("http://a.test/robots.txt", robots("User-agent: *\nCrawl-delay: 30"))
        slow = [f"http://a.test/{n:02}" for n in range(50)]
        await archiver.watch(*slow, *[f"http://b.test/{n}" for n in range(10)])
        await archiver.run(120)
        quick_paths = archiver.servers.paths("b.test")
        assert len(quick_paths) == 11
        assert archiver.servers.times("b.test")[-1] <= START_AT + 30
        left = sorted((page.next_at, page.url) for page in (await archiver.pages()).values() if page.visits == 0)
        assert len(left) > 40
        assert [url for _, url in left] == slow[-len(left) :]
        times = [at for at, _ in left if at is not None]
        assert times == sorted(set(times)), "released pages keep their order"
        assert all(after - before == pytest.approx(30) for before, after in pairwise(times))
        await archiver.run(2000)
        assert archiver.servers.paths("a.test")[1:] == [f"/{n:02}" for n in range(50)]
        assert min(after - before for before, after in pairwise(archiver.servers.times("a.test"))) >= 30

    run_scenario(scenario)


def test_unreachable_hosts_are_tried_less_and_less(run_scenario: Callable[..., None]) -> None:
    """A refused connection and an unknown name have their failure kind in the log; the retries become rarer."""

    async def scenario(archiver: Archiver) -> None:
        refused, unknown = "http://closed.test/", "http://no-such-name.invalid/"
        archiver.servers.serve("http://a.test/", lambda request: reply(f"<p>{request.at}"))
        await archiver.watch(refused, unknown, "http://a.test/")
        await archiver.run(6 * 3600)
        assert set(await archiver.outcomes(refused)) == {"robots"}
        assert set(await archiver.outcomes(unknown)) == {"dns"}
        assert 3 <= len(await archiver.outcomes(refused)) <= 12
        assert 3 <= len(await archiver.outcomes(unknown)) <= 12
        assert len(await archiver.outcomes("http://a.test/")) >= 6
        detail = (await archiver.last(refused)).failure
        assert detail is not None
        assert "reach" in detail.detail

    run_scenario(
        scenario,
        DAILY,  # the interval is set below
        "fetch.hosts=closed.test=127.0.0.2:1",
        "fetch.allow_private=127.0.0.2/32:1",
        "schedule.start_interval=1h",
        "schedule.min_interval=30m",
    )
