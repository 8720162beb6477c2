from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from webstrata.predict.rate_interval import END_TAIL, TAIL, score_interval
from webstrata.predict.visit_history import VisitHistory, visit_history


def outcomes(visits: int) -> VisitHistory:
    """A page for each possible number of changes, visited every day."""
    flags = np.arange(visits)[None, :] < np.arange(visits + 1)[:, None]
    return visit_history(np.arange(visits + 2) * visits, np.ones(flags.size), flags.ravel())


@pytest.mark.parametrize("visits", [1, 2, 3, 10, 30, 100, 300])
def test_no_rate_is_covered_too_rarely(visits: int) -> None:
    """At equal intervals, summed over all outcomes, every rate from 0.003 to 10 per interval is covered by at least
    93 %; with enough visits of both results, the mean over all rates is between 95 and 97 %."""
    low, high = score_interval(outcomes(visits))
    rates = np.exp(np.linspace(math.log(0.003), math.log(10.0), 2000))
    chance = -np.expm1(-rates)
    weights = binom.pmf(np.arange(visits + 1)[None, :], visits, chance[:, None])
    covered = np.where((low <= rates[:, None]) & (rates[:, None] <= high), weights, 0.0).sum(axis=1)

    assert covered.min() >= 0.93
    both = (visits * chance >= 5) & (visits * (1 - chance) >= 5)
    if visits >= 30:
        assert 0.95 <= covered[both].mean() <= 0.97


@pytest.mark.parametrize("visits", [2, 10, 100])
def test_exact_for_equal_intervals(visits: int) -> None:
    """At both ends the binomial mid-P value of the number of changes is the chosen tail."""
    low, high = score_interval(outcomes(visits))
    hits = np.arange(1, visits)
    for ends, tail in ((low, binom.sf), (high, lambda k, n, p: binom.cdf(k - 1, n, p))):
        chance = -np.expm1(-ends[1:-1])
        value = tail(hits, visits, chance) + binom.pmf(hits, visits, chance) / 2
        assert value == pytest.approx(np.full(visits - 1, TAIL), rel=1e-6)


def test_open_ends() -> None:
    """Without a change the interval begins at 0, with a change at every visit it has no upper end; at the other end the
    outcome has twice the probability END_TAIL."""
    history = visit_history([0, 3, 6], [1.0, 5.0, 30.0] * 2, [0, 0, 0, 1, 1, 1])
    low, high = score_interval(history)
    assert (low[0], high[1]) == (0.0, math.inf)
    assert math.exp(-high[0] * 36.0) == pytest.approx(2 * END_TAIL)
    assert np.prod(-np.expm1(-low[1] * np.array([1.0, 5.0, 30.0]))) == pytest.approx(2 * END_TAIL)


def test_a_miss_after_long_says_more() -> None:
    """The interval uses the lengths: one visit without a change after 100 days excludes more than one after a day."""
    short, long = ([True, False], [100.0, 1.0]), ([True, False], [1.0, 100.0])
    high = [score_interval(visit_history([0, 2], days, flags))[1][0] for flags, days in (short, long)]
    assert high[1] < high[0] / 50


def test_unobserved_pages_have_none() -> None:
    """Pages without visits, or with no time between them, have no interval, and do not disturb others."""
    history = visit_history([0, 0, 2, 4], [0.0, 0.0, 7.0, 7.0], [1, 0, 1, 0])
    low, high = score_interval(history)
    alone = score_interval(visit_history([0, 2], [7.0, 7.0], [1, 0]))
    assert np.isnan([low[:2], high[:2]]).all()
    assert (low[2], high[2]) == (alone[0][0], alone[1][0])


def test_extreme_intervals_have_ends() -> None:
    """Lengths of many orders of magnitude give ends in order."""
    for days in ([1e-8, 1e9], [1e9, 1e-8], [1e-8, 1e-8], [1e12, 1e-6]):
        low, high = score_interval(visit_history([0, 2], days, [True, False]))
        assert 0 < low[0] < high[0] < math.inf
