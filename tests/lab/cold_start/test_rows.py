"""Errors with their intervals, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from webstrata.lab.cold_start.final_group import FinalGroups
from webstrata.lab.cold_start.rows import ErrorCount


def test_error() -> None:
    """Wrong tests divided by tests, over seeds; the balanced error is the mean over the true groups."""
    errors = ErrorCount(np.array([0, 0, 1, 1]), 2)
    pages = np.array([0, 1, 2])
    true = np.array([0, 0, 1])
    errors.add(pages, true, FinalGroups(group=np.array([0, 1, 1]), visits=np.array([1, 2, 3])))
    errors.add(pages, true, FinalGroups(group=np.array([0, 0, 0]), visits=np.array([0, 0, 0])))
    row = errors.row("c", "sites", "j48", "historic")
    assert row.error == pytest.approx(2 / 6)
    assert row.balanced_error == pytest.approx((1 / 4 + 1 / 2) / 2)
    assert row.visits == pytest.approx(1.0)
    assert (row.pages, row.paper) == (3, 0.1495)
    # Units: page 0 and 1 together 1 of 4 wrong, page 2 1 of 2.
    assert (row.low, row.high) == (pytest.approx(0.25), pytest.approx(0.5))


def test_without_the_paper() -> None:
    """Combinations that the paper does not have carry no printed value."""
    errors = ErrorCount(np.array([0]), 1)
    errors.add(np.array([0]), np.array([0]), FinalGroups(group=np.array([0]), visits=np.array([4])))
    row = errors.row("c", "pages", "first-sight", "value")
    assert (row.error, row.paper, row.visits) == (0.0, None, 4.0)
