from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webstrata.schedule.policy import Bounds
from webstrata.schedule.textbook.adaptive import Window

# flags -> interval after each visit, from 7 days within 1 to 180
WORKED = [
    ("11111111", [2.333333, 1, 1, 1, 1, 1, 1, 1]),
    ("00000000", [21, 63, 180, 180, 180, 180, 180, 180]),
    ("10101010", [2.333333, 7, 2.333333, 2.333333, 2.333333, 3.5, 2.333333, 2.333333]),
    ("01100110", [21, 7, 2.333333, 2.333333, 7, 10.5, 7, 7]),
    ("1110001111", [2.333333, 1, 1, 1, 3, 9, 13.5, 13.5, 9, 4.5]),
]


@pytest.mark.parametrize(("flags", "expected"), WORKED)
def test_worked_vectors(play: Callable[..., list[float]], flags: str, expected: list[float]) -> None:
    """The interval after each visit equals the one worked out by hand, to six digits."""
    assert play(Window(), flags) == expected


def _by_the_book(flags: list[bool]) -> float:
    interval = 7.0
    for n in range(1, len(flags) + 1):
        wide = min(10, max(1, n // 2))
        share = sum(flags[n - wide : n]) / wide
        for limit, factor in ((0.9, 3), (0.75, 2), (0.6, 1.5)):
            if share > limit:
                interval /= factor
                break
        else:
            for limit, factor in ((0.1, 3), (0.25, 2), (0.4, 1.5)):
                if share < limit:
                    interval *= factor
                    break
        interval = min(180.0, max(1.0, interval))
    return interval


@settings(deadline=None, max_examples=40)
@given(st.lists(st.lists(st.booleans(), min_size=3, max_size=3), max_size=50))
def test_agrees_with_a_plain_reading(flags: list[list[bool]]) -> None:
    """Batches give the same intervals as a page-by-page implementation."""
    policy = Window(Bounds())
    state, rows = policy.start(3), np.arange(3)
    for visit in flags:
        policy.learn(state, rows, np.ones(3), np.array(visit))
    expected = [_by_the_book([visit[page] for visit in flags]) for page in range(3)]
    assert policy.interval(state, rows) == pytest.approx(expected, rel=1e-12)


def test_explains_itself(play: Callable[..., list[float]]) -> None:
    """The evidence lists the visits of the window, oldest first."""
    policy = Window()
    state = policy.start(1)
    assert policy.explain(state, 0)["recent_changes"] == []
    for flag in (True, False, True, True):
        policy.learn(state, np.array([0]), np.array([7.0]), np.array([flag]))
    assert policy.explain(state, 0)["recent_changes"] == [True, True]
