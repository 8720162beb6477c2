from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webstrata.errors import BadSettings
from webstrata.schedule.policy import Bounds
from webstrata.schedule.registry import names, policy
from webstrata.schedule.textbook.adaptive import Dyn
from webstrata.testing.policy import check_policy


@pytest.mark.parametrize("name", names("timer"))
@given(
    seed=st.integers(0, 10_000),
    bounds=st.tuples(st.floats(0.001, 1000), st.floats(0.001, 1000)).map(sorted),
    start=st.floats(0.0001, 5000),
)
@settings(max_examples=2, deadline=None)
def test_every_policy_keeps_the_contract(name: str, seed: int, bounds: list[float], start: float) -> None:
    """Every built-in timer policy keeps the contract, whatever the bounds."""
    made = policy(name, Bounds(min_days=bounds[0], max_days=bounds[1], start_days=start))
    check_policy(made, min_days=bounds[0], max_days=bounds[1], seed=seed)


class _Greedy(Dyn):
    """Its interval depends on the number of rows."""

    def interval(self, state: np.ndarray, rows: np.ndarray) -> np.ndarray:
        return self.bounds.clamp(super().interval(state, rows) / len(rows))


class _Unbounded(Dyn):
    def interval(self, state: np.ndarray, rows: np.ndarray) -> np.ndarray:
        return state["interval"][rows] * 1000


class _Careless(Dyn):
    """Changes rows that it was not given."""

    def learn(self, state: np.ndarray, rows: np.ndarray, elapsed_days: np.ndarray, changed: np.ndarray) -> None:
        super().learn(state, rows, elapsed_days, changed)
        state["interval"] *= 0.99


class _Spoiling(Dyn):
    def learn(self, state: np.ndarray, rows: np.ndarray, elapsed_days: np.ndarray, changed: np.ndarray) -> None:
        super().learn(state, rows, elapsed_days, changed)
        elapsed_days *= 2


@pytest.mark.parametrize("broken", [_Greedy, _Unbounded, _Careless, _Spoiling])
def test_the_contract_catches_broken_policies(broken: type[Dyn]) -> None:
    """A policy that breaks the contract does not pass."""
    with pytest.raises(AssertionError):
        check_policy(broken())


@pytest.mark.parametrize(
    ("low", "high"), [(0.0, 1.0), (-1.0, 1.0), (2.0, 1.0), (1.0, float("inf")), (float("nan"), 1.0)]
)
def test_bounds_must_make_sense(low: float, high: float) -> None:
    """Impossible bounds are refused."""
    with pytest.raises(BadSettings):
        Bounds(min_days=low, max_days=high)
