"""Hidden activity of pages."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import expm

from webstrata.predict.activity import POOLED, Activity, Levels, rates_of

TOY = Levels(per_day=rates_of((0.01, 0.3)), start=(0.8, 0.2), moves=({1: 0.01}, {0: 0.05}))


AGES = {"a second": 1 / 86_400, "minutes": 7 / 1440, "an hour": 1 / 24, "hours": 0.37, "days": 5.3, "months": 71.0}


def _generators(levels: Levels) -> tuple[np.ndarray, np.ndarray]:
    """The generator of the moves, and that of the moves while nothing changes."""
    moves = np.zeros((len(levels.per_day), len(levels.per_day)))
    for level, row in enumerate(levels.moves):
        for to, rate in row.items():
            moves[level, to] += rate
            moves[level, level] -= rate
    return moves, moves - np.diag(levels.per_day)


@pytest.mark.parametrize("age", AGES.values(), ids=AGES)
def test_forecasts_are_those_of_matrix_exponentials(age: float) -> None:
    """At any age, from seconds to months, the interpolated forecast is that of the exponential of the generator."""
    activity = Activity()
    belief = np.random.default_rng(1).dirichlet(np.ones(activity.width), 40).astype(np.float32)
    moves, quiet = _generators(POOLED)
    rates = np.array(POOLED.per_day)
    none, every = belief @ expm(quiet * age), belief @ expm(moves * age)
    fresh = belief @ (np.linalg.inv(quiet) @ (expm(quiet * age) - np.eye(len(rates)))).sum(axis=1)

    forecast = activity.forecast(belief, np.full(40, age))

    ahead = age - forecast.begin
    assert forecast.unchanged + ahead * forecast.unchanged_slope == pytest.approx(none.sum(axis=1), rel=2e-3)
    assert forecast.density + ahead * forecast.density_slope == pytest.approx(none @ rates, rel=0.02)
    assert forecast.rate + ahead * forecast.rate_slope == pytest.approx(every @ rates, rel=2e-3)
    assert forecast.fresh_days + ahead * forecast.fresh_slope == pytest.approx(fresh, rel=0.01)
    assert ((forecast.begin <= np.float32(age)) & (np.float32(age) < forecast.end)).all()


@pytest.mark.parametrize("changed", [True, False])
@pytest.mark.parametrize("age", AGES.values(), ids=AGES)
def test_beliefs_are_those_of_small_steps(age: float, changed: bool) -> None:
    """The belief after a visit equals that of ten thousand small steps, each with a move and perhaps a change."""
    activity = Activity()
    belief = np.random.default_rng(2).dirichlet(np.ones(activity.width), 5).astype(np.float32)
    moves, quiet = _generators(POOLED)
    step = age / 10_000
    none, every = (belief.astype(np.float64) for _ in range(2))
    for _ in range(10_000):
        none, every = none + step * none @ quiet, every + step * every @ moves

    after = activity.after_visit(belief, np.full(5, age), np.full(5, changed))

    rest = every - none if changed else none
    assert after == pytest.approx(rest / rest.sum(axis=1, keepdims=True), rel=0.03, abs=2e-4)


def test_whole_days_are_nearly_those_of_the_daily_model() -> None:
    """The reference moves at the end of each day and then changes: after three days its numbers differ little."""
    activity = Activity(TOY)
    belief = activity.start(2)

    unchanged = activity.forecast(belief, np.full(2, 3.0)).unchanged
    after = activity.after_visit(belief, np.array([3.0, 3.0]), np.array([True, False]))

    assert 1 - unchanged[0] == pytest.approx(0.155261, rel=0.01)
    assert after[0] == pytest.approx([0.202186, 0.797814], abs=0.02)
    assert after[1] == pytest.approx([0.916562, 0.083438], abs=0.005)


def test_a_change_explained_by_the_site_does_not_heat_the_page() -> None:
    """The likelier a joint event, the less a change affects the page's own level."""
    activity = Activity(TOY)
    belief, elapsed, changed = activity.start(2), np.array([3.0, 3.0]), np.array([True, True])

    alone, explained = activity.after_visit(belief, elapsed, changed, np.array([1.0, 0.9951**3]))

    assert explained[1] < alone[1]
    assert explained == pytest.approx([0.254850, 0.745150], abs=0.02)


def test_a_change_after_no_time() -> None:
    """A change that was seen after no time at all gives a belief."""
    at_once = Activity().after_visit(Activity().start(1), np.array([0.0]), np.array([True]))

    assert np.isfinite(at_once).all()
    assert at_once.sum() == pytest.approx(1.0, abs=1e-6)


def _rate_after(changes: np.ndarray, visits: np.ndarray) -> float:
    """Changes per day expected after visits at these times of a page that was new at 0."""
    activity = Activity()
    belief, seen = activity.start(1), 0.0
    for at in visits.tolist():
        changed = bool(((changes > seen) & (changes <= at)).any())
        belief, seen = activity.after_visit(belief, np.array([at - seen]), np.array([changed])), at
    return float(activity.forecast(belief, np.zeros(1)).rate[0])


@pytest.mark.parametrize(
    ("per_day", "every_days", "visits", "low", "high"),
    [
        (24.0, 1 / 12, 6, 8.0, 60.0),
        (96.0, 1 / 48, 6, 20.0, 60.0),
        (1.0, 0.5, 12, 0.2, 2.5),
        (1.0, 1 / 12, 48, 0.3, 3.0),
    ],
)
@pytest.mark.parametrize("seed", range(5))
def test_fast_pages_are_recognised(
    seed: int, per_day: float, every_days: float, visits: int, low: float, high: float
) -> None:
    """After a handful of visits, a page that changes hourly is forecast so, and a page that changes daily is not."""
    random = np.random.default_rng(seed)
    changes = np.cumsum(random.uniform(0.5, 1.5, 2000) / per_day)  # regular, with some variation

    rate = _rate_after(changes, every_days * np.arange(1, visits + 1))

    assert low < rate < high


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 5000), st.booleans()), min_size=1, max_size=30))
def test_beliefs_stay_beliefs(visits: list[tuple[float, bool]]) -> None:
    """Beliefs are finite, not negative and sum to one; the probability of no change falls with time."""
    activity = Activity()
    belief = activity.start(1)

    for elapsed, changed in visits:
        belief = activity.after_visit(belief, np.array([elapsed]), np.array([changed]))
        assert np.isfinite(belief).all()
        assert (belief >= 0).all()
        assert belief.sum() == pytest.approx(1.0, abs=1e-5)
    days = np.concatenate([np.geomspace(1e-5, 1.0, 20), np.arange(2.0, 400.0, 7)])
    forecast = activity.forecast(np.repeat(belief, len(days), axis=0), days)
    unchanged = forecast.unchanged + (days - forecast.begin) * forecast.unchanged_slope
    assert (np.diff(unchanged) <= 1e-6).all()
