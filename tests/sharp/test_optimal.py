"""The optimal schedule: better than all others, below its bound, and exact for small sites."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webstrata.errors import UsageError
from webstrata.lab.sharp.laws import RATE_LAWS, pareto_weights
from webstrata.sharp import optimal as module
from webstrata.sharp.link_tree import link_tree
from webstrata.sharp.optimal import best_plan, best_revisits, optimal
from webstrata.sharp.schedule import SharpSchedule, expected_sharp, whole_lengths_of
from webstrata.sharp.solar import (
    hottest_middle,
    hottest_middle_online,
    sharc_threshold,
    shrink,
    solar_offline,
    solar_online,
)
from webstrata.sharp.survival import GammaSurvival, PoissonSurvival, mirror_curves, revisit_curves

RATES = st.lists(st.floats(0.0, 3.0, allow_subnormal=False), min_size=1, max_size=40)
FEW = st.lists(st.floats(0.0, 2.0, allow_subnormal=False), min_size=1, max_size=6)


@settings(max_examples=60, deadline=None)
@given(RATES)
def test_no_algorithm_is_better(rates: list[float]) -> None:
    """No other algorithm expects more sharp pages, and the plan is below its bound."""
    lengths, tree = whole_lengths_of(rates), link_tree({}, len(rates))
    solar = solar_offline(lengths)
    others = [hottest_middle(rates), sharc_threshold(rates), solar, shrink(solar)]
    others += [hottest_middle_online(rates, tree), solar_online(lengths, tree)]
    schedule, plan = optimal(rates)
    best = expected_sharp(schedule, rates)
    assert best == pytest.approx(plan.worth)
    assert best <= plan.bound + 1e-9
    assert all(expected_sharp(other, rates) <= best + 1e-9 for other in others)


@settings(max_examples=25, deadline=None)
@given(FEW, st.lists(st.floats(0.0, 9.0), min_size=6, max_size=6))
def test_exact_for_few_pages(rates: list[float], weights: list[float]) -> None:
    """For up to six weighted pages no mirror schedule is better."""
    weights = weights[: len(rates)]
    curves = mirror_curves(PoissonSurvival(rates), weights, None)
    every = (curves.total(np.array(order)) for order in permutations(range(len(rates))))
    assert optimal(rates, weights)[1].worth == pytest.approx(max(every), abs=1e-9)


def test_no_pair_of_orders_is_better() -> None:
    """Mirror schedules are optimal: no pair of visits and revisits of four weighted pages is better."""
    rates, weights = [0.05, 0.4, 0.9, 0.2], [1.0, 3.0, 0.5, 2.0]
    orders = [np.array(order) for order in permutations(range(4))]
    best = max(expected_sharp(SharpSchedule(one, other), rates, weights) for one in orders for other in orders)
    assert optimal(rates, weights)[1].worth == pytest.approx(best)


@settings(max_examples=30, deadline=None)
@given(RATES, st.integers(0, 2**32 - 1))
def test_order_of_pages_does_not_matter(rates: list[float], seed: int) -> None:
    """The order in which pages are given does not change the worth of the plan."""
    mixed = np.random.default_rng(seed).permutation(rates)
    assert optimal(mixed)[1].worth == pytest.approx(optimal(rates)[1].worth, abs=1e-9)


@settings(max_examples=25, deadline=None)
@given(FEW, st.lists(st.floats(0.0, 20.0), min_size=6, max_size=6))
def test_revisits_are_exact(rates: list[float], elapsed: list[float]) -> None:
    """For any visits no order of revisits is better."""
    curves = revisit_curves(PoissonSurvival(rates), None, elapsed[: len(rates)], None)
    every = (curves.total(np.array(order)) for order in permutations(range(len(rates))))
    assert best_plan(curves).worth == pytest.approx(max(every), abs=1e-9)


LAWS = {
    "lognormal": lambda random, count: np.exp(random.normal(-6.0, 2.0, count)),
    "uniform": lambda random, count: random.random(count) * 0.01,
    "half static": lambda random, count: np.where(
        random.random(count) < 0.5, 0.0, np.exp(random.normal(-6.0, 2.0, count))
    ),
    "all alike": lambda random, count: np.full(count, 0.01),
    "wild": lambda random, count: 10.0 ** random.uniform(-12.0, 3.0, count),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("law", LAWS)
def test_approximate_plans_are_near_their_bound(law: str, weighted: bool) -> None:
    """Sites too large for the exact plan get one within 0.2 % of its bound."""
    random = np.random.default_rng(5)
    rates = LAWS[law](random, 450)
    weights = random.pareto(1.5, 450) + 1.0 if weighted else None
    schedule, plan = optimal(rates, weights)
    assert expected_sharp(schedule, rates, weights) == pytest.approx(plan.worth)
    assert plan.worth <= plan.bound + 1e-9
    assert plan.worth >= 0.998 * plan.bound


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("law", RATE_LAWS)
def test_many_pages(law: str, weighted: bool) -> None:
    """The plan of a large site is within 0.01 % of its bound, whatever the law of its rates."""
    random = np.random.default_rng(6)
    rates = RATE_LAWS[law](5000, random)
    weights = pareto_weights(5000, random) if weighted else None
    schedule, plan = optimal(rates, weights)
    assert expected_sharp(schedule, rates, weights) == pytest.approx(plan.worth)
    assert 0.9999 * plan.bound <= plan.worth <= plan.bound + 1e-9


@pytest.mark.parametrize("law", ["uniform", "lognormal"])
def test_many_revisits(law: str) -> None:
    """Revisits after visits in an arbitrary order are within 0.01 % of their bound."""
    random = np.random.default_rng(7)
    plan = best_revisits(RATE_LAWS[law](2000, random), random.permutation(2000))
    assert 0.9999 * plan.bound <= plan.worth <= plan.bound + 1e-9


def test_nothing_of_worth() -> None:
    """Many pages without weight get a plan: every order is worth nothing."""
    plan = optimal(np.full(1600, 0.1), np.zeros(1600))[1]
    assert sorted(plan.order) == list(range(1600))
    assert (plan.worth, plan.bound) == (0.0, 0.0)


def test_uneven_slots() -> None:
    """With slots of different lengths the plan is exact, and the expectation uses the slot times."""
    rates, times = [0.02, 0.2, 0.5, 0.05], [0.0, 0.5, 4.0, 30.0]
    curves = mirror_curves(PoissonSurvival(rates), None, times)
    schedule, plan = optimal(rates, times=times)
    assert plan.worth == pytest.approx(max(curves.total(np.array(order)) for order in permutations(range(4))))
    assert expected_sharp(schedule, rates, times=times) == pytest.approx(plan.worth)


def test_uncertain_rates() -> None:
    """With Gamma posteriors the plan is exact; with large exposures it is the plan of exact rates."""
    shape, exposure = np.array([0.5, 2.0, 0.3, 4.0]), np.array([3.0, 9.0, 1.0, 5.0])
    curves = mirror_curves(GammaSurvival(shape, exposure), None, None)
    plan = best_plan(curves)
    assert plan.worth == pytest.approx(max(curves.total(np.array(order)) for order in permutations(range(4))))
    exact = optimal(shape / exposure)[1].worth
    assert optimal(GammaSurvival(shape * 1e9, exposure * 1e9))[1].worth == pytest.approx(exact, rel=1e-6)


def test_table() -> None:
    """The factored table of equal slots has the same numbers as the direct computation."""
    curves = revisit_curves(PoissonSurvival([0.0, 0.1, 5.0, 900.0]), [1.0, 2.0, 3.0, 4.0], [0.0, 1.0, 2.0, 9.0], None)
    pages = np.array([2, 0, 3, 1])
    assert curves.table(pages) == pytest.approx(curves.after(pages[:, None], curves.times[None, :]), abs=1e-15)


def test_one_page() -> None:
    """A single page is downloaded once and is certainly sharp."""
    schedule, plan = optimal([3.0])
    assert (schedule.visits.tolist(), plan.worth, plan.bound) == ([0], 1.0, 1.0)
    assert module.EXACT_UP_TO > 1


@pytest.mark.parametrize(
    ("rates", "weights", "says"),
    [
        ([], None, "at least one page"),
        ([0.1, float("nan")], None, "page 1 has the rate nan"),
        ([-1.0], None, "0 or more"),
        ([float("inf")], None, "finite"),
        (["x"], None, "numbers"),
        ([0.1, 0.2], [1.0], "1 weights for 2 pages"),
        ([0.1], [float("nan")], "weight"),
        ([0.1], [-2.0], "weight"),
    ],
)
def test_bad_input(rates: list[float], weights: list[float] | None, says: str) -> None:
    """Invalid rates and weights raise an error that names the problem."""
    with pytest.raises(UsageError, match=says):
        optimal(rates, weights)


@pytest.mark.parametrize("times", [[0.0], [1.0, 0.5], [-1.0, 0.0], [0.0, float("nan")]])
def test_bad_times(times: list[float]) -> None:
    """Slot times must rise from the instant outwards, one for each page."""
    with pytest.raises(UsageError, match=r"(?i)slot"):
        optimal([0.1, 0.2], times=times)
    with pytest.raises(UsageError, match="visit"):
        best_revisits([0.1, 0.2], [1.0, -1.0])
