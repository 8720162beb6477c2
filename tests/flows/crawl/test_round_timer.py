"""Timings of rounds, from which `plan` learns the pace of the loop."""

from __future__ import annotations

from collections.abc import Callable

from tests.flows.conftest import DAILY, START_AT, Archiver
from webstrata.flows.crawl.round_timer import LEAST_VISITS


def test_large_rounds_leave_their_timing(run_scenario: Callable[..., None]) -> None:
    """A round with many visits is timed; the loop limited a part of it, and at most all of it. A small one is not."""

    async def scenario(archiver: Archiver) -> None:
        await archiver.watch(*[f"http://a.test/{n}" for n in range(LEAST_VISITS)])
        await archiver.run(30)
        await archiver.watch(*[f"http://b.test/{n}" for n in range(LEAST_VISITS - 1)])
        await archiver.run(30)
        async with archiver.node.store() as store:
            (timing,) = await store.visit_log.rounds(10)
        assert timing.visits == LEAST_VISITS
        assert START_AT <= timing.at <= START_AT + 30
        assert 0 < timing.limited_s <= timing.seconds

    run_scenario(scenario, DAILY, "polite.delay=0s", "polite.address_delay=0s")
