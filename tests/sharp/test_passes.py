"""Passes whose downloads take different times: orders near the optimum, below their bound, and further passes."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from webstrata.errors import UsageError
from webstrata.sharp.optimal import best_revisits, optimal
from webstrata.sharp.passes import (
    PassPages,
    further_pass,
    in_order,
    revisits,
    start_times,
    uneven_mirror,
    uneven_revisits,
)
from webstrata.sharp.survival import PoissonSurvival, Survival, survival_of_beliefs


def _pages(seed: int, count: int = 6) -> tuple[Survival, np.ndarray, np.ndarray]:
    """Pages of which some are slow and some have uncertain rates; their weights and durations."""
    random = np.random.default_rng(seed)
    shapes = np.where(random.random(count) < 0.5, np.inf, random.uniform(0.2, 3.0, count))
    durations = np.where(random.random(count) < 0.4, random.uniform(5.0, 40.0, count), 2.0)
    survival = survival_of_beliefs(np.exp(random.normal(-3.0, 1.5, count)), shapes)
    return survival, random.uniform(0.5, 2.0, count), durations


def _worth(survival: Survival, weights: np.ndarray, spans: np.ndarray) -> float:
    return float(np.dot(weights, survival.unchanged(np.arange(survival.count), spans)))


@pytest.mark.parametrize("seed", range(12))
def test_near_the_best_of_all_orders(seed: int) -> None:
    """For six pages, no order of visits is better by more than one percent, and none is above the bound."""
    survival, weights, durations = _pages(seed)
    plan = uneven_mirror(survival, weights, durations)
    every = [
        _worth(survival, weights, 2 * start_times(durations, np.array(order), 0.0)) for order in permutations(range(6))
    ]
    assert plan.worth == pytest.approx(_worth(survival, weights, 2 * start_times(durations, plan.order, 0.0)))
    assert 0.99 * max(every) <= plan.worth <= max(every) + 1e-9 <= plan.bound + 2e-9


@pytest.mark.parametrize("seed", range(12))
def test_revisits_near_the_best_of_all_orders(seed: int) -> None:
    """The same for revisits after visits at random times."""
    survival, weights, durations = _pages(seed)
    elapsed = np.random.default_rng(seed).uniform(0.0, 30.0, 6)
    plan = uneven_revisits(survival, elapsed, weights, durations, 2.0)
    every = [
        _worth(survival, weights, elapsed + start_times(durations, np.array(order), 2.0))
        for order in permutations(range(6))
    ]
    assert 0.99 * max(every) <= plan.worth <= max(every) + 1e-9 <= plan.bound + 2e-9


def test_no_pair_of_orders_is_better() -> None:
    """Mirror orders are optimal for different durations too: no pair of orders of four pages is better."""
    survival, weights, durations = _pages(3, 4)
    orders = [start_times(durations, np.array(order), 0.0) for order in permutations(range(4))]
    best = max(_worth(survival, weights, one + other) for one in orders for other in orders)
    assert uneven_mirror(survival, weights, durations).worth == pytest.approx(best, rel=0.01)


def test_equal_durations() -> None:
    """With equal durations, visits and revisits have the plan of equal slots."""
    rates = np.exp(np.random.default_rng(1).normal(-3.0, 1.5, 30))
    assert uneven_mirror(rates, None, np.full(30, 2.0)).worth == pytest.approx(optimal(2.0 * rates)[1].worth)
    elapsed = np.arange(30.0)
    even = best_revisits(rates, elapsed, None, 2.0 * (np.arange(30) + 1.0))
    assert uneven_revisits(rates, elapsed, None, np.full(30, 2.0), 2.0).worth == pytest.approx(even.worth)


def test_many_pages_gain() -> None:
    """On a site of 300 pages, one in ten slow, the order is much better than one that ignores the durations."""
    random = np.random.default_rng(4)
    rates, durations = np.exp(random.normal(-7.0, 1.5, 300)), np.where(random.random(300) < 0.1, 30.0, 2.0)
    plan = uneven_mirror(rates, None, durations)
    blind = optimal(rates * durations.mean())[1].order
    unaware = _worth(
        survival_of_beliefs(rates, np.full(300, np.inf)), np.ones(300), 2 * start_times(durations, blind, 0.0)
    )
    assert plan.worth > 1.05 * unaware
    assert plan.worth <= plan.bound


def test_bad_input() -> None:
    """A wrong number of durations and negative durations raise an error."""
    with pytest.raises(UsageError, match="a duration"):
        uneven_mirror([0.1, 0.2], None, [1.0])
    with pytest.raises(UsageError):
        uneven_mirror([0.1, 0.2], None, [1.0, -1.0])


def pass_pages(rates: list[float], slot_s: float = 2.0) -> PassPages:
    """Pages of equal duration and weight."""
    return PassPages(PoissonSurvival(rates), np.ones(len(rates)), np.full(len(rates), slot_s))


def worth(rates: list[float], elapsed: list[float], order: tuple[int, ...], slot_s: float) -> float:
    return sum(np.exp(-rates[page] * (elapsed[page] + slot_s * (index + 1))) for index, page in enumerate(order))


def test_hot_pages_are_revisited_first() -> None:
    """With equal times since their visits, the page with the highest rate is revisited first."""
    plan = revisits(pass_pages([1e-4, 1e-2, 1e-3]), [10.0, 10.0, 10.0])
    assert (plan.before, plan.after) == ((), (1, 2, 0))
    assert plan.worth == pytest.approx(worth([1e-4, 1e-2, 1e-3], [10.0] * 3, plan.after, 2.0))
    assert plan.worth == pytest.approx(plan.chances.sum())


def test_a_few_blurred_pages_are_downloaded_before_too() -> None:
    """A few blurred hot pages are downloaded just before the new instant and first after it."""
    rates, elapsed = [0.02] * 2 + [1e-6] * 30, [60.0] * 32
    plan = further_pass(pass_pages(rates), elapsed, [0, 1])
    assert sorted(plan.before) == [0, 1]
    assert set(plan.after[:2]) == {0, 1}
    assert sorted(plan.after) == list(range(32))
    assert plan.worth > revisits(pass_pages(rates), elapsed).worth


def test_many_blurred_pages_are_not() -> None:
    """If the delay would cost the other pages more, all pages are revisited at once."""
    rates, elapsed = [1e-3] * 20, [2.0] * 20
    plan = further_pass(pass_pages(rates), elapsed, list(range(10)))
    assert plan.before == ()
    assert plan.after == revisits(pass_pages(rates), elapsed).after


def test_nothing_blurred() -> None:
    """Without blurred pages nothing is downloaded before the instant."""
    assert further_pass(pass_pages([1e-3, 1e-4], 1.0), [5.0, 5.0], []).before == ()


def test_a_slow_page_comes_last() -> None:
    """A page whose download takes a minute is revisited after pages that take two seconds."""
    rates, durations = [1e-3, 1e-3, 1e-3], np.array([60.0, 2.0, 2.0])
    slow = PassPages(PoissonSurvival(rates), np.ones(3), durations)
    plan = revisits(slow, [10.0, 10.0, 10.0])
    assert plan.after[-1] == 0
    assert plan.chances[0] == pytest.approx(np.exp(-1e-3 * (10.0 + 2.0 + 4.0)))
    assert plan.worth > in_order(slow, [10.0, 10.0, 10.0], [0, 1, 2]).worth


def test_uncertain_rates_survive_long_spans() -> None:
    """Of two pages with the same mean rate, the one with the uncertain rate has the greater chance over a long span."""
    uncertain = PassPages(survival_of_beliefs([1e-2, 1e-2], [np.inf, 0.2]), np.ones(2), np.full(2, 2.0))
    plan = revisits(uncertain, [300.0, 300.0])
    assert plan.chances[1] > 3 * plan.chances[0]
