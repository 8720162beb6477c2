from __future__ import annotations

from webstrata.predict.interpolated import interpolated, moved
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
