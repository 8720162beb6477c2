"""Fixed rhythms, visit windows and snoozes in the loop, under a value policy and under a timer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from tests.flows.conftest import DAY_S, START_AT, Archiver
from tests.flows.scripted_servers import ReceivedRequest, Reply, reply
from webstrata.records import VisitTimes
from webstrata.schedule.visit_times import shown_next_at
from webstrata.schedule.visit_windows import parse_windows

HOUR_S = 3600.0
POLICIES = ["schedule.policy=value", "schedule.policy=dyn"]
WORK = "Mon-Fri 9-17, Sat 10-12 Europe/Vienna"
TIMED, OTHER = "http://a.test/timed", "http://b.test/other"


def lively(request: ReceivedRequest) -> Reply:
    """Another text every hour."""
    return reply(f"<p>edition {int(request.at // HOUR_S)} of the news of the day")


def serve(archiver: Archiver) -> None:
    for url in (TIMED, OTHER):
        archiver.servers.serve(url, lively)


async def set_times(archiver: Archiver, **fields: object) -> None:
    page = await archiver.page(TIMED)
    async with archiver.node.store() as store:
        await store.pages.set_visit_times([VisitTimes(page_id=page.id, **fields)], {})  # type: ignore[arg-type]


@pytest.mark.parametrize("policy", POLICIES)
def test_a_fixed_rhythm_is_kept(policy: str, run_scenario: Callable[..., None]) -> None:
    """The page is visited every six hours, within a round, although the budget pays for one visit a day."""

    async def scenario(archiver: Archiver) -> None:
        serve(archiver)
        await archiver.watch(TIMED, every_s=6 * HOUR_S)
        await archiver.watch(OTHER)
        await archiver.run(5 * DAY_S)
        late_s = [visit.at - START_AT - n * 6 * HOUR_S for n, visit in enumerate(await archiver.visits(TIMED))]
        assert len(late_s) == 20
        assert all(0 <= late <= 120 for late in late_s), late_s
        page = await archiver.page(TIMED)
        assert (page.interval_s, page.reason) == (6 * HOUR_S, "fixed rhythm: every 6h")

    run_scenario(scenario, policy, "budget.total=1/day", "crawl.round=1m")


def test_the_default_budget_pays_for_other_pages(run_scenario: Callable[..., None]) -> None:
    """Without a budget that the user set, a rhythm takes no visits from other pages; a set budget counts it."""
    visits = {}

    async def scenario(archiver: Archiver) -> None:
        serve(archiver)
        await archiver.watch(TIMED, every_s=HOUR_S)
        await archiver.watch(OTHER)
        await archiver.run(4 * DAY_S)
        budget = archiver.settings.budget.total
        visits[budget] = [len(await archiver.visits(url)) for url in (TIMED, OTHER)]

    run_scenario(scenario, POLICIES[0], "crawl.round=10m")
    assert visits[""][0] == 96
    assert visits[""][1] >= 3


def test_a_set_budget_counts_the_rhythm(run_scenario: Callable[..., None]) -> None:
    """A rhythm that takes more than a set budget leaves nothing to other pages."""

    async def scenario(archiver: Archiver) -> None:
        serve(archiver)
        await archiver.watch(TIMED, every_s=HOUR_S)
        await archiver.watch(OTHER)
        await archiver.run(4 * DAY_S)
        assert len(await archiver.visits(TIMED)) == 96
        assert len(await archiver.visits(OTHER)) <= 1

    run_scenario(scenario, POLICIES[0], "budget.total=6/day", "crawl.round=10m")


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("budget", ["", "20/day"])
def test_visits_are_in_the_windows(policy: str, budget: str, run_scenario: Callable[..., None]) -> None:
    """All visits are in the windows of the page, by run and by crawl; the next visit that is shown is in one, too."""

    async def scenario(archiver: Archiver) -> None:
        serve(archiver)
        windows = parse_windows(WORK)
        await archiver.watch(TIMED, windows=WORK)
        await archiver.watch(OTHER)
        for _ in range(5):
            await archiver.run(2 * DAY_S)
            await archiver.crawl(after_s=7 * HOUR_S)
            shown = shown_next_at(await archiver.page(TIMED), archiver.clock.now())
            assert shown is not None
            assert shown <= archiver.clock.now() or windows.is_open(shown)
        visits = await archiver.visits(TIMED)
        assert [visit.at for visit in visits if not windows.is_open(visit.at)] == []
        assert len(visits) >= 5
        assert [visit for visit in await archiver.visits(OTHER) if not windows.is_open(visit.at)]

    limits = ("schedule.max_interval=5h", "schedule.min_interval=1h", "schedule.start_interval=5h")
    run_scenario(scenario, policy, *limits, *([f"budget.total={budget}"] if budget else []), "crawl.round=30m")


@pytest.mark.parametrize("policy", POLICIES)
def test_rhythm_and_windows_together(policy: str, run_scenario: Callable[..., None]) -> None:
    """The times of a rhythm outside the windows wait for the next window."""

    async def scenario(archiver: Archiver) -> None:
        serve(archiver)
        windows = parse_windows("9-17 UTC")
        await archiver.watch(TIMED, every_s=2 * HOUR_S, windows="9-17 UTC")
        await archiver.run(3 * DAY_S)
        visits = await archiver.visits(TIMED)
        assert all(windows.is_open(visit.at) for visit in visits)
        assert 9 <= len(visits) <= 15

    run_scenario(scenario, policy, "crawl.round=1m")


@pytest.mark.parametrize("policy", POLICIES)
def test_a_snooze_in_a_running_loop(policy: str, run_scenario: Callable[..., None]) -> None:
    """A running loop makes no visits of a page while it is snoozed, and continues afterwards or when it is ended."""

    async def scenario(archiver: Archiver) -> None:
        serve(archiver)
        await archiver.watch(TIMED, OTHER)

        async def snooze() -> None:
            await archiver.clock.sleep_until(START_AT + 2 * DAY_S)
            await set_times(archiver, snoozed_until=START_AT + 5 * DAY_S)
            await archiver.clock.sleep_until(START_AT + 8 * DAY_S)
            await set_times(archiver, snoozed_until=START_AT + 100 * DAY_S)
            await archiver.clock.sleep_until(START_AT + 10 * DAY_S)
            await set_times(archiver)

        await asyncio.gather(archiver.run(12 * DAY_S), snooze())
        visits = [visit.at - START_AT for visit in await archiver.visits(TIMED)]
        days = {int(at // DAY_S) for at in visits if at % DAY_S > 1800}  # the round at midnight began before the snooze
        assert days.isdisjoint({2, 3, 4, 8, 9})
        assert days >= {0, 1, 5, 6, 7, 10, 11}
        others = {int((visit.at - START_AT) // DAY_S) for visit in await archiver.visits(OTHER)}
        assert others >= {2, 3, 4, 8, 9}

    limits = ("schedule.max_interval=8h", "schedule.min_interval=1h", "schedule.start_interval=8h")
    run_scenario(scenario, policy, *limits, "budget.total=10/page/day", "crawl.round=30m")


def test_pages_of_a_site_get_its_times(run_scenario: Callable[..., None]) -> None:
    """Discovered pages have the rhythm and the windows of their site."""

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve("http://a.test/", reply("<p>start <a href='/timed'>page</a>"))
        serve(archiver)
        await archiver.watch_site("http://a.test/", every_s=7 * HOUR_S, windows="0-24 UTC")
        await archiver.crawl()
        page = await archiver.page(TIMED)
        assert (page.every_s, page.windows) == (7 * HOUR_S, "0-24 UTC")

    run_scenario(scenario)


def test_windows_that_close_during_a_crawl(run_scenario: Callable[..., None]) -> None:
    """A crawl that takes longer than the windows leaves the remaining pages to the next window."""

    async def scenario(archiver: Archiver) -> None:
        pages = [f"http://a.test/page{n}" for n in range(10)]
        for url in pages:
            archiver.servers.serve(url, lively)
        closes_at = (archiver.clock.now() // DAY_S + 1) * DAY_S
        await archiver.clock.sleep_until(closes_at - 60)
        await archiver.watch(*pages, windows="12-24 UTC")
        assert 3 <= await archiver.crawl() <= 9
        times = [visit.at for url in pages for visit in await archiver.visits(url)]
        assert max(times) < closes_at
        left = [page for page in (await archiver.pages()).values() if not page.visits]
        assert {page.next_at for page in left} == {closes_at + DAY_S / 2}

    run_scenario(scenario, "polite.delay=10s", "polite.delay_factor=0")
