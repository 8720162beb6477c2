from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from webstrata.schedule.policy import Bounds
from webstrata.schedule.textbook.adaptive import Dyn, Fix

ROW = np.array([0])

# (policy, interval, flags in order of time, interval after them)
WORKED = [
    # fix: the last two visits at this interval decide
    (Fix, 7.0, "1", 7.0),
    (Fix, 7.0, "11", 3.5),
    (Fix, 7.0, "00", 10.5),
    (Fix, 7.0, "01", 7.0),
    (Fix, 7.0, "011", 3.5),
    (Fix, 30.0, "11", 15.0),
    (Fix, 30.0, "00", 60.0),
    (Fix, 31.0, "11", 31.0 / 1.5),
    (Fix, 45.0, "00", 90.0),
    (Fix, 1.0, "11", 1.0),
    (Fix, 1.5, "11", 1.0),
    (Fix, 100.0, "00", 180.0),
    (Fix, 7.0, "1111", 1.75),  # two for each halving: the new interval needs its own evidence
    (Fix, 7.0, "111", 3.5),
    (Fix, 180.0, "001", 180.0),  # clamped to the same interval: the flags still hold, and are mixed
    # dyn: 4 visits up to 7 days, 3 up to 30, 2 up to 60, then 1
    (Dyn, 7.0, "111", 7.0),
    (Dyn, 7.0, "1111", 3.5),
    (Dyn, 7.0, "0000", 10.5),
    (Dyn, 7.0, "0111", 7.0),
    (Dyn, 7.01, "111", 7.01 / 2),
    (Dyn, 30.0, "00", 30.0),
    (Dyn, 30.0, "000", 60.0),
    (Dyn, 30.01, "11", 30.01 / 1.5),
    (Dyn, 60.0, "0", 60.0),
    (Dyn, 60.0, "00", 120.0),
    (Dyn, 61.0, "1", 61.0 / 1.5),
    (Dyn, 61.0, "0", 122.0),
    (Dyn, 180.0, "0", 180.0),
    (Dyn, 7.0, "0000000", 15.75),
]


@pytest.mark.parametrize(("policy", "interval", "flags", "expected"), WORKED)
def test_worked_rules(policy: type[Dyn | Fix], interval: float, flags: str, expected: float) -> None:
    """The intervals equal those worked out by hand from the paper's rules."""
    strategy = policy(Bounds(start_days=interval))
    state = strategy.start(1)
    for flag in flags:
        strategy.learn(state, ROW, np.array([interval]), np.array([flag == "1"]))
    assert strategy.interval(state, ROW)[0] == pytest.approx(expected, rel=1e-12)


def _by_the_book(interval: float, flags: list[bool], needed_at: object) -> float:
    """The same strategies as a literal implementation of the paper."""
    evidence: list[bool] = []
    for flag in flags:
        evidence.append(flag)
        k = needed_at(interval)  # type: ignore[operator]
        last = evidence[-k:]
        if len(last) < k:
            continue
        moved = interval
        if all(last):
            moved = interval / 2 if interval <= 30 else interval / 1.5
        elif not any(last):
            moved = interval * 1.5 if interval < 30 else interval * 2
        moved = min(180.0, max(1.0, moved))
        if moved != interval:
            interval, evidence = moved, []
    return interval


@given(
    flags=st.lists(st.lists(st.booleans(), min_size=5, max_size=5), max_size=60),
    start=st.floats(min_value=1, max_value=180),
)
def test_agrees_with_a_plain_reading(flags: list[list[bool]], start: float) -> None:
    """Batches of five pages give the same intervals as a page-by-page implementation."""
    books = {
        Fix: lambda interval: 2,
        Dyn: lambda interval: 1 if interval > 60 else 2 if interval > 30 else 3 if interval > 7 else 4,
    }
    for policy, needed_at in books.items():
        strategy = policy(Bounds(start_days=start))
        state, rows = strategy.start(5), np.arange(5)
        for row in flags:
            strategy.learn(state, rows, np.ones(5), np.array(row))
        expected = [_by_the_book(start, [row[page] for row in flags], needed_at) for page in range(5)]
        assert strategy.interval(state, rows).tolist() == expected


def test_explains_itself() -> None:
    """The evidence lists the visits at this interval, oldest first, and how many must agree."""
    strategy = Dyn()
    state = strategy.start(2)
    for flag in (True, False, False):
        strategy.learn(state, np.array([1]), np.array([7.0]), np.array([flag]))
    assert strategy.explain(state, 1) == {
        "interval_days": 7.0,
        "recent_changes": [True, False, False],
        "visits_that_must_agree": 4,
        "rule": "the interval changes when the last 4 visits at it all saw a change, or none did",
    }
    assert strategy.explain(state, 0)["recent_changes"] == []
