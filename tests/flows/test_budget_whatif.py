"""What a plan says of the budget, from all pages or from a sample."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.flows.conftest import DAILY, Archiver
from tests.flows.scripted_servers import reply
from webstrata.flows.budget_whatif import budget_whatif
from webstrata.schedule.budget import ONE_A_DAY
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
            rate = ONE_A_DAY if policy == VALUE else None
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
