"""What the limits of pages ask for, from all pages or from a sample."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.flows.conftest import Archiver
from webstrata.flows.limit_demand import demand_of, limit_demand
from webstrata.records import IntervalLimit
from webstrata.schedule.budget import DEFAULT_RATE, DailyRate


def test_pages_with_limits_wait_longer_by_the_same_factor() -> None:
    """Ten pages every three hours need 80 visits a day; with 60 they wait a third longer."""
    demand = demand_of(np.full(10, 3 * 3600.0), 60.0)
    assert demand is not None
    assert (demand.pages, demand.visits_per_day, demand.is_too_much) == (10, 80.0, True)
    assert demand.stretch == pytest.approx(4 / 3)
    assert demand_of(np.empty(0), 60.0) is None
    enough = demand_of(np.full(10, 3 * 3600.0), 80.0)
    assert enough is not None
    assert (enough.is_too_much, enough.stretch) == (False, 1.0)


def test_the_demand_of_a_store(run_scenario: Callable[..., None]) -> None:
    """Limits of tags and of pages count, the shorter one; a sample gives about the same."""

    async def scenario(archiver: Archiver) -> None:
        pages = [f"http://a.test/{n}" for n in range(400)]
        await archiver.watch(*pages[:200], tags=("often",))
        await archiver.watch(*pages[200:])
        now = archiver.clock.now()
        async with archiver.node.store() as store:
            assert await limit_demand(store, DEFAULT_RATE, now) is None
            limits = [
                IntervalLimit(kind="tag", name="often", min_s=None, max_s=12 * 3600.0),
                IntervalLimit(kind="page", name=pages[0], min_s=None, max_s=6 * 3600.0),
                IntervalLimit(kind="page", name=pages[300], min_s=None, max_s=24 * 3600.0),
            ]
            for limit in limits:
                await store.budgets.set_interval_limit(limit)
            assert await limit_demand(store, None, now) is None
            every = await limit_demand(store, DEFAULT_RATE, now)
            sampled = await limit_demand(store, DailyRate(amount=300.0), now, sampled=200)
        assert every is not None
        assert (every.pages, every.visits_per_day, every.budget_per_day) == (201, 199 * 2 + 4 + 1, 600.0)
        assert every.shortest_s == 6 * 3600.0
        assert sampled is not None
        assert sampled.is_too_much
        assert sampled.visits_per_day == pytest.approx(every.visits_per_day, rel=0.2)

    run_scenario(scenario)
