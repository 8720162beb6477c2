from __future__ import annotations

import numpy as np
import pytest

from webstrata.errors import UsageError
from webstrata.predict.visit_history import from_times, visit_history


def test_columns_by_page() -> None:
    """Totals, selections and previous values are computed by page; pages without visits stay."""
    history = visit_history([0, 2, 2, 5], [1, 2, 3, 4, 0], [1, 0, 1, 1, 0])
    assert history.pages == 3
    assert history.counts.tolist() == [2, 0, 3]
    assert history.totals(history.elapsed_days).tolist() == [3, 0, 7]
    assert history.previous(history.elapsed_days, -1).tolist() == [-1, 1, -1, 3, 4]
    assert history.where(history.changed).counts.tolist() == [1, 0, 2]
    assert history.of_pages(np.array([False, True, True])).elapsed_days.tolist() == [3, 4, 0]
    assert history.lasting().counts.tolist() == [2, 0, 2]
    assert history.at_days.tolist() == [1, 3, 3, 7, 7]


def test_from_rows_of_times() -> None:
    """The first visit of each page is its baseline."""
    history = from_times(
        np.array([0, 0, 1, 2, 2, 2]), np.array([5.0, 6, 9, 1, 3, 7]), np.array([1, 0, 1, 0, 1, 1], bool), 3
    )
    assert history.counts.tolist() == [1, 0, 2]
    assert history.elapsed_days.tolist() == [1, 2, 4]
    assert history.changed.tolist() == [False, True, True]
    assert history.at_days.tolist() == [6, 3, 7]


def test_nothing_is_a_history_too() -> None:
    """Histories without pages or visits have columns of the right length."""
    assert visit_history([0], [], []).pages == 0
    assert visit_history([0, 0, 0], [], []).totals(np.array([])).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("offsets", "elapsed", "changed"),
    [
        ([], [], []),
        ([1, 2], [1, 1], [0, 0]),
        ([0, 1], [1, 1], [0, 0]),
        ([0, 2, 1, 2], [1, 1], [0, 0]),
        ([0, 2], [1, 1], [0]),
        ([0, 2], [1, -1], [0, 0]),
        ([0, 2], [1, float("nan")], [0, 0]),
        ([0, 2], [1, float("inf")], [0, 0]),
    ],
)
def test_impossible_columns_are_refused(offsets: list[int], elapsed: list[float], changed: list[int]) -> None:
    """Invalid columns are an error with a reason."""
    with pytest.raises(UsageError):
        visit_history(offsets, elapsed, changed)
