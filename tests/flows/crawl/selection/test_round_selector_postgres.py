"""The loop under `value` on PostgreSQL: the same chosen pages, budgets and restarts."""

from __future__ import annotations

from collections.abc import Callable

from tests.flows.conftest import DAY_S, Archiver
from tests.flows.scripted_servers import reply
from tests.remember.conftest import postgres, postgres_database  # noqa: F401 - fixtures


def test_value_lives_on_postgresql(run_scenario: Callable[..., None], postgres_database: str) -> None:  # noqa: F811
    """Twelve days in two runs: lively pages get most, the budget holds, a tag's own budget too."""

    async def scenario(archiver: Archiver) -> None:
        for n in range(3):
            archiver.servers.serve(
                f"http://a.test/{n}", lambda request: reply(f"<p>edition {int(request.at // 21_600)} of it")
            )
            archiver.servers.serve(f"http://b.test/{n}", reply("<p>the same for ever"))
        await archiver.watch(*[f"http://a.test/{n}" for n in range(3)])
        await archiver.watch(*[f"http://b.test/{n}" for n in range(3)], tags=("still",))
        await archiver.run(6 * DAY_S)
        await archiver.run(6 * DAY_S)
        made = {host: sum([len(await archiver.visits(f"http://{host}.test/{n}")) for n in range(3)]) for host in "ab"}
        assert made["a"] > made["b"]
        assert made["b"] <= 3 + 0.5 * 12 + 1
        assert 6 < sum(made.values()) <= 6 + 6 * 12.5
        async with archiver.node.store() as store:
            assert {pace.name for pace in await store.budgets.states()} == {"all", "tag:still"}
            assert set(await store.budgets.site_states()) == {"a.test", "b.test"}

    flags = ("schedule.policy=value", "budget.total=1/page/day", "budget.tags=still=0.5/day", "crawl.round=1h")
    run_scenario(scenario, *flags, f"store.url={postgres_database}")
