from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from webstrata.detect.diff.pairs import LinePair, WordMarker, is_marked, line_pairs
from webstrata.detect.diff.text import WordRun, diff_lines

LINES = st.lists(st.sampled_from(["a b c", "a b d", "x y z", "x y", "one two three", ""]), max_size=20)


def _pairs(before: str, after: str) -> list[LinePair]:
    return list(line_pairs(diff_lines(before, after)))


def test_replaced_lines_are_paired() -> None:
    """Removed lines are paired with the lines that replaced them; an extra line has no counterpart."""
    result = _pairs("a\nb\nc", "a\nx\ny\nc")

    assert result[1:] == [
        LinePair("a", "a", differs=False),
        LinePair("b", "x", differs=True),
        LinePair(None, "y", differs=True),
        LinePair("c", "c", differs=False),
    ]
    assert result[0].heading


def test_equal_texts_have_no_pairs() -> None:
    """Equal texts give an empty list."""
    assert _pairs("a\nb", "a\nb") == []


def test_similar_lines_are_paired() -> None:
    """A changed line is paired with its new form, also if other lines were added before it."""
    result = _pairs("the price is 5 EUR", "a new line\nanother one\nthe price is 6 EUR")

    assert result[1:] == [
        LinePair(None, "a new line", differs=True),
        LinePair(None, "another one", differs=True),
        LinePair("the price is 5 EUR", "the price is 6 EUR", differs=True, similar=True),
    ]


@given(LINES, LINES)
def test_pairs_hold_all_lines(before: list[str], after: list[str]) -> None:
    """The sides of the pairs, read from top to bottom, are the removed and the added lines in their order."""
    lines = diff_lines("\n".join(before), "\n".join(after))
    pairs = [pair for pair in line_pairs(lines) if pair.differs]

    assert [pair.before for pair in pairs if pair.before is not None] == [x.text for x in lines if x.sign == "-"]
    assert [pair.after for pair in pairs if pair.after is not None] == [x.text for x in lines if x.sign == "+"]


def test_large_blocks_are_paired_by_position() -> None:
    """The lines of a large block are not compared with each other."""
    before = "\n".join(f"line {number} old" for number in range(1000))
    after = "\n".join(f"line {number} new" for number in range(1000))

    assert [(p.before, p.after) for p in _pairs(before, after)[1:3]] == [
        ("line 0 old", "line 0 new"),
        ("line 1 old", "line 1 new"),
    ]


def test_words_of_different_lines_are_not_marked() -> None:
    """A line that shares few words with the other differs as a whole."""
    runs = WordMarker().runs(LinePair("the cat sat here", "the price rose again", differs=True))

    assert runs == [WordRun("-", "the cat sat here"), WordRun("+", "the price rose again")]
    assert not is_marked(runs)


def test_the_number_of_marked_words_is_limited() -> None:
    """After many words, further pairs have no marks."""
    marker = WordMarker()
    before, after = "word " * 9000 + "old", "word " * 9000 + "new"
    pair = LinePair(before, after, differs=True, similar=True)
    marked = [is_marked(marker.runs(pair)) for _ in range(20)]

    assert marked[0]
    assert not marked[-1]
