from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from webstrata.predict.poisson import irregular, irregular_rate, naive, regular
from webstrata.predict.visit_history import VisitHistory, visit_history


def history(updated: list[float], still: list[float]) -> VisitHistory:
    return visit_history([0, len(updated) + len(still)], updated + still, [True] * len(updated) + [False] * len(still))


# intervals that saw a change | that saw none -> rate by eq. 5 (eq. 4 where all did)
WORKED = [
    ([7], [7], 0.099021),
    ([1, 2, 3], [4, 5], 0.256340),
    ([10, 30], [5, 5, 5, 60], 0.021454),
    ([0.5, 90], [1, 2, 3], 0.160087),
    ([100, 100, 100], [1], 0.057071),
    ([], [30, 30], 0.0),
    ([14, 14, 14], [], 0.138994),
]


@pytest.mark.parametrize(("updated", "still", "rate"), WORKED)
def test_worked_rates(updated: list[float], still: list[float], rate: float) -> None:
    """The rate equals the one worked out by hand, to six digits, and is in its interval."""
    found = irregular(history(updated, still))
    assert round(float(found.rate[0]), 6) == rate
    assert found.low[0] <= found.rate[0] <= found.high[0]


def test_half_of_equal_intervals() -> None:
    """A change in one of two equal intervals is ln 2 per interval."""
    assert irregular_rate(history([7.0], [7.0]))[0] == pytest.approx(math.log(2) / 7, rel=1e-12)


@pytest.mark.parametrize(
    ("updated", "still", "rate"),
    [([1.0], [1.0], math.log(2.5 / 1.5)), ([], [5.0], 0.0), ([14.0] * 3, [], 0.138994)],
)
def test_regular_rate(updated: list[float], still: list[float], rate: float) -> None:
    """The rate is -ln((n - X + .5) / (n + .5)) divided by the mean interval."""
    assert regular(history(updated, still)).rate[0] == pytest.approx(rate, abs=5e-7)


def test_naive_rate() -> None:
    """The rate is the number of changes divided by the days; the error is that of a Poisson number."""
    found = naive(history([10.0] * 4, [60.0]))
    assert found.rate[0] == 0.04
    assert found.error[0] == 0.02


interval = st.floats(1e-4, 4000)
mixed = st.tuples(st.lists(interval, min_size=1, max_size=25), st.lists(interval, min_size=1, max_size=25))


@settings(deadline=None, max_examples=40)
@given(mixed)
def test_agrees_with_brent(intervals: tuple[list[float], list[float]]) -> None:
    """The root equals that of Brent's method, to nine digits."""
    updated, still = intervals

    def both_sides(rate: float) -> float:
        return sum(t / math.expm1(min(rate * t, 700)) for t in updated) - sum(still)

    low = len(updated) / (sum(still) + sum(updated) / 2) * (1 - 1e-9)
    expected = brentq(both_sides, low, len(updated) / sum(still) * (1 + 1e-9), xtol=1e-300, rtol=1e-13, maxiter=500)
    assert irregular_rate(history(updated, still))[0] == pytest.approx(expected, rel=1e-9)


@settings(deadline=None, max_examples=40)
@given(mixed, st.floats(1e-3, 1e3))
def test_scale_of_time(intervals: tuple[list[float], list[float]], scale: float) -> None:
    """Rates scale with the unit of time."""
    updated, still = intervals
    lengths, flags = [*updated, *still], [True] * len(updated) + [False] * len(still)
    ends = [0, len(lengths), 2 * len(lengths)]
    both = visit_history(ends, [*lengths, *(t * scale for t in lengths)], flags * 2)
    for rates in (naive(both).rate, regular(both).rate, irregular_rate(both)):
        assert rates[1] * scale == pytest.approx(rates[0], rel=1e-8)


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.tuples(interval, st.booleans()), min_size=2, max_size=30),
    st.integers(0, 29),
)
def test_more_changes_never_a_lower_rate(visited: list[tuple[float, bool]], place: int) -> None:
    """A visit that saw a change instead of none never lowers a rate (while one visit without a change is left)."""
    place %= len(visited)
    lengths, flags = [t for t, _ in visited], [flag for _, flag in visited]
    flags[place] = False
    more = [flag or at == place for at, flag in enumerate(flags)]
    both = visit_history([0, len(lengths), 2 * len(lengths)], lengths * 2, flags + more)
    for estimator in (lambda pages: naive(pages).rate, lambda pages: regular(pages).rate, irregular_rate):
        if estimator is irregular_rate and all(more):
            continue
        before, after = estimator(both)
        assert after >= before * (1 - 1e-9)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.lists(st.tuples(interval, st.booleans()), max_size=8), min_size=1, max_size=8), st.integers(0, 7))
def test_pages_do_not_see_each_other(pages: list[list[tuple[float, bool]]], start: int) -> None:
    """The rate of a page does not depend on other pages, or on the order of its visits."""
    order = [*range(start % len(pages), len(pages)), *range(start % len(pages))]

    def columns(chosen: list[list[tuple[float, bool]]]) -> VisitHistory:
        flat = [visit for page in chosen for visit in page]
        offsets = np.concatenate([[0], np.cumsum([len(page) for page in chosen])])
        return visit_history(offsets, [t for t, _ in flat], [flag for _, flag in flat])

    for estimator in (naive, regular, irregular):
        together = estimator(columns(pages))
        turned = estimator(columns([sorted(pages[page]) for page in order]))
        for name in ("rate", "low", "high", "error"):
            expected = getattr(together, name)[order]
            assert getattr(turned, name) == pytest.approx(expected, rel=1e-7, nan_ok=True)


def test_nothing_known() -> None:
    """Without observed time the rate is NaN; without a change it is zero, with an upper bound (`naive` has none)."""
    nothing = visit_history([0, 0, 2], [0.0, 0.0], [1, 0])
    for estimator in (naive, regular, irregular):
        assert np.isnan(estimator(nothing).rate).all()
        quiet = estimator(history([], [100.0]))
        assert quiet.rate[0] == 0.0
        assert np.isnan(quiet.error[0])
        assert quiet.has_interval == (estimator is not naive)
        if quiet.has_interval:
            assert quiet.low[0] == 0.0
            assert 0 < quiet.high[0] < 0.05


def test_all_visits_saw_a_change() -> None:
    """If every visit saw a change, the rate has no upper bound."""
    for estimator in (regular, irregular):
        found = estimator(history([7.0, 7.0], []))
        assert found.high[0] == np.inf
        assert 0 < found.low[0] < found.rate[0] < np.inf


def test_extreme_intervals_have_an_answer() -> None:
    """Intervals beyond single precision are solved too."""
    for updated, still in (([1e-8], [1e9]), ([1e9], [1e-8]), ([1e-8], [1e-8]), ([1e12, 1e-8], [1.0])):
        rate = irregular_rate(history(updated, still))[0]
        assert 0 < rate < np.inf
