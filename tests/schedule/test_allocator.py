"""The allocator."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct

from webstrata.errors import BadSettings
from webstrata.schedule.allocator import EvenShare, choose, usable_weights
from webstrata.schedule.policy import Bounds

BOUNDS = Bounds()


def test_best_first_within_the_bounds() -> None:
    """The most valuable pages are chosen, none within its shortest interval, and overdue pages first."""
    values = np.array([0.1, 0.9, 0.5, 0.7, 0.01], dtype=np.float32)
    age = np.array([5.0, 0.5, 5.0, 5.0, 180.0])

    assert choose(values, age, 3, BOUNDS).tolist() == [4, 3, 2]
    assert choose(values, age, 9, BOUNDS).tolist() == [4, 3, 2, 0]
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

    rank = np.where(age >= 180, 1e9 * age / 180, values).astype(np.float32)
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


@given(st.floats(0, 500), st.integers(1, 200))
def test_even_shares_add_up(per_day: float, days: int) -> None:
    """Fractions are carried over: after any number of days less than one visit is left."""
    share = EvenShare(per_step=per_day)

    given_out = sum(share.next_step() for _ in range(days))

    assert per_day * days - 1.001 <= given_out <= per_day * days + 0.001


def test_overdue_pages_in_the_order_of_their_own_limits() -> None:
    """A page that exceeds its limit of three hours by a factor of two comes before one that is a day over a month."""
    values = np.ones(4, dtype=np.float32)
    age = np.array([6 / 24, 31.0, 4 / 24, 2 / 24])
    limits = _OwnLimits(min_days=np.zeros(4), max_days=np.array([3 / 24, 30.0, 3 / 24, 3 / 24]))

    assert choose(values, age, 4, limits).tolist() == [0, 2, 1, 3]


class _OwnLimits(Struct):
    min_days: np.ndarray
    max_days: np.ndarray


def test_nobody_starves_under_limits_that_the_budget_cannot_keep() -> None:
    """Ten pages with a limit of three hours and a budget for half of that: all are seen equally often."""
    age, visits = np.zeros(10), np.zeros(10)
    limits = _OwnLimits(min_days=np.zeros(10), max_days=np.full(10, 3 / 24))
    values = np.linspace(0.1, 0.9, 10).astype(np.float32)
    for hour in range(1, 24 * 7 + 1):
        age += 1 / 24
        rows = choose(values, age, 2 if hour % 3 else 1, limits)
        visits[rows] += 1
        age[rows] = 0.0

    assert visits.max() - visits.min() <= 2, "the first hours, in which no page is overdue yet, differ"
