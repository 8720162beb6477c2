from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from webstrata.errors import BadSettings
from webstrata.schedule.textbook.threshold import Threshold, rates

# intervals that saw an update | that saw none -> rate
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
    """The rate equals the one worked out by hand, to six digits."""
    lengths = np.array([updated + still], dtype=float)
    flags = np.array([[True] * len(updated) + [False] * len(still)])
    found = rates(lengths, flags, np.ones_like(flags))[0]
    assert round(float(found), 6) == rate


def test_due_when_the_chance_is_large_enough() -> None:
    """The page is due when the probability of a change since the moved update is θ."""
    policy = Threshold(theta=0.7)
    state, row = policy.start(1), np.array([0])
    policy.learn(state, row, np.array([10.0]), np.array([False]))
    policy.learn(state, row, np.array([10.0]), np.array([True]))
    # the update is put 5 days before the last visit: intervals 10 (none) and 5 (update)
    rate = rates(np.array([[5.0, 10.0]]), np.array([[True, False]]), np.ones((1, 2), bool))[0]
    due = -np.log(1 - 0.7) / rate - 5.0
    assert policy.interval(state, row)[0] == pytest.approx(due)
    assert policy.explain(state, 0)["days_from_last_update_to_last_visit"] == 5.0


def test_no_update_no_visit(play: Callable[..., list[float]]) -> None:
    """Without an update in the window the page waits for the longest interval; a threshold of one is never reached."""
    assert play(Threshold(), "000") == [180.0] * 3
    assert play(Threshold(theta=1.0), "111") == [180.0] * 3


def test_never_before_the_evaluation(play: Callable[..., list[float]]) -> None:
    """The next visit is not before the evaluation interval."""
    assert play(Threshold(theta=0.0), "1111") == [7.0] * 4


def test_old_visits_leave_the_window() -> None:
    """An update before the window does not count, except in the last two intervals."""
    policy = Threshold(window_days=30)
    state, row = policy.start(1), np.array([0])
    for elapsed, changed in ((7.0, True), (20.0, False), (20.0, False)):
        policy.learn(state, row, np.array([elapsed]), np.array([changed]))
    assert policy.explain(state, 0)["rate_per_day"] == 0.0


@pytest.mark.parametrize("wrong", [{"theta": -0.1}, {"theta": 1.1}, {"theta": float("nan")}, {"window_days": 0.0}])
def test_impossible_parameters_are_refused(wrong: dict[str, float]) -> None:
    """Impossible parameters are refused."""
    with pytest.raises(BadSettings):
        Threshold(**wrong)  # type: ignore[arg-type]
