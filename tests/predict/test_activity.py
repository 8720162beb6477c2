"""Hidden activity of pages."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webstrata.predict.activity import Activity, Levels

TOY = Levels(chance=(0.01, 0.3), start=(0.8, 0.2), moves=({1: 0.01}, {0: 0.05}))


def test_worked_example() -> None:
    """With two levels and three days, forecast and beliefs equal those worked out by hand."""
    activity = Activity(TOY)
    belief = activity.start(2)

    unchanged, *_ = activity.forecast(belief, np.array([3, 3]))
    after = activity.after_visit(belief, np.array([3.0, 3.0]), np.array([True, False]))

    assert 1 - unchanged[0] == pytest.approx(0.155261, abs=1e-6)
    assert after[0] == pytest.approx([0.202186, 0.797814], abs=1e-6)
    assert after[1] == pytest.approx([0.916562, 0.083438], abs=1e-6)


def test_a_change_explained_by_the_site_does_not_heat_the_page() -> None:
    """The likelier a joint event, the less a change affects the page's own level."""
    activity = Activity(TOY)
    belief, elapsed, changed = activity.start(2), np.array([3.0, 3.0]), np.array([True, True])

    alone, explained = activity.after_visit(belief, elapsed, changed, np.array([1.0, 0.9951**3]))

    assert explained[1] < alone[1]
    assert explained == pytest.approx([0.254850, 0.745150], abs=1e-5)


def test_parts_of_days_lie_between_whole_days() -> None:
    """The belief after half a day is between those of whole days; a change after no time is possible."""
    activity = Activity(TOY)
    belief = np.repeat(activity.start(1), 3, axis=0)

    half = activity.after_visit(belief, np.array([1.0, 1.5, 2.0]), np.zeros(3, dtype=bool))
    at_once = activity.after_visit(belief[:1], np.array([0.0]), np.array([True]))

    assert half[0, 0] < half[1, 0] < half[2, 0]
    assert np.isfinite(at_once).all()
    assert at_once.sum() == pytest.approx(1.0, abs=1e-6)


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
    days = np.arange(0, 400, 7)
    unchanged = activity.forecast(np.repeat(belief, len(days), axis=0), days)[0]
    assert (np.diff(unchanged) <= 1e-6).all()
