from __future__ import annotations

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webstrata.detect.diff.text import DiffLine, WordRun, diff_lines, unified, word_diff

TEXT = st.lists(st.sampled_from(["a", "b", "c", "d", "one", "two", ""]), max_size=40).map(
    lambda lines: "".join(line + "\n" for line in lines)
)


def applied(before: str, patch: str) -> str:
    """Apply a unified diff to a text."""
    old, out, position = before.splitlines(), [], 0
    for line in patch.splitlines()[2:]:
        if line.startswith("@@"):
            start, _, length = line.split()[1][1:].partition(",")
            target = int(start) - (1 if length != "0" else 0)
            out += old[position:target]
            position = target
        elif line[0] == "+":
            out.append(line[1:])
        else:
            assert old[position] == line[1:]
            out += [line[1:]] if line[0] == " " else []
            position += 1
    return "".join(line + "\n" for line in out + old[position:])


@given(TEXT, TEXT)
def test_a_diff_applies(before: str, after: str) -> None:
    """The diff applied to the first text gives the second; the diff of equal texts is empty."""
    patch = unified(diff_lines(before, after))
    assert (patch == "") == (before == after)
    assert applied(before, patch) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a\nb\nc\n", "a\nB\nc\n"),
        ("", "a\n"),
        ("a\n", ""),
        ("".join(f"{n}\n" for n in range(40)), "".join(f"{n}\n" for n in range(40) if n not in (3, 30))),
        ("".join(f"{n}\n" for n in range(20)), "".join(f"{n}\n" for n in range(20) if n not in (3, 9))),
    ],
)
def test_same_format_as_difflib(before: str, after: str) -> None:
    """Headings, ranges and context equal those of the standard library's unified diff."""
    expected = difflib.unified_diff(before.splitlines(), after.splitlines(), "before", "after", lineterm="")
    assert unified(diff_lines(before, after)).splitlines() == list(expected)


def test_long_lines_are_split() -> None:
    """A minified page is compared by its elements, not as one line."""
    before = "".join(f"<p>paragraph {number}</p>" for number in range(1000))
    lines = diff_lines(before, before.replace("paragraph 500<", "paragraph five hundred<"))

    assert [line for line in lines if line.sign in "+-"] == [
        DiffLine("-", "<p>paragraph 500</p>"),
        DiffLine("+", "<p>paragraph five hundred</p>"),
    ]


@pytest.mark.parametrize("join", ["", "\n", ";"])
def test_every_difference_is_shown(join: str) -> None:
    """Texts that differ only at the end of a very long line, or after very many lines, are different."""
    before = join.join(["ab"] * 300_000)

    lines = diff_lines(before, before + "c")

    assert [line.sign for line in lines if line.sign in "+-"] == ["-", "+"]
    assert max(len(line.text) for line in lines) < 21_000


def test_only_changed_words_are_marked() -> None:
    """Only the words that differ are marked; equal words keep their spaces."""
    result = word_diff("the quick fox, 12 times", "the slow fox, 13 times")

    assert result == [
        WordRun(" ", "the "),
        WordRun("-", "quick"),
        WordRun("+", "slow"),
        WordRun(" ", " fox, "),
        WordRun("-", "12"),
        WordRun("+", "13"),
        WordRun(" ", " times"),
    ]


def test_adjacent_changed_words_are_one_run() -> None:
    """The space between two changed words is not an equal part: they are marked together."""
    assert word_diff("the quick brown fox", "the slow red fox") == [
        WordRun(" ", "the "),
        WordRun("-", "quick brown"),
        WordRun("+", "slow red"),
        WordRun(" ", " fox"),
    ]


def test_a_number_is_one_word() -> None:
    """A price is marked as a whole, also if one ends with the digits of the other."""
    assert word_diff("now 99 EUR", "now 4.99 EUR")[1:3] == [WordRun("-", "99"), WordRun("+", "4.99")]


def test_characters_of_chinese_are_words() -> None:
    """In a script without spaces each character counts as a word."""
    assert word_diff("价格上涨", "价格下跌") == [WordRun(" ", "价格"), WordRun("-", "上涨"), WordRun("+", "下跌")]


@given(st.text(max_size=200), st.text(max_size=200))
def test_both_texts_can_be_read_back(before: str, after: str) -> None:
    """Without the added words it is the old text, without the removed words the new one."""
    result = word_diff(before, after)

    assert "".join(words.text for words in result if words.sign != "+") == before
    assert "".join(words.text for words in result if words.sign != "-") == after


def test_very_long_lines_are_replaced_as_a_whole() -> None:
    """A line with too many words is not searched for matches."""
    before, after = "a " * 30_000, "b " * 30_000

    assert word_diff(before, after) == [WordRun("-", before), WordRun("+", after)]
