from __future__ import annotations

import numpy as np

from webstrata.schedule.textbook.fixed import Gold
from webstrata.testing.policy import check_policy


def test_told_intervals_are_the_real_ones() -> None:
    """The interval is the days divided by the changes, clamped; without a change it is the longest."""
    policy = Gold()
    state = policy.with_truth(np.array([0.0, 1.0, 100.0, 5000.0]), 1095.0)
    assert policy.interval(state, np.arange(4)).tolist() == [180.0, 180.0, 10.95, 1.0]


def test_untold_it_is_any_policy() -> None:
    """Without the true changes it keeps the contract and the first interval."""
    check_policy(Gold())
    assert Gold().interval(Gold().start(1), np.array([0]))[0] == 7.0
