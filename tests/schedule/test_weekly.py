from __future__ import annotations

import numpy as np
import pytest

from webstrata.schedule.policy import Bounds
from webstrata.schedule.weekly import Week


@pytest.mark.parametrize(
    ("bounds", "expected"), [(Bounds(), 7.0), (Bounds(max_days=3), 3.0), (Bounds(min_days=10), 10.0)]
)
def test_every_week(bounds: Bounds, expected: float) -> None:
    """Seven days whatever was seen, unless the bounds forbid."""
    policy = Week(bounds)
    state, rows = policy.start(2), np.arange(2)
    policy.learn(state, rows, np.array([1.0, 9.0]), np.array([True, False]))
    assert policy.interval(state, rows).tolist() == [expected, expected]
    assert policy.explain(state, 1)["visits"] == 1
