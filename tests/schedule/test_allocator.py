"""The allocator."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webstrata.errors import BadSettings
from webstrata.schedule.allocator import BudgetPacer, EvenShare, choose, list_worth, usable_weights
from webstrata.schedule.policy import Bounds

BOUNDS = Bounds()


def test_best_first_within_the_bounds() -> None:
    """The most valuable pages are chosen, none within its shortest interval, and overdue pages first."""
    values = np.array([0.1, 0.9, 0.5, 0.7, 0.01], dtype=np.float32)
    age = np.array([5.0, 0.5, 5.0, 5.0, 180.0])

    assert choose(values, age, 3, BOUNDS).tolist() == [4, 3, 2]
    assert choose(values, age, 9, BOUNDS, price=0.3).tolist() == [4, 3, 2]
    assert choose(values, age, 0, BOUNDS).tolist() == []
    assert choose(values[:0], age[:0], 5, BOUNDS).tolist() == []


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 3000), st.integers(0, 400), st.integers(0, 2**32 - 1))
def test_the_same_as_sorting_everything(pages: int, count: int, seed: int) -> None:
    """The fast selection equals that of a full sort, and never exceeds the count."""
    random = np.random.default_rng(seed)
    values = random.random(pages, dtype=np.float32)
    age = random.integers(0, 200, pages).astype(np.float64)

    rows = choose(values, age, count, BOUNDS)

    rank = np.where(age >= 180, 1e9 + age, values).astype(np.float32)
    allowed = np.flatnonzero(age >= 1)
    best = np.sort(rank[allowed])[::-1][:count]
    assert rank[rows].tolist() == best.tolist()
    assert len(set(rows.tolist())) == len(rows)


def test_a_million_pages_and_few_to_choose() -> None:
    """Sampling leaves out none of the best pages, even if thousands have the same value."""
    values = np.round(np.random.default_rng(2).random(300_000, dtype=np.float32), 3)

    rows = choose(values, np.full(len(values), 9.0), 1000, BOUNDS)

    assert sorted(values[rows].tolist()) == np.sort(values)[-1000:].tolist()


@pytest.mark.parametrize("weight", [float("nan"), float("inf"), -1.0])
def test_weights_that_mean_nothing(weight: float) -> None:
    """Weights below 0, infinite or NaN are refused."""
    with pytest.raises(BadSettings, match="weight"):
        usable_weights(np.array([1.0, weight]))


@pytest.mark.parametrize("budget", [float("nan"), float("inf"), -1.0])
def test_budgets_that_cannot_be_kept(budget: float) -> None:
    """Budgets below 0, infinite or NaN are refused; a budget of 0 pays for nothing."""
    with pytest.raises(BadSettings, match="budget"):
        BudgetPacer(per_day=budget)
    assert BudgetPacer(per_day=0.0).allowance(100.0) == 0


def _spend(pace: BudgetPacer, interval: np.ndarray, age: np.ndarray, days: int) -> list[int]:
    """Visits per day of pages whose value grows with their age, with hourly rounds."""
    spent = []
    for _ in range(days):
        today = 0
        for _ in range(24):
            age += 1 / 24
            values = (age / (age + interval)).astype(np.float32)
            rows = choose(values, age, pace.allowance(1 / 24), BOUNDS, price=pace.price)
            pace.spent(len(rows))
            age[rows] = 0.0
            today += len(rows)
        spent.append(today)
    return spent


def test_spending_follows_the_budget_smoothly() -> None:
    """Thousands of new pages or another budget change the price; the spending stays at the budget."""
    random = np.random.default_rng(1)
    interval, pace = random.uniform(5, 60, 500), BudgetPacer(per_day=48.0)
    age = random.uniform(1, 30, 500)
    before = _spend(pace, interval, age, 40)
    low = pace.price

    interval, age = np.r_[interval, random.uniform(5, 60, 2000)], np.r_[age, np.full(2000, 1.0)]
    flooded = _spend(pace, interval, age, 40)
    high = pace.price
    pace.per_day = 96.0
    doubled = _spend(pace, interval, age, 40)

    for spent, budget in ((before[10:], 48), (flooded, 48), (doubled[1:], 96)):
        assert max(spent) <= budget * 1.3
        assert min(spent) >= budget * 0.6
        assert sum(spent) == pytest.approx(budget * len(spent), rel=0.05)
    assert high > low
    assert pace.price < high


@given(st.floats(0, 500), st.integers(1, 200))
def test_even_shares_add_up(per_day: float, days: int) -> None:
    """Fractions are carried over: after any number of days less than one visit is left."""
    share = EvenShare(per_step=per_day)

    given_out = sum(share.next_step() for _ in range(days))

    assert per_day * days - 1.001 <= given_out <= per_day * days + 0.001


def test_what_a_list_is_worth() -> None:
    """A list is worth the changes that it reveals beyond their cost; a list of all or no pages is worth nothing."""
    changed = np.array([0.2, 0.2, 0.2, 0.2])
    precision, recall = np.array([0.98, 0.98, 0.02, 0.98]), np.array([0.98, 0.49, 0.9, 0.0])
    noise = np.array([0.0, 0.0, 50.0, 0.0])

    good, half, noisy, silent = list_worth(changed, precision, recall, noise, price=0.3)

    assert good == pytest.approx(0.98 * 0.2 * (0.984 - 0.3), abs=1e-6)
    assert good > half > 0.05
    assert noisy == pytest.approx(0.0, abs=1e-6)
    assert silent == 0.0
