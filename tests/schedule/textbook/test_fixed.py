from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from webstrata.schedule.policy import Bounds
from webstrata.schedule.textbook.fixed import BruteForce, Fixed, Week


@pytest.mark.parametrize(
    ("bounds", "expected"), [(Bounds(), 7.0), (Bounds(max_days=3), 3.0), (Bounds(min_days=10), 10.0)]
)
def test_every_week(bounds: Bounds, expected: float) -> None:
    """The interval is seven days, clamped to the bounds."""
    policy = Week(bounds)
    state, rows = policy.start(2), np.arange(2)
    policy.learn(state, rows, np.array([1.0, 9.0]), np.array([True, False]))
    assert policy.interval(state, rows).tolist() == [expected, expected]
    assert policy.explain(state, 1)["visits"] == 1


def test_the_same_interval_for_ever(play: Callable[..., list[float]]) -> None:
    """The interval is the first interval, clamped to the bounds."""
    assert play(Fixed(Bounds(start_days=3)), "0110") == [3.0] * 4
    assert play(Fixed(Bounds(start_days=300)), "01") == [180.0] * 2


def test_brute_force_is_as_often_as_allowed(play: Callable[..., list[float]]) -> None:
    """The interval is the shortest one."""
    assert play(BruteForce(Bounds(min_days=0.5)), "01") == [0.5, 0.5]
