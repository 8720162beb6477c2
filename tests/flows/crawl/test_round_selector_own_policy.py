"""Policies by name: ours keep their contract, and a user's own class runs like them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from webstrata.schedule.registry import budgeted_names, budgeted_policy, is_budgeted

from tests.flows.conftest import DAY_S, Life
from tests.flows.town import reply
from webstrata.errors import BadSettings
from webstrata.schedule.policy import Bounds
from webstrata.testing.policy import check_policy

OWN = '''
import numpy as np
from webstrata.columns import columns


class Oldest:
    """Worth its age, and twice that after a change."""

    name = "oldest"
    dtype = columns({"seen_at": np.float64, "changed": np.bool_})

    def __init__(self, bounds):
        self.bounds = bounds

    def start(self, n, now=0.0):
        state = np.zeros(n, dtype=self.dtype)
        state["seen_at"] = now
        return state

    def learn(self, state, rows, elapsed_days, changed, signals=None):
        state["seen_at"][rows] += elapsed_days
        state["changed"][rows] = changed

    def age(self, state, rows, now):
        return np.maximum(now - state["seen_at"][rows], 0.0)

    def value(self, state, rows, now, signals=None):
        return (self.age(state, rows, now) * (1 + state["changed"][rows])).astype(np.float32)

    def explain(self, state, row, now=0.0, signals=None):
        return {"changed": bool(state["changed"][row])}


class Half:
    name = "half"

    def __init__(self, bounds):
        self.bounds = bounds

    value = None
'''


@pytest.fixture
def own_module(tmp_path: Path) -> Iterator[str]:
    (tmp_path / "own_policy_here.py").write_text(OWN, encoding="utf-8")
    sys.path.insert(0, str(tmp_path))
    yield "own_policy_here"
    sys.path.remove(str(tmp_path))
    sys.modules.pop("own_policy_here", None)


@pytest.mark.parametrize("name", budgeted_names())
def test_ours_keep_the_contract(name: str) -> None:
    """Every budgeted policy passes what a user's own must pass."""
    check_policy(budgeted_policy(name))


def test_a_policy_of_ones_own_keeps_it_and_runs(own_module: str, live: Callable[..., None]) -> None:
    """One class in one file: checked by the contract, run by the loop like ours."""
    name = f"{own_module}:Oldest"
    assert is_budgeted(name)
    check_policy(budgeted_policy(name, Bounds()))

    async def scenario(life: Life) -> None:
        for n in range(4):
            life.town.play(f"http://a.test/{n}", reply(f"<p>{n}"))
        await life.watch(*[f"http://a.test/{n}" for n in range(4)])
        await life.run(10 * DAY_S)
        pages = (await life.pages()).values()
        assert {page.policy for page in pages} == {"oldest"}
        assert {page.visits for page in pages} <= {5, 6, 7}

    live(scenario, f"schedule.policy={name}", "budget.total=0.5/page/day", "crawl.round=1h")


def test_half_a_policy_is_refused(own_module: str) -> None:
    """What is missing is named."""
    with pytest.raises(BadSettings, match="lacks dtype, start, learn, age, explain"):
        budgeted_policy(f"{own_module}:Half")
