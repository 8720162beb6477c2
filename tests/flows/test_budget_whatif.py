"""What a plan says of the budget, from all pages or from a sample."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.flows.conftest import DAILY, Archiver
from tests.flows.scripted_servers import reply
from webstrata.flows.budget_whatif import budget_whatif
from webstrata.schedule.budget import DailyRate
from webstrata.schedule.policy import Bounds

VALUE = "schedule.policy=value"


@pytest.mark.parametrize("policy", [VALUE, DAILY])
def test_a_sample_gives_nearly_the_result_of_all_pages(run_scenario: Callable[..., None], policy: str) -> None:
    """Sums are those of all pages, not of the sample, and within a few per cent of the exact ones."""

    async def scenario(archiver: Archiver) -> None:
        for n in range(120):
            path = f"http://{'abc'[n % 3]}.test/{n}"
            content = (lambda request: reply(f"<p>{request.at}")) if n % 2 else reply("<p>always")
            archiver.servers.serve(path, content)
        await archiver.watch(*[f"http://{'abc'[n % 3]}.test/{n}" for n in range(120)])
        await archiver.run(3 * 86_400)
        async with archiver.node.store() as store:
            rate = DailyRate(amount=1.0, per_page=True) if policy == VALUE else None
            now = archiver.clock.now()
            exact = await budget_whatif(store, archiver.node.schedule(), rate, now, Bounds())
            sampled = await budget_whatif(store, archiver.node.schedule(), rate, now, Bounds(), sampled=80)
        assert [(one.pages, one.sampled_pages) for one in exact] == [(120, 120)] * 3
        for of_all, of_some in zip(exact, sampled, strict=True):
            assert (of_some.pages, of_some.sampled_pages) == (120, 80)
            assert of_some.budget_per_day == of_all.budget_per_day
            assert of_some.changes_per_day == pytest.approx(of_all.changes_per_day, rel=0.2)
            assert of_some.captured_per_day == pytest.approx(of_all.captured_per_day, rel=0.2)
            assert of_some.freshness == pytest.approx(of_all.freshness, rel=0.2)

    run_scenario(scenario, policy, "polite.delay=0s", "polite.address_delay=0s", "crawl.round=1h")


def test_timers_keep_their_own_intervals(run_scenario: Callable[..., None]) -> None:
    """The yield of a timer policy is that of the pages' intervals; a budget below them makes all of them longer."""

    async def scenario(archiver: Archiver) -> None:
        pages = [f"http://a.test/{n}" for n in range(4)]
        for url in pages:
            archiver.servers.serve(url, lambda request: reply(f"<p>{request.at}"))
        await archiver.watch(*pages)
        await archiver.run(86_400)
        async with archiver.node.store() as store:
            now, schedule = archiver.clock.now(), archiver.node.schedule()
            free = await budget_whatif(store, schedule, None, now, Bounds())
            half = await budget_whatif(store, schedule, DailyRate(amount=2.0), now, Bounds())
            ample = await budget_whatif(store, schedule, DailyRate(amount=100.0), now, Bounds())
            size = (await store.maintenance.totals(now)).bytes / (await store.maintenance.totals(now)).visits
            by_size = await budget_whatif(store, schedule, DailyRate(amount=2.0 * size, unit="bytes"), now, Bounds())
        assert [one.visits_per_day for one in free] == pytest.approx([3.2, 4.0, 4.8])
        assert [one.median_days for one in free] == pytest.approx([1.25, 1.0, 1 / 1.2])
        assert (half[1].visits_per_day, half[1].median_days) == pytest.approx((2.0, 2.0))
        assert (ample[1].visits_per_day, ample[1].median_days) == pytest.approx((4.0, 1.0))
        assert ample[1].captured_per_day == free[1].captured_per_day > half[1].captured_per_day
        assert by_size[1].visits_per_day == pytest.approx(2.0)
        assert by_size[1].bytes_per_day == pytest.approx(2.0 * size)
        assert {one.example_days for one in (*free, *half)} == {None}

    run_scenario(scenario, DAILY, "polite.delay=0s", "polite.address_delay=0s", "crawl.round=1h")
