from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webstrata.schedule.policy import LARGEST_STATE
from webstrata.schedule.textbook.adaptive import step
from webstrata.schedule.textbook.markov import State1, State1L, State2, State2L, table_row

THIRD, TWO_THIRDS = 2.333333, 4.666667

# policy, flags, interval after each visit, from 7 days within 1 to 180
WORKED = [
    (State1, "11111111", [7, THIRD, 1, 1, 1, 1, 1, 1]),
    (State2, "11111111", [7, 7, THIRD, 1, 1, 1, 1, 1]),
    (State1L, "11111111", [7, TWO_THIRDS, TWO_THIRDS, 3.111111, 3.111111, 2.074074, 2.074074, 1.382716]),
    (State1, "00000000", [7, 21, 63, 180, 180, 180, 180, 180]),
    (State2, "00000000", [7, 7, 21, 63, 180, 180, 180, 180]),
    (State2L, "00000000", [7, 7, 10.5, 10.5, 10.5, 15.75, 15.75, 15.75]),
    (State1, "10101010", [7, 7, 21, 21, 63, 63, 180, 180]),
    (State2, "10101010", [7, 7, 7, THIRD, THIRD, 1, 1, 1]),
    (State1L, "10101010", [7, 7, 10.5, 10.5, 10.5, 7, 10.5, 7]),
    (State1, "01100110", [7, 7, THIRD, THIRD, 7, THIRD, THIRD, 7]),
    (State2, "01100110", [7, 7, 7, 7, 7, THIRD, THIRD, THIRD]),
    (State1, "00010000", [7, 21, 63, 63, 21, 63, 63, 94.5]),
    (State2, "00010000", [7, 7, 21, 21, 21, 7, 21, 21]),
    (State1L, "00010000", [7, 10.5, 10.5, 10.5, 7, 10.5, 7, 10.5]),
    (State1, "1110001111", [7, THIRD, 1, 1, 3, 9, 9, 3, 1, 1]),
    (State2, "1110001111", [7, 7, THIRD, THIRD, THIRD, 7, 7, THIRD, THIRD, 1.555556]),
]


@pytest.mark.parametrize(("policy", "flags", "expected"), WORKED)
def test_worked_vectors(
    play: Callable[..., list[float]], policy: type[State1], flags: str, expected: list[float]
) -> None:
    """The interval after each visit equals the one worked out by hand, to six digits."""
    assert play(policy(), flags) == expected


def _by_the_book(policy: type[State1], flags: list[bool]) -> float:
    """The same strategies with an unlimited number of tables, page by page."""
    interval, order, smoothed = 7.0, policy.order, policy.smoothed
    tables: dict[float, dict[tuple[bool, ...], list[int]]] = defaultdict(lambda: defaultdict(lambda: [0, 0]))
    taken_at: list[float] = []
    for n, flag in enumerate(flags):
        taken_at.append(interval)
        here = tables[round(interval, 5)]
        same = all(abs(one - interval) < 1e-6 for one in taken_at[-order - 1 :])
        if n >= order and (same or not smoothed):
            here[tuple(flags[n - order : n])][flag] += 1
        if n + 1 < order:
            continue
        none, some = here[tuple(flags[n + 1 - order : n + 1])]
        share = (some + 1) / (none + some + 2) if smoothed else some / (none + some) if none + some else float("nan")
        interval = float(np.clip(step(np.array([interval]), np.array([share])), 1, 180)[0])
    return interval


@pytest.mark.parametrize("policy", [State1, State2, State1L, State2L])
@settings(deadline=None, max_examples=40)
@given(st.lists(st.lists(st.booleans(), min_size=3, max_size=3), max_size=40))
def test_agrees_with_tables_without_end(policy: type[State1], flags: list[list[bool]]) -> None:
    """Batches give the same intervals as a page-by-page implementation with unlimited tables."""
    made = policy()
    state, rows = made.start(3), np.arange(3)
    for visit in flags:
        made.learn(state, rows, np.ones(3), np.array(visit))
    expected = [_by_the_book(policy, [visit[page] for visit in flags]) for page in range(3)]
    assert made.interval(state, rows) == pytest.approx(expected, rel=1e-9)


class _OneTable(State1):
    name = "one-table"
    dtype = table_row(1, 1)


def test_the_table_used_longest_ago_gives_way(play: Callable[..., list[float]]) -> None:
    """With a single table, the counts of a previous interval are lost."""
    flags = "01100110"
    assert play(_OneTable(), flags) != play(State1(), flags)


def test_rows_are_small() -> None:
    """The states of all four are within the limit."""
    assert max(policy.dtype.itemsize for policy in (State1, State2, State1L, State2L)) <= LARGEST_STATE


def test_full_counters_are_halved() -> None:
    """Full counters are halved and keep their ratio."""
    policy = State1()
    state, row = policy.start(1), np.array([0])
    for _ in range(600):
        policy.learn(state, row, np.ones(1), np.array([True]))
    assert policy.interval(state, row)[0] == 1.0
    assert 128 <= state["counts"].max() <= 255


def test_explains_itself() -> None:
    """The evidence contains the transitions after the present state at this interval."""
    policy = State1()
    state = policy.start(1)
    for flag in (True, False, True):
        policy.learn(state, np.array([0]), np.array([7.0]), np.array([flag]))
    shown = policy.explain(state, 0)
    assert shown["recent_changes"] == [True]
    assert shown["interval_days"] == 21.0
    assert shown["after_the_like"] == {"change": 0, "no_change": 0}
