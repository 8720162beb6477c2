from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webstrata.predict.poisson import irregular_rate
from webstrata.predict.running import (
    RUNNING,
    after_visit,
    running_irregular_rate,
)
from webstrata.predict.visit_history import VisitHistory, visit_history

pages = st.lists(st.lists(st.tuples(st.floats(0.02, 300), st.booleans()), max_size=25), min_size=1, max_size=4)


def kept_up(history: VisitHistory) -> np.ndarray:
    state = np.zeros(history.pages, dtype=RUNNING)
    for number in range(int(history.counts.max(initial=0))):
        rows = np.flatnonzero(history.counts > number)
        visit = history.offsets[rows] + number
        after_visit(state, rows, history.elapsed_days[visit], history.changed[visit])
    return state


def columns(chosen: list[list[tuple[float, bool]]]) -> VisitHistory:
    flat = [visit for page in chosen for visit in page]
    offsets = np.concatenate([[0], np.cumsum([len(page) for page in chosen])])
    return visit_history(offsets, [t for t, _ in flat], [flag for _, flag in flat])


@settings(deadline=None, max_examples=40)
@given(pages)
def test_sums_are_the_batch(chosen: list[list[tuple[float, bool]]]) -> None:
    """Eq. 5 from classes of intervals is near the value from the whole history, also in the worst case: nearly all
    visits found a change, after intervals from both ends of one class."""
    history = columns(chosen)
    state = kept_up(history)
    assert running_irregular_rate(state) == pytest.approx(irregular_rate(history), nan_ok=True, rel=0.21)


def test_usual_histories_are_within_a_percent() -> None:
    """The rate of a page with irregular visits differs by less than 1 % from the value of the whole history."""
    random = np.random.default_rng(1)
    days = random.lognormal(1.5, 1.0, (200, 40))
    changed = random.random(days.shape) < -np.expm1(-days * random.lognormal(-2.0, 1.0, (200, 1)))
    history = visit_history(np.arange(201) * 40, days.ravel(), changed.ravel())
    error = np.abs(running_irregular_rate(kept_up(history)) / irregular_rate(history) - 1.0)
    assert np.quantile(error, 0.9) < 0.01


def test_equal_intervals_are_exact() -> None:
    """If the intervals of a class are equal, eq. 5 is exact."""
    history = columns([[(7.0, True), (7.0, False), (14.0, True), (1.0, False), (14.0, True)]])
    assert running_irregular_rate(kept_up(history)) == pytest.approx(irregular_rate(history), rel=1e-6)


def test_rows_are_small_and_never_overflow() -> None:
    """The state has at most 256 bytes, and a full class keeps its mean."""
    assert RUNNING.itemsize <= 256
    state = np.zeros(1, dtype=RUNNING)
    state["number"][0, 0], state["sums"][0, 0] = 65535, 65.535
    after_visit(state, np.array([0]), np.array([0.001]), np.array([True]))
    assert state["number"][0, 0] == 32768
    assert state["sums"][0, 0] / state["number"][0, 0] == pytest.approx(0.001, rel=1e-3)
