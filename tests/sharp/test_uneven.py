"""Pages that take longer than others: near the best of all orders, below a bound, and the plan of even slots where all
take the same."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from webstrata.errors import UsageError
from webstrata.sharp.optimal import best_revisits, optimal
from webstrata.sharp.survival import Survival, believed
from webstrata.sharp.passes import uneven_mirror
from webstrata.sharp.passes import uneven_revisits
from webstrata.sharp.passes import waits


def _pages(seed: int, count: int = 6) -> tuple[Survival, np.ndarray, np.ndarray]:
    """Pages of which some are slow and some are hardly known; their weights and times."""
    random = np.random.default_rng(seed)
    shapes = np.where(random.random(count) < 0.5, np.inf, random.uniform(0.2, 3.0, count))
    lasts = np.where(random.random(count) < 0.4, random.uniform(5.0, 40.0, count), 2.0)
    survival = believed(np.exp(random.normal(-3.0, 1.5, count)), shapes)
    return survival, random.uniform(0.5, 2.0, count), lasts


def _worth(survival: Survival, weights: np.ndarray, spans: np.ndarray) -> float:
    return float(np.dot(weights, survival.unchanged(np.arange(survival.count), spans)))


@pytest.mark.parametrize("seed", range(12))
def test_near_the_best_of_all_orders(seed: int) -> None:
    """Of six pages no order of visits is better by more than a hundredth, nor is any above the bound."""
    survival, weights, lasts = _pages(seed)
    plan = uneven_mirror(survival, weights, lasts)
    every = [_worth(survival, weights, 2 * waits(lasts, np.array(one), 0.0)) for one in permutations(range(6))]
    assert plan.worth == pytest.approx(_worth(survival, weights, 2 * waits(lasts, plan.order, 0.0)))
    assert 0.99 * max(every) <= plan.worth <= max(every) + 1e-9 <= plan.bound + 2e-9


@pytest.mark.parametrize("seed", range(12))
def test_revisits_near_the_best_of_all_orders(seed: int) -> None:
    """The same for revisits after visits at any time."""
    survival, weights, lasts = _pages(seed)
    heads = np.random.default_rng(seed).uniform(0.0, 30.0, 6)
    plan = uneven_revisits(survival, heads, weights, lasts, 2.0)
    every = [_worth(survival, weights, heads + waits(lasts, np.array(one), 2.0)) for one in permutations(range(6))]
    assert 0.99 * max(every) <= plan.worth <= max(every) + 1e-9 <= plan.bound + 2e-9


def test_no_pair_of_orders_is_better() -> None:
    """Mirror orders suffice where pages take different times too: of all pairs of four pages none is better."""
    survival, weights, lasts = _pages(3, 4)
    orders = [waits(lasts, np.array(one), 0.0) for one in permutations(range(4))]
    best = max(_worth(survival, weights, one + other) for one in orders for other in orders)
    assert uneven_mirror(survival, weights, lasts).worth == pytest.approx(best, rel=0.01)


def test_even_pages_are_planned_as_ever() -> None:
    """Where all take the same time it is the plan of even slots, visits and revisits."""
    rates = np.exp(np.random.default_rng(1).normal(-3.0, 1.5, 30))
    assert uneven_mirror(rates, None, np.full(30, 2.0)).worth == pytest.approx(optimal(2.0 * rates)[1].worth)
    heads = np.arange(30.0)
    even = best_revisits(rates, heads, None, 2.0 * (np.arange(30) + 1.0))
    assert uneven_revisits(rates, heads, None, np.full(30, 2.0), 2.0).worth == pytest.approx(even.worth)


def test_many_pages_gain() -> None:
    """On a site of 300 pages, one in ten slow, the order gains much over one that does not know who is slow."""
    random = np.random.default_rng(4)
    rates, lasts = np.exp(random.normal(-7.0, 1.5, 300)), np.where(random.random(300) < 0.1, 30.0, 2.0)
    plan = uneven_mirror(rates, None, lasts)
    blind = optimal(rates * lasts.mean())[1].order
    unaware = _worth(believed(rates, np.full(300, np.inf)), np.ones(300), 2 * waits(lasts, blind, 0.0))
    assert plan.worth > 1.05 * unaware
    assert plan.worth <= plan.bound


def test_bad_input() -> None:
    """Times of other pages, and less than none, are refused."""
    with pytest.raises(UsageError, match="one time"):
        uneven_mirror([0.1, 0.2], None, [1.0])
    with pytest.raises(UsageError):
        uneven_mirror([0.1, 0.2], None, [1.0, -1.0])
