from __future__ import annotations

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webstrata.detect.diff.matching import matching_lines

LINES = st.lists(st.sampled_from("abcdefgh") | st.text(alphabet="xyz", min_size=1, max_size=3), max_size=60)


@given(LINES, LINES)
def test_matches_are_equal_ordered_and_maximal(before: list[str], after: list[str]) -> None:
    """Matches have equal lines on both sides, are in order, do not overlap and are not adjacent."""
    i = j = 0
    for number, run in enumerate(matching_lines(before, after)):
        assert run.length > 0
        assert before[run.before : run.before + run.length] == after[run.after : run.after + run.length]
        assert run.before >= i
        assert run.after >= j
        assert number == 0 or (run.before, run.after) != (i, j)
        i, j = run.before + run.length, run.after + run.length


@given(LINES)
def test_equal_texts_are_one_match(lines: list[str]) -> None:
    """A text matches itself in one sequence."""
    assert [(run.before, run.after, run.length) for run in matching_lines(lines, lines)] == (
        [(0, 0, len(lines))] if lines else []
    )


HOSTILE = {
    "swapped pairs": (["a", "b"] * 40_000, ["b", "a"] * 40_000),
    "reversed": ([str(n) for n in range(80_000)], [str(n) for n in range(80_000, 0, -1)]),
    "stairs": ([str(n // 2) for n in range(60_000)], [str((n + 1) // 2) for n in range(60_000)]),
    "few words": tuple(
        [f"u{n}" if n % 400 == 0 else random.Random(seed * 100_000 + n).choice("ab") for n in range(60_000)]
        for seed in (1, 2)
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_bounded_time(name: str) -> None:
    """Hostile texts are compared within seconds."""
    before, after = HOSTILE[name]
    started = time.process_time()
    matching_lines(before, after)
    assert time.process_time() - started < 10
