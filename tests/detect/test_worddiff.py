"""Word by word."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from webstrata.detect.diff.text import WordRun, word_diff


def test_changed_words_stand_apart() -> None:
    """Only the words that differ are marked; what stays keeps its spaces."""
    found = word_diff("the quick fox, 12 times", "the slow fox, 13 times")

    assert found == [
        WordRun(" ", "the "),
        WordRun("-", "quick"),
        WordRun("+", "slow"),
        WordRun(" ", " fox, "),
        WordRun("-", "12"),
        WordRun("+", "13"),
        WordRun(" ", " times"),
    ]


@given(st.text(max_size=200), st.text(max_size=200))
def test_both_texts_can_be_read_back(before: str, after: str) -> None:
    """Without what came it is the old text, without what went the new one."""
    found = word_diff(before, after)

    assert "".join(words.text for words in found if words.sign != "+") == before
    assert "".join(words.text for words in found if words.sign != "-") == after


def test_endless_lines_are_replaced_as_a_whole() -> None:
    """A line of very many words is not searched for matches."""
    before, after = "a " * 30_000, "b " * 30_000

    assert word_diff(before, after) == [WordRun("-", before), WordRun("+", after)]
