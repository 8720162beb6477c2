"""Both kernels of `predict` against a forecast day by day and a root finder of SciPy, and against each other."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from webstrata.compiled import is_compiled
from webstrata.predict.activity import POOLED, Activity, Belief
from webstrata.predict.kernel import python
from webstrata.predict.kernel.choice import select_kernel

needs_compiled = pytest.mark.skipif(not is_compiled("predict"), reason="no compiled kernel to compare with")
BOTH = [pytest.param(True, marks=needs_compiled, id="compiled"), pytest.param(False, id="python")]


with_both_kernels = pytest.mark.parametrize("is_compiled_kernel", BOTH)


def forecast_by_days(belief: Belief, days: int) -> list[float]:
    """Day by day: unchanged, first change tomorrow, rate tomorrow, days with a fresh copy."""
    chance = np.array(POOLED.chance)
    moves = np.zeros((10, 10))
    for level, row in enumerate(POOLED.moves):
        moves[level, list(row)] = list(row.values())
        moves[level, level] = 1.0 - sum(row.values())
    every, none, fresh = belief.astype(np.float64), belief.astype(np.float64), 0.0
    for _ in range(days):
        fresh += none.sum()
        every, none = every @ moves, (none @ moves) * (1.0 - chance)
    return [none.sum(), none.sum() - ((none @ moves) * (1.0 - chance)).sum(), every @ moves @ chance, fresh]


PAGES = st.lists(st.tuples(st.integers(0, 400), st.integers(0, 9)), min_size=1, max_size=20)


@settings(max_examples=40, deadline=None)
@given(PAGES, st.integers(0, 2**32 - 1))
def test_forecasts_are_those_of_single_days(pages: list[tuple[int, int]], seed: int) -> None:
    """Forecasts of any rows, in any order, of beliefs inside a structured array equal those computed day by day."""
    table = np.zeros(10, dtype=[("before", np.uint8), ("levels", np.float32, (10,)), ("behind", np.float64)])
    table["levels"] = np.random.default_rng(seed).dirichlet(np.ones(10), 10)
    days, rows = (np.array(column) for column in zip(*pages, strict=True))
    activity = Activity()

    forecast = np.column_stack(activity.forecast(table["levels"], days, rows))

    expected = np.array([forecast_by_days(table["levels"][row], day) for day, row in pages])
    assert forecast == pytest.approx(expected, rel=2e-4, abs=1e-6)
    if is_compiled("predict"):
        compiled, fallback = (
            select_kernel(compiled=compiled).forecast(table["levels"], rows, days.astype(np.int16), activity._tables)
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
        kernel.forecast(activity.start(3), np.array([0, row]), np.array([1, 1], dtype=np.int16), activity._tables)


def test_columns_that_do_not_fit() -> None:
    """Beliefs with another number of levels, and rows without days, are errors before anything is computed."""
    activity = Activity()
    with pytest.raises(ValueError, match="10 levels"):
        activity.forecast(np.ones((3, 9), dtype=np.float32), np.array([1, 1, 1]))
    with pytest.raises(ValueError, match="10 levels"):
        activity.forecast(activity.start(3), np.array([1]), np.array([0, 1]))


@with_both_kernels
@pytest.mark.parametrize("days", [400, 401, 32_767, 10**9])
def test_days_beyond_the_last(is_compiled_kernel: bool, days: int) -> None:
    """Days beyond the last table use the last table."""
    activity = Activity()
    kernel = select_kernel(compiled=is_compiled_kernel)
    belief = activity.start(1)
    last, beyond = (
        kernel.forecast(belief, None, np.array([day], dtype=np.int16), activity._tables)
        for day in (400, min(days, 32_767))
    )
    assert last.tobytes() == beyond.tobytes()
    assert activity.forecast(belief, np.array([days])) == activity.forecast(belief, np.array([400]))


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
