"""The ages for which forecasts are tabled."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from webstrata.predict.age_grid import AgeGrid

GRID = AgeGrid(400)


@given(st.floats(0.0, 399.99))
def test_each_age_lies_in_its_cell(age: float) -> None:
    """The age of the cell is not above the page's age, and the next one is; up to the rounding of a product."""
    cell = int(GRID.cells(np.array([age]))[0])

    assert GRID.ages[cell] - 1e-9 <= age < GRID.ages[cell + 1] + 1e-9


@pytest.mark.parametrize("longest", [1, 2, 16, 17, 400])
def test_the_grid_ascends_and_has_all_whole_days(longest: int) -> None:
    """Ages ascend from 0 to the longest, each whole day is one of them, and each age is the first of its own cell."""
    grid = AgeGrid(longest)

    assert (np.diff(grid.ages) > 0).all()
    assert set(range(longest + 1)) <= set(grid.ages.tolist())
    assert grid.cells(np.arange(longest + 1.0)).tolist() == np.searchsorted(grid.ages, range(longest + 1)).tolist()


@pytest.mark.parametrize(("age", "cell"), [(-1.0, 0), (float("nan"), 0), (400.0, -1), (1e300, -1), (np.inf, -1)])
def test_ages_outside(age: float, cell: int) -> None:
    """Negative ages count as 0, ages beyond the last as the last."""
    assert GRID.cells(np.array([age]))[0] == range(len(GRID))[cell]
