"""The compiled kernel of `predict` against its twin in NumPy and SciPy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from webstrata.predict.activity import POOLED, Activity, Belief
from webstrata.predict.poisson import irregular_rate
from webstrata.predict.visit_history import visit_history


def forecast(belief: Belief, days: int) -> list[float]:
    """Day by day, as it is written: unchanged, first change tomorrow, rate tomorrow, days with a fresh copy."""
    chance = np.array(POOLED.chance)
    moves = np.zeros((10, 10))
    for level, row in enumerate(POOLED.moves):
        moves[level, list(row)] = list(row.values())
        moves[level, level] = 1.0 - sum(row.values())
    every, none, fresh = belief.astype(np.float64), belief.astype(np.float64), 0.0
    for _ in range(days):
        fresh += none.sum()
        every, none = every @ moves, (none @ moves) * (1.0 - chance)
    return [none.sum(), none.sum() - ((none @ moves) * (1.0 - chance)).sum(), every @ moves @ chance, fresh]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 400), st.integers(0, 9)), min_size=1, max_size=20), st.integers(0, 2**32 - 1))
def test_forecasts_are_those_of_living_day_by_day(asked: list[tuple[int, int]], seed: int) -> None:
    """For any rows in any order, of beliefs that lie among other columns, the kernel gives what the days would."""
    pages = np.zeros(10, dtype=[("before", np.uint8), ("levels", np.float32, (10,)), ("behind", np.float64)])
    pages["levels"] = np.random.default_rng(seed).dirichlet(np.ones(10), 10)
    days, rows = (np.array(column) for column in zip(*asked, strict=True))

    found = np.column_stack(Activity().outlook(pages["levels"], days, rows))

    wanted = np.array([forecast(pages["levels"][row], day) for day, row in asked])
    assert found == pytest.approx(wanted, rel=2e-4, abs=1e-6)


@pytest.mark.parametrize("row", [-1, 3, 2**40])
def test_rows_that_are_none(row: int) -> None:
    """A row beyond the beliefs is an error and never read."""
    activity = Activity()
    with pytest.raises(IndexError, match="3 beliefs"):
        activity.outlook(activity.start(3), np.array([1, 1]), np.array([0, row]))


def test_columns_that_do_not_fit() -> None:
    """Beliefs of another number of levels, and rows without days, are errors before anything is read."""
    activity = Activity()
    with pytest.raises(ValueError, match="10 levels"):
        activity.outlook(np.ones((2, 9), dtype=np.float32), np.array([1, 1]))
    with pytest.raises(ValueError, match="its days"):
        activity.outlook(activity.start(3), np.array([1]), np.array([0, 1]))


@pytest.mark.parametrize("days", [400, 401, 32_767, 10**9])
def test_days_beyond_the_last(days: int) -> None:
    """Time is told apart up to the longest, and no number of days is too large."""
    activity = Activity()
    assert activity.outlook(activity.start(1), np.array([days])) == activity.outlook(activity.start(1), np.array([400]))


@pytest.mark.parametrize("number", [1, 3, 4, 5, 255, 256, 257, 700])
@pytest.mark.parametrize("longest", [1e-3, 1.0, 60.0, 5000.0])
def test_rates_are_those_of_brent(number: int, longest: float) -> None:
    """However many intervals with a change a page has, and of whatever lengths, its rate is the root of eq. 5."""
    random = np.random.default_rng(number)
    lengths = random.uniform(1e-3 * longest, longest, number + 2)
    changed = np.arange(number + 2) < number
    each, still = lengths[changed], float(lengths[~changed].sum())

    found = irregular_rate(visit_history([0, number + 2], lengths, changed))[0]

    low, high = number / (still + each.sum() / 2), number / still
    wanted = brentq(
        lambda rate: math.fsum(each / np.expm1(np.minimum(rate * each, 700))) - still,
        *(low * (1 - 1e-9), high * (1 + 1e-9)),
        xtol=1e-300,
        rtol=1e-14,
    )
    assert found == pytest.approx(wanted, rel=1e-10)
