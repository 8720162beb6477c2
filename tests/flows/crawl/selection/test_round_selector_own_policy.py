"""A user's own value policy runs in the crawl loop like the built-in ones."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.flows.conftest import DAY_S, Archiver
from tests.flows.scripted_servers import reply
from webstrata.schedule.policy import Bounds
from webstrata.schedule.registry import budgeted_policy, is_budgeted
from webstrata.testing.policy import check_policy

OWN = '''
import numpy as np
from webstrata.columns import columns
from webstrata.schedule.policy import ValuePolicyBase


class Oldest(ValuePolicyBase):
    """The value is the age, and twice the age after a change."""

    name = "oldest"
    dtype = columns({"seen_at": np.float64, "changed": np.bool_})

    def start(self, n, now=0.0):
        state = np.zeros(n, dtype=self.dtype)
        state["seen_at"] = now
        return state

    def learn(self, state, rows, elapsed_days, changed, signals=None):
        state["seen_at"][rows] += elapsed_days
        state["changed"][rows] = changed

    def value(self, state, rows, now, signals=None):
        return (self.age(state, rows, now) * (1 + state["changed"][rows])).astype(np.float32)

    def explain(self, state, row, now=0.0, signals=None):
        return {"changed": bool(state["changed"][row])}
'''


@pytest.fixture
def own_module(tmp_path: Path) -> Iterator[str]:
    (tmp_path / "own_policy_here.py").write_text(OWN, encoding="utf-8")
    sys.path.insert(0, str(tmp_path))
    yield "own_policy_here"
    sys.path.remove(str(tmp_path))
    sys.modules.pop("own_policy_here", None)


def test_own_policy_in_the_loop(own_module: str, run_scenario: Callable[..., None]) -> None:
    """One class in one file passes the contract, and the loop visits its pages within the budget."""
    name = f"{own_module}:Oldest"
    assert is_budgeted(name)
    check_policy(budgeted_policy(name, Bounds()))

    async def scenario(archiver: Archiver) -> None:
        for n in range(4):
            archiver.servers.serve(f"http://a.test/{n}", reply(f"<p>{n}"))
        await archiver.watch(*[f"http://a.test/{n}" for n in range(4)])
        await archiver.run(10 * DAY_S)
        pages = (await archiver.pages()).values()
        assert {page.policy for page in pages} == {"oldest"}
        assert {page.visits for page in pages} <= {5, 6, 7}

    run_scenario(scenario, f"schedule.policy={name}", "budget.total=0.5/page/day", "crawl.round=1h")
