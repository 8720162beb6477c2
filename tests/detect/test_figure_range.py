"""The range of learned figures: jumps out of it are changes, steady growth is not."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from webstrata.detect.figure_range import FigureRange, is_jump, with_figure

DAY = 86400.0


def known(*figures: float, every: float = DAY) -> FigureRange | None:
    found = None
    for old, new in pairwise(figures):
        found = with_figure(found, old, new, every)
    return found


def test_jumps() -> None:
    """A figure that falls to a fraction, to zero or below, or rises ten-fold, leaves its range."""
    assert is_jump(known(99, 97, 98, 99), 99, 4.99, DAY)
    assert is_jump(known(5, 4, 6, 3), 3, 0, DAY)
    assert is_jump(known(5, 4, 6, 3), 3, -1, DAY)
    assert is_jump(known(-5, -4, -6), -6, 2, DAY)
    assert is_jump(known(40, 80, 30, 60), 60, 900, DAY)
    assert is_jump(known(40, 80, 30, 60), 60, float("nan"), DAY)


def test_no_jumps() -> None:
    """Values within the range or near it, and figures of which no range is known, do not jump."""
    assert not is_jump(known(40, 80, 30, 60), 60, 95, DAY)
    assert not is_jump(known(40, 80, 30, 60), 60, 35, DAY)
    assert not is_jump(None, 60, 900, DAY)


@given(st.integers(0, 10**6), st.integers(1, 10**4), st.integers(3, 20), st.floats(1, 400))
def test_a_counter_that_grows_steadily_never_jumps(start: int, per_day: int, visits: int, pause_days: float) -> None:
    """Neither from visit to visit nor after a pause of weeks or months."""
    figures = [start + 1 + per_day * n for n in range(visits)]
    found = known(*figures)
    after = figures[-1] + per_day * pause_days
    assert not any(is_jump(known(*figures[:n]), figures[n - 1], figures[n], DAY) for n in range(3, visits))
    assert not is_jump(found, figures[-1], after, DAY * pause_days)


def test_the_way_back_is_a_jump_too() -> None:
    """Until the third jump; a figure that is reset again and again is not told for ever."""
    found, told = known(99, 98, 99), []
    for old, new in ((99, 5), (5, 99), (99, 5), (5, 99), (99, 5)):
        told.append(is_jump(found, old, new, DAY))
        found = with_figure(found, old, new, DAY)
    assert told == [True, True, True, False, False]
