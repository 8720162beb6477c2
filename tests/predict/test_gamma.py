from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webstrata.predict.gamma import after_visit, bayesian, begin, believed, forgotten, learned
from webstrata.predict.prior import GammaPrior
from webstrata.predict.visit_history import visit_history

PRIOR = GammaPrior(shape=1.0, days=30.0)
visited = st.lists(st.tuples(st.floats(0.01, 400), st.booleans()), max_size=20)


def test_worked_update() -> None:
    """From one change in thirty days, a visit after fourteen: the worked shapes and days, to six digits."""
    shape, days = after_visit(np.ones(2), np.full(2, 30.0), np.full(2, 14.0), np.array([True, False]))
    assert shape.round(6).tolist() == [2.251416, 1.0]
    assert days.tolist() == [44.0, 44.0]


@settings(deadline=None, max_examples=40)
@given(st.lists(visited, min_size=1, max_size=5), st.sampled_from([None, 90.0, 10.0]))
def test_one_visit_at_a_time_is_the_batch(pages: list[list[tuple[float, bool]]], half_life: float | None) -> None:
    """Updates visit by visit give the same distribution as the whole history."""
    flat = [visit for page in pages for visit in page]
    offsets = np.concatenate([[0], np.cumsum([len(page) for page in pages])])
    history = visit_history(offsets, [t for t, _ in flat], [flag for _, flag in flat])
    together = learned(history, *begin(PRIOR, len(pages)), half_life)
    for number, page in enumerate(pages):
        shape, days = begin(PRIOR, 1)
        first = shape, days
        for elapsed, changed in page:
            if half_life is not None:
                shape, days = forgotten(shape, days, np.array([elapsed]), *first, half_life)
            shape, days = after_visit(shape, days, np.array([elapsed]), np.array([changed]))
        assert (shape[0], days[0]) == (together[0][number], together[1][number])


@settings(deadline=None, max_examples=40)
@given(visited, st.integers(0, 19))
def test_more_changes_never_a_lower_rate(page: list[tuple[float, bool]], place: int) -> None:
    """A change instead of no change never lowers the rate."""
    if not page:
        return
    place %= len(page)
    flags = [flag and at != place for at, (_, flag) in enumerate(page)]
    more = [flag or at == place for at, flag in enumerate(flags)]
    lengths, ends = [t for t, _ in page], [0, len(page), 2 * len(page)]
    before, after = bayesian(visit_history(ends, lengths * 2, flags + more), PRIOR).rate
    assert after >= before


def test_forgetting_follows_a_new_habit() -> None:
    """After a page stops changing, its rate falls faster with forgetting; without visits it is the prior."""
    history = visit_history([0, 60], [3.0] * 30 + [7.0] * 30, [True] * 30 + [False] * 30)
    assert bayesian(history, PRIOR, 90.0).rate[0] < bayesian(history, PRIOR).rate[0] / 1.5
    assert bayesian(visit_history([0, 0], [], []), PRIOR).rate[0] == PRIOR.shape / PRIOR.days


def test_archived_captures_are_visits() -> None:
    """Archived captures followed by own visits give the same as all visits together."""
    archive, ours = visit_history([0, 2], [30, 30], [1, 0]), visit_history([0, 1], [7], [1])
    both = visit_history([0, 3], [30, 30, 7], [1, 0, 1])
    step_by_step = learned(ours, *learned(archive, *begin(PRIOR, 1)))
    assert step_by_step == learned(both, *begin(PRIOR, 1))


def test_mean_and_spread() -> None:
    """One change in thirty days: the mean and the standard deviation of an exponential distribution; no interval."""
    found = believed(np.ones(1), np.full(1, 30.0))
    assert found.rate[0] == found.error[0] == pytest.approx(1 / 30)
    assert not found.has_interval
