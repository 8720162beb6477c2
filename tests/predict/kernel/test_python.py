"""Both kernels of `predict` against plain products and a root finder of SciPy, and against each other."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from webstrata.compiled import is_compiled
from webstrata.predict.activity import Activity
from webstrata.predict.kernel import python
from webstrata.predict.kernel.choice import select_kernel

needs_compiled = pytest.mark.skipif(not is_compiled("predict"), reason="no compiled kernel to compare with")
BOTH = [pytest.param(True, marks=needs_compiled, id="compiled"), pytest.param(False, id="python")]


with_both_kernels = pytest.mark.parametrize("is_compiled_kernel", BOTH)


PAGES = st.lists(st.tuples(st.floats(-1, 500), st.integers(0, 9)), min_size=1, max_size=20)


def _arguments(activity: Activity) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return activity._grid.parts, activity._grid.ages, activity._tables


@settings(max_examples=40, deadline=None)
@given(PAGES, st.integers(0, 2**32 - 1))
def test_forecasts_are_products_of_beliefs_and_tables(pages: list[tuple[float, int]], seed: int) -> None:
    """For any rows, in any order, of beliefs inside a structured array: the products with the table of each age, and
    the same bits from both kernels."""
    activity = Activity()
    levels = (np.float32, (activity.width,))
    table = np.zeros(10, dtype=[("before", np.uint8), ("levels", *levels), ("behind", np.float64)])
    table["levels"] = np.random.default_rng(seed).dirichlet(np.ones(activity.width), 10)
    ages, rows = (np.array(column) for column in zip(*pages, strict=True))
    ages = np.append(ages, activity._grid.ages[:: len(activity._grid) // 9])
    rows = np.append(rows, np.arange(10) % 10)[: len(ages)]
    ages = ages[: len(rows)]

    forecast = np.column_stack(activity.forecast(table["levels"], ages, rows))

    cell = activity._grid.cells(ages)
    products = np.einsum("ij,ijk->ik", table["levels"][rows].astype(np.float64), activity._tables[cell])
    assert forecast[:, 2:] == pytest.approx(products, rel=1e-4, abs=1e-6)
    assert forecast[:, 0] == pytest.approx(activity._grid.ages[cell], rel=1e-6)
    if is_compiled("predict"):
        compiled, fallback = (
            select_kernel(compiled=compiled).forecast(table["levels"], rows, ages, *_arguments(activity))
            for compiled in (True, False)
        )
        assert compiled.tobytes() == fallback.tobytes()


@with_both_kernels
@pytest.mark.parametrize("row", [-1, 3, 2**40])
def test_rows_outside_the_table(is_compiled_kernel: bool, row: int) -> None:
    """A row outside the table of beliefs is an error and is never read."""
    activity = Activity()
    kernel = select_kernel(compiled=is_compiled_kernel)
    with pytest.raises(IndexError, match="3 beliefs"):
        kernel.forecast(activity.start(3), np.array([0, row]), np.array([1.0, 1.0]), *_arguments(activity))


def test_columns_that_do_not_fit() -> None:
    """Beliefs with another number of levels, and rows without ages, are errors before anything is computed."""
    activity = Activity()
    with pytest.raises(ValueError, match="13 levels"):
        activity.forecast(np.ones((3, 9), dtype=np.float32), np.array([1.0, 1.0, 1.0]))
    with pytest.raises(ValueError, match="13 levels"):
        activity.forecast(activity.start(3), np.array([1.0]), np.array([0, 1]))


@with_both_kernels
@pytest.mark.parametrize(
    ("age", "same_as"), [(400.5, 400.0), (1e300, 400.0), (np.inf, 400.0), (-1.0, 0.0), (np.nan, 0.0)]
)
def test_ages_outside_the_grid(is_compiled_kernel: bool, age: float, same_as: float) -> None:
    """Ages beyond the last use the last table; negative ages, and what is not a number, the first."""
    activity = Activity()
    kernel = select_kernel(compiled=is_compiled_kernel)
    outside, inside = (
        kernel.forecast(activity.start(1), None, np.array([at]), *_arguments(activity)) for at in (age, same_as)
    )
    assert outside.tobytes() == inside.tobytes()


@with_both_kernels
@pytest.mark.parametrize("number", [1, 3, 4, 5, 255, 256, 257, 700])
@pytest.mark.parametrize("longest", [1e-3, 1.0, 60.0, 5000.0])
def test_rates_are_those_of_brent(is_compiled_kernel: bool, number: int, longest: float) -> None:
    """For any number and lengths of intervals with a change, the rate is the root of eq. 5."""
    random = np.random.default_rng(number)
    lengths = random.uniform(1e-3 * longest, longest, number + 2)
    changed = np.arange(number + 2) < number
    each, still = lengths[changed], float(lengths[~changed].sum())

    rate = select_kernel(compiled=is_compiled_kernel).irregular_rates(np.array([0, number + 2]), lengths, changed)[0]

    low, high = number / (still + each.sum() / 2), number / still
    expected = brentq(
        lambda rate: math.fsum(each / np.expm1(np.minimum(rate * each, 700))) - still,
        *(low * (1 - 1e-9), high * (1 + 1e-9)),
        xtol=1e-300,
        rtol=1e-14,
    )
    assert rate == pytest.approx(expected, rel=1e-10)


VISITS = st.lists(st.tuples(st.floats(1e-3, 1e4), st.booleans()), max_size=12)


@needs_compiled
@settings(max_examples=200, deadline=None)
@given(st.lists(VISITS, max_size=8))
def test_rates_of_both_kernels(histories: list[list[tuple[float, bool]]]) -> None:
    """Both kernels give the same rates for any histories: without visits, without changes, with changes only."""
    offsets = np.cumsum([0, *map(len, histories)]).astype(np.int64)
    lengths = np.array([length for history in histories for length, _ in history], dtype=np.float64)
    changed = np.array([changed for history in histories for _, changed in history], dtype=np.bool_)

    compiled = select_kernel(compiled=True).irregular_rates(offsets, lengths, changed)

    assert python.irregular_rates(offsets, lengths, changed) == pytest.approx(compiled, rel=1e-10, nan_ok=True)
