"""HACS's forecast: worked vectors of scheduling.md, section 5 (7 and 8), and probabilities computed by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from webstrata.predict.interpolated import moved
from webstrata.predict.poisson import irregular_rate
from webstrata.predict.update_chance import (
    chance_of_update,
    days_to_chance,
    last_update_days,
    update_forecast,
    within,
)
from webstrata.predict.visit_history import VisitHistory, visit_history


@pytest.mark.parametrize(
    ("with_update", "without", "rate"),
    [
        ([7], [7], 0.099021),
        ([1, 2, 3], [4, 5], 0.256340),
        ([10, 30], [5, 5, 5, 60], 0.021454),
        ([0.5, 90], [1, 2, 3], 0.160087),
        ([100, 100, 100], [1], 0.057071),
        ([], [30, 30], 0.0),
        ([14, 14, 14], [], 0.138994),
    ],
)
def test_rates_of_moved_intervals(with_update: list[float], without: list[float], rate: float) -> None:
    """Eq. 5, eq. 4 where all intervals end at an update, and 0 where none does."""
    lengths = [*with_update, *without]
    history = visit_history([0, len(lengths)], lengths, [1] * len(with_update) + [0] * len(without))
    assert irregular_rate(history)[0] == pytest.approx(rate, abs=1e-6)


def at_days(days: list[float], changed: list[int]) -> VisitHistory:
    """The history of one page that was seen at these days."""
    return visit_history([0, len(days) - 1], np.diff(days), changed[1:], days[1:])


def test_a_probability_by_hand() -> None:
    """Seen at 0, 10 (updated), 24: the update is at 5, the intervals are 5 and 19, and the rate is their root."""
    found = update_forecast(at_days([0, 10, 24], [0, 1, 0]), at_days=30, ahead_days=7)
    rate = math.log1p(5 / 19) / 5
    assert found.rate[0] == pytest.approx(rate, rel=1e-9)
    assert found.since[0] == 5
    assert found.chance[0] == pytest.approx(1 - math.exp(-rate * (30 + 7 - 5)), rel=1e-9)
    assert (found.intervals[0], found.updates[0]) == (2, 1)


def test_only_the_window_counts() -> None:
    """An interval counts if both of its ends are in the window; the first visit in it is τ without an update."""
    history = at_days([0, 10, 24, 40, 41], [0, 1, 0, 0, 1])
    found = update_forecast(history, at_days=40, ahead_days=1, window_days=20)
    assert (found.intervals[0], found.updates[0]) == (1, 0)
    assert (found.since[0], found.rate[0], found.chance[0]) == (24, 0, 0)
    assert within(history, 10, 40).at_days.tolist() == [24, 40]


def test_pages_without_two_visits() -> None:
    """Nothing is known of them: no chance, and no last update."""
    found = update_forecast(visit_history([0, 0, 1], [5.0], [1]), at_days=5, ahead_days=7)
    assert found.chance[0] == 0
    assert np.isnan(found.since[0])
    assert found.chance[1] > 0


def test_gaps_are_not_moved_over() -> None:
    """Where nothing is known between two intervals, the update before the gap does not lengthen the one after it."""
    history = visit_history([0, 2], [10, 10], [1, 0], [10, 50])
    assert moved(history).elapsed_days.tolist() == [5, 10]
    assert last_update_days(history).tolist() == [5]


def test_chances_and_days_are_inverse() -> None:
    """The days to a probability give that probability; a page without a rate never reaches it."""
    rate = np.array([0.1, 0.0])
    days = days_to_chance(0.5, rate)
    assert chance_of_update(rate[:1], days[:1])[0] == pytest.approx(0.5)
    assert days[1] == np.inf
    assert np.isinf(days_to_chance(1.0, rate)).all()
