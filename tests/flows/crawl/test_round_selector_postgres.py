"""The loop under `value` on PostgreSQL: the same chosen pages, budgets and restarts."""

from __future__ import annotations

from collections.abc import Callable

from tests.flows.conftest import DAY_S, Life
from tests.flows.town import reply
from tests.remember.conftest import postgres, postgres_url  # noqa: F401 - fixtures


def test_value_lives_on_postgresql(live: Callable[..., None], postgres_url: str) -> None:  # noqa: F811
    """Twelve days in two runs: lively pages get most, the budget holds, a tag's own budget too."""

    async def scenario(life: Life) -> None:
        for n in range(3):
            life.town.play(f"http://a.test/{n}", lambda asked: reply(f"<p>edition {int(asked.at // 21_600)} of it"))
            life.town.play(f"http://b.test/{n}", reply("<p>the same for ever"))
        await life.watch(*[f"http://a.test/{n}" for n in range(3)])
        await life.watch(*[f"http://b.test/{n}" for n in range(3)], tags=("still",))
        await life.run(6 * DAY_S)
        await life.run(6 * DAY_S)
        made = {host: sum([len(await life.visits(f"http://{host}.test/{n}")) for n in range(3)]) for host in "ab"}
        assert made["a"] > made["b"]
        assert made["b"] <= 3 + 0.5 * 12 + 1
        assert 6 < sum(made.values()) <= 6 + 6 * 12.5
        async with life.node.store() as store:
            assert {pace.name for pace in await store.budgets.states()} == {"all", "tag:still", "threshold"}
            assert set(await store.budgets.site_states()) == {"a.test", "b.test"}

    flags = ("schedule.policy=value", "budget.total=1/page/day", "budget.tags=still=0.5/day", "crawl.round=1h")
    live(scenario, *flags, f"store.url={postgres_url}")
