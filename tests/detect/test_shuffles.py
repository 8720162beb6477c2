"""Shuffled lists: recognised by the items that both versions have, in another order."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from webstrata.detect.runs import TextRuns, parse_runs
from webstrata.detect.shuffles import shuffled_lists
from webstrata.observe.text_runs import runs_of

NAMES = [f"{a}{b}" for a in ("An", "Ber", "Cle", "Do", "E") for b in ("na", "ta", "o", "ra", "mil")]


def runs(*lines: str) -> TextRuns:
    return parse_runs(runs_of("", "\n".join(lines)))


@given(st.integers(2, 25), st.integers(0, 1000))
def test_a_shuffled_list_is_found(count: int, seed: int) -> None:
    """Only the runs of the list are in its range, whatever else changed."""
    items = NAMES[:count]
    shuffled = Random(seed).sample(items, count)
    found = list(shuffled_lists(runs("Head", *items, "Tail", "Old"), runs("Head", *shuffled, "Tail", "New")))
    assert all(rows.start >= 1 and rows.stop <= count + 1 for rows in found)
    if shuffled == items[::-1]:
        assert found == [range(1, count + 1)]
    if shuffled == items:
        assert found == []


def test_a_ranking_is_not_shuffled() -> None:
    """One item that moves up in a long list is no shuffle."""
    moved = [NAMES[20], *NAMES[:20], *NAMES[21:]]
    assert list(shuffled_lists(runs(*NAMES), runs(*moved))) == []


def test_exchanged_prices_are_not_shuffled() -> None:
    """A price belongs to the article before it."""
    before = runs("Lamp", "99 EUR", "Chair", "120 EUR", "Table", "7 EUR")
    assert list(shuffled_lists(before, runs("Lamp", "120 EUR", "Chair", "99 EUR", "Table", "7 EUR"))) == []
    assert list(shuffled_lists(before, runs("Table", "7 EUR", "Chair", "120 EUR", "Lamp", "99 EUR"))) == [range(6)]
