"""What the limits of pages ask for, from all pages or from a sample."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
import pytest

from tests.flows.conftest import Archiver
from webstrata.flows.limit_demand import HostLimitDemand, HostRoom, demand_of, limit_demand
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


HOST_CASES = [
    ("there is room", 1.0, {}, []),
    ("the delay", 60.0, {}, [("a.test", 1440.0, "delay")]),
    ("the budget of the host", 60.0, {"a.test": DailyRate(amount=960.0)}, [("a.test", 960.0, "budget")]),
    ("the budget of another host", 1.0, {"b.test": DailyRate(amount=0.1, per_page=True)}, [("b.test", 1.0, "budget")]),
    (
        "the worst first",
        60.0,
        {"b.test": DailyRate(amount=12.0)},
        [("b.test", 12.0, "budget"), ("a.test", 1440.0, "delay")],
    ),
]


@pytest.mark.parametrize(
    ("delay_s", "budgets", "expected"), [case[1:] for case in HOST_CASES], ids=[c[0] for c in HOST_CASES]
)
def test_hosts_that_cannot_be_visited_so_often(
    run_scenario: Callable[..., None],
    delay_s: float,
    budgets: dict[str, DailyRate],
    expected: list[tuple[str, float, Literal["delay", "budget"]]],
) -> None:
    """Limits of a host's pages are compared with what its delay and its own budget allow; a sample says nothing."""

    async def scenario(archiver: Archiver) -> None:
        await archiver.watch(*(f"http://a.test/{n}" for n in range(100)), tags=("often",))
        await archiver.watch(*(f"http://b.test/{n}" for n in range(10)), tags=("often",))
        now = archiver.clock.now()
        async with archiver.node.store() as store:
            await store.budgets.set_interval_limit(IntervalLimit(kind="tag", name="often", min_s=None, max_s=3600.0))

            async def room() -> HostRoom:
                return HostRoom(gate=await archiver.node.gate(store), delay_s=delay_s, budgets=budgets)

            found = await limit_demand(store, DailyRate(amount=5000.0), now, host_room=room)
            sampled = await limit_demand(store, DailyRate(amount=5000.0), now, sampled=50, host_room=room)
        needed = {"a.test": 2400.0, "b.test": 240.0}
        assert found is not None
        assert not found.is_too_much
        assert found.hosts == tuple(
            HostLimitDemand(host=host, visits_per_day=needed[host], possible_per_day=possible, limited_by=limited_by)
            for host, possible, limited_by in expected
        )
        assert sampled is not None
        assert sampled.hosts == ()

    run_scenario(scenario)
