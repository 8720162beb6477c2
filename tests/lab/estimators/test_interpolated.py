from __future__ import annotations

import numpy as np
import pytest

from webstrata.lab.estimators.interpolated import hacs_forecast, interpolated, moved
from webstrata.predict.poisson import irregular_rate
from webstrata.predict.visit_history import visit_history


def test_changes_lie_half_way() -> None:
    """A change moves back to the middle of its interval, and the interval after it grows by as much."""
    history = visit_history([0, 3, 5], [10, 4, 6, 8, 2], [1, 0, 1, 0, 1])
    assert moved(history).elapsed_days.tolist() == [5, 9, 3, 8, 1]
    assert moved(history).at_days.tolist() == [5, 14, 17, 8, 9]


def test_the_rate_is_of_the_moved_intervals() -> None:
    """Intervals 10 (none) and 10 (change) become 10 and 5."""
    found = interpolated(visit_history([0, 2], [10, 10], [0, 1]))
    assert found.rate[0] == irregular_rate(visit_history([0, 2], [10, 5], [0, 1]))[0]


def test_prospect_by_the_window() -> None:
    """Only captures in the window count; τ is the last update, else the first capture; p = 1 - exp(-λ (t + e - τ))."""
    history = visit_history([0, 4, 5, 5], [10, 10, 10, 10, 30], [1, 0, 0, 1, 0])
    found = hacs_forecast(history, now_days=42.0, window_days=32.0)
    # the first interval of page 0 began at 0 and is outside; updates at 35; intervals 10, 10, 5
    rate = irregular_rate(visit_history([0, 3], [10, 10, 5], [0, 0, 1]))[0]
    assert found.rate[:2] == pytest.approx([rate, np.nan], nan_ok=True)
    assert found.last_update_days[0] == 35.0
    assert found.chance[0] == pytest.approx(-np.expm1(-rate * 14.0))
    wide = hacs_forecast(history, now_days=42.0, window_days=100.0)
    assert wide.rate[1] == 0.0
    assert wide.last_update_days[1] == 0.0
    assert wide.chance[1] == 0.0
    assert np.isnan(wide.chance[2])
