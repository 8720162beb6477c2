"""Several loops on one database spend one budget between them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.flows.conftest import DAY_S, Archiver
from tests.flows.scripted_servers import reply
from tests.remember.conftest import postgres, postgres_database  # noqa: F401 - fixtures
from webstrata.home import Home
from webstrata.node import Node
from webstrata.records import BudgetState

PER_DAY = 16
DAYS = 2
FLAGS = (f"budget.total={PER_DAY}/day", "crawl.round=30m", "schedule.min_interval=1h", "schedule.start_interval=1h")


@pytest.fixture(params=["sqlite", "postgres"])
def shared(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'shared.db'}"
    url: str = request.getfixturevalue("postgres_database")
    return url


async def watch_lively(archiver: Archiver) -> None:
    for host in "abc":
        for n in range(6):
            archiver.servers.serve(
                f"http://{host}.test/{n}", lambda request: reply(f"<p>edition {int(request.at // 1800)} of it")
            )
        await archiver.watch(*[f"http://{host}.test/{n}" for n in range(6)])


@pytest.mark.parametrize("policy", ["value", "dyn"])
def test_two_loops_spend_one_budget(
    run_scenario: Callable[..., None],
    postgres_database: str,  # noqa: F811
    tmp_path: Path,
    policy: str,
) -> None:
    """Two homes that name the same schema have one list of pages: with pages that always want more, their loops
    together make the visits of the budget, and not twice as many. Both homes are sound, each with its own archive."""

    async def scenario(archiver: Archiver) -> None:
        home, _ = Home.create(tmp_path / "neighbour")
        nodes = [archiver.node, Node(home, archiver.settings, archiver.clock, make_parsers=archiver.make_parsers)]
        await watch_lively(archiver)
        until = archiver.clock.now() + DAYS * DAY_S

        async def run(node: Node) -> None:
            async with node.crawling() as loop:
                await loop.run(until)

        await asyncio.gather(*map(run, nodes))
        made = (await archiver.totals()).visits
        # What is saved at the start is a quarter of a day's.
        assert 0.75 * DAYS * PER_DAY <= made <= (DAYS + 0.25) * PER_DAY
        async with archiver.node.store() as store:
            (pace,) = [pace for pace in await store.budgets.states() if pace.name == "all"]
            assert pace.credit > -1e-9  # sums of fractions of a visit
            assert await store.maintenance.contradictions() == []
        assert all(any(node.home.archive.iterdir()) for node in nodes)  # both had their share
        for node in nodes:
            result = await node.check(repair=False, deep=True)
            assert (result.bad, result.dangling, result.lost) == (0, 0, 0), result.findings
            assert result.elsewhere > 0

    flags = (f"store.url={postgres_database}", "store.schema=together")
    run_scenario(scenario, *FLAGS, f"schedule.policy={policy}", *flags)


def test_what_a_dead_neighbour_took_comes_back(run_scenario: Callable[..., None], shared: str) -> None:
    """While a neighbour's portion is out nothing is visited; when its time is over, as much as it had taken."""

    async def scenario(archiver: Archiver) -> None:
        await watch_lively(archiver)
        start = archiver.clock.now()
        empty = BudgetState(name="all", price=0.05, credit=0.0, at=start)
        async with archiver.node.store() as store:
            await store.budgets.reserve("dead", start, start + DAY_S, lambda stands, own: [(empty, 3.0)])
        await archiver.run(DAY_S - 3600)
        assert (await archiver.totals()).visits == 0
        await archiver.run(2 * 3600)
        assert 3 <= (await archiver.totals()).visits <= 4

    flags = ("budget.total=0.5/day", "budget.carry_over=7d", *FLAGS[1:])
    run_scenario(scenario, *flags, "schedule.policy=dyn", f"store.url={shared}")


def test_a_page_that_a_neighbour_left_no_budget_for_is_given_back(
    run_scenario: Callable[..., None], shared: str
) -> None:
    """What was chosen by what memory says and cannot be paid for is due again at once, and held by nobody."""

    async def scenario(archiver: Archiver) -> None:
        await watch_lively(archiver)
        async with archiver.node.crawling() as loop:
            assert await loop.crawl() == 4
            now = archiver.clock.now() + DAY_S
            await archiver.clock.sleep_until(now)
            spent = BudgetState(name="all", price=0.05, credit=1.0, at=now)
            async with archiver.node.store() as store:
                await store.budgets.reserve("test", spent.at, spent.at, lambda states, held: [(spent, 0.0)])
            assert await loop.crawl() == 1
        assert (await archiver.totals()).in_flight == 0
        async with archiver.node.store() as store:
            assert await store.maintenance.contradictions() == []

    flags = ("budget.total=4/day", "budget.carry_over=1d", *FLAGS[1:])
    run_scenario(scenario, *flags, "schedule.policy=dyn", f"store.url={shared}")
