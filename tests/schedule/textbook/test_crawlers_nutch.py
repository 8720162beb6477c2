from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from webstrata.schedule.policy import Bounds
from webstrata.schedule.textbook.crawlers import Nutch


def test_worked_by_hand(play: Callable[..., list[float]]) -> None:
    """A change shortens the interval by a fifth; without one it grows, less 0.3 of the unchanged time."""
    # changed: 7 x .8; unchanged: I = 5.6 x 1.4 = 7.84, still 5.6 days: 7.84 - 1.68
    # unchanged: I = 10.976, still 5.6 + 6.16 = 11.76, larger: I = 11.76, 11.76 - 3.528
    assert play(Nutch(), "100") == [5.6, 6.16, 8.232]


def test_limits_hold(play: Callable[..., list[float]]) -> None:
    """No number of changes gets below the shortest interval."""
    assert play(Nutch(Bounds(min_days=2)), "1" * 10)[-1] == 2.0


def test_the_originals_fault_is_kept() -> None:
    """A page unchanged for years is visited as often as allowed, since the offset exceeds the longest interval."""
    policy = Nutch()
    state, row = policy.start(1), np.array([0])
    policy.learn(state, row, np.array([700.0]), np.array([False]))
    assert policy.interval(state, row)[0] == pytest.approx(1.0)
