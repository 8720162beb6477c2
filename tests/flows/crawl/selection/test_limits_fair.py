"""Pages with limits that ask for more than the budget gives share it evenly: no page waits much longer than another."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.flows.conftest import Archiver
from tests.flows.scripted_servers import ReceivedRequest, Reply, reply
from webstrata.records import IntervalLimit

HOUR_S = 3600.0


def _hourly(request: ReceivedRequest) -> Reply:
    return reply(f"<p>edition {int(request.at // HOUR_S)} of the news of the hour")


def _still(request: ReceivedRequest) -> Reply:
    return reply("<p>the same for ever")


async def _watch_ten(archiver: Archiver, max_s: float) -> list[str]:
    """Ten pages with the tag `all` and a longest interval; one of them changes every hour."""
    pages = [f"http://{'ab'[n % 2]}.test/{n}" for n in range(10)]
    for n, url in enumerate(pages):
        archiver.servers.serve(url, _hourly if n == 9 else _still)
    await archiver.watch(*pages, tags=("all",))
    async with archiver.node.store() as store:
        await store.budgets.set_interval_limit(IntervalLimit(kind="tag", name="all", min_s=None, max_s=max_s))
    return pages


@pytest.mark.parametrize(
    ("max_h", "budget", "most"), [(3, "", 60), (1, "", 60), (3, "1/page/day", 10)], ids=["default", "short", "small"]
)
def test_pages_with_a_limit_are_seen_equally_often_by_hourly_crawls(
    run_scenario: Callable[..., None], max_h: float, budget: str, most: float
) -> None:
    """After 28 hours the numbers of visits of ten pages differ by at most 1, and the budget is spent."""

    async def scenario(archiver: Archiver) -> None:
        pages = await _watch_ten(archiver, max_h * HOUR_S)
        await archiver.crawl()
        for _ in range(28):
            await archiver.crawl(after_s=HOUR_S)
        visits = [len(await archiver.visits(url)) for url in pages]
        assert max(visits) - min(visits) <= 1, visits
        assert 10 + int(most * 28 / 24) - 1 <= sum(visits) <= 10 + most * 29 / 24, visits

    run_scenario(scenario, f"budget.total={budget}")


@pytest.mark.parametrize(("max_h", "budget"), [(3, ""), (3, "1/page/day")], ids=["default", "small"])
def test_pages_with_a_limit_are_seen_equally_often_by_run(
    run_scenario: Callable[..., None], max_h: float, budget: str
) -> None:
    """The same in a loop that runs for 28 hours."""

    async def scenario(archiver: Archiver) -> None:
        pages = await _watch_ten(archiver, max_h * HOUR_S)
        await archiver.run(28 * HOUR_S)
        visits = [len(await archiver.visits(url)) for url in pages]
        assert max(visits) - min(visits) <= 1, visits
        assert min(visits) >= (7 if not budget else 2), visits

    run_scenario(scenario, f"budget.total={budget}")
