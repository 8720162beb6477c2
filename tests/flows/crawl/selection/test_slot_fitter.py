"""Visits are moved to neighbouring slots before they are due, by the real loop."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from tests.flows.conftest import START_AT, Archiver
from tests.flows.scripted_servers import reply, robots
from webstrata.plan.load import SLOT_S

QUIET = ("schedule.start_interval=30d", "schedule.min_interval=30d", "polite.max_delay=1h")


async def _play(archiver: Archiver) -> tuple[list[str], list[float]]:
    """Forty pages and one of large weight on a slow host, all due in one slot; their reasons, and the request times."""
    archiver.servers.serve("http://a.test/robots.txt", robots("User-agent: *\nCrawl-delay: 180"))
    archiver.servers.serve("http://a.test/", reply("<p>hello"))
    await archiver.watch("http://a.test/")
    await archiver.run(SLOT_S)
    due_at = (START_AT // SLOT_S + 3) * SLOT_S + 1800
    await archiver.watch(*[f"http://a.test/{n:02}" for n in range(40)], next_at=due_at)
    await archiver.watch("http://a.test/weighty", weight=50.0, next_at=due_at)
    await archiver.run(10)
    reasons = [page.reason for page in (await archiver.pages()).values()]
    await archiver.run(6 * SLOT_S)
    return reasons, archiver.servers.times("a.test")


def test_visits_move_before_and_behind_a_full_slot(run_scenario: Callable[..., None]) -> None:
    """If 41 visits are due in a slot that takes 18, the others move to neighbouring slots, and their reasons say so."""

    async def scenario(archiver: Archiver) -> None:
        reasons, times = await _play(archiver)
        moved = [reason for reason in reasons if "fits its slot of 1h (a.test takes 18 visits in one)" in reason]
        assert 20 <= len(moved) <= 30
        assert any(" earlier, " in reason for reason in moved)
        assert any(" later, " in reason for reason in moved)
        assert (await archiver.page("http://a.test/weighty")).reason.startswith("dyn")
        assert len(times) == 43
        assert min(after - before for before, after in pairwise(times)) >= 180

    run_scenario(scenario, "schedule.policy=dyn", *QUIET)


def test_a_value_policy_needs_no_slots(run_scenario: Callable[..., None]) -> None:
    """Under a value policy no visit is moved between slots."""

    async def scenario(archiver: Archiver) -> None:
        reasons, times = await _play(archiver)
        assert not any("slot" in reason for reason in reasons)
        assert len(times) == 43

    run_scenario(scenario, *QUIET)
