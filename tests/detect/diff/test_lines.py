from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from webstrata.detect.diff.binary import BinaryDifference
from webstrata.detect.diff.difference import Difference, ParsedVersion, difference
from webstrata.detect.diff.feed import EntryVersion
from webstrata.detect.diff.lines import merged_lines, signed_lines
from webstrata.detect.diff.text import WordRun

TEXT = st.lists(st.sampled_from(["the old word", "the new word", "a", "b c", "x", ""]), max_size=30).map("\n".join)


def _compare(before: ParsedVersion, after: ParsedVersion) -> Difference:
    return difference(before, after, before_name="then", after_name="now")


def _signed(before: ParsedVersion, after: ParsedVersion) -> list[str]:
    return [line.text if line.sign == "@" else line.sign + line.text for line in signed_lines(_compare(before, after))]


@given(TEXT, TEXT)
def test_text_is_a_unified_diff(before: str, after: str) -> None:
    """With or without marked words, the lines of a text are those of its unified diff."""
    found = _compare(ParsedVersion(text=before), ParsedVersion(text=after))
    for with_words in (True, False):
        lines = signed_lines(found, with_words=with_words)
        shown = [line.text if line.sign == "@" else line.sign + line.text for line in lines]
        assert shown == found.unified.split("\n")[:-1]


def test_words_are_marked_in_lines() -> None:
    """In removed and added lines, the words that differ are marked."""
    found = _compare(ParsedVersion(text="the old word"), ParsedVersion(text="the new word"))

    assert [line.runs for line in signed_lines(found)][-2:] == [
        [WordRun(" ", "the "), WordRun("-", "old"), WordRun(" ", " word")],
        [WordRun(" ", "the "), WordRun("+", "new"), WordRun(" ", " word")],
    ]
    assert [line.runs for line in merged_lines(found)][-1] == [
        WordRun(" ", "the "),
        WordRun("-", "old"),
        WordRun("+", "new"),
        WordRun(" ", " word"),
    ]


def test_menus_stand_apart() -> None:
    """What differs outside the main content follows the main content, under its own names."""
    lines = _signed(ParsedVersion(text="a", outside="menu"), ParsedVersion(text="b", outside="menus"))

    assert lines.index("+b") < lines.index("--- then (outside the main content)") < lines.index("+menus")


def test_tables() -> None:
    """Changed cells have the key of their row and the name of their column; rows stand below the names of columns."""
    before = [("id", "name", "rate"), ("a", "A", "1"), ("b", "B", "2"), ("c", "C", "3")]
    after = [("id", "name", "rate"), ("a", "A", "1"), ("b", "B", "2.5"), ("d", "D", "4")]

    assert _signed(ParsedVersion(table=before), ParsedVersion(table=after)) == [
        "@@ table: 1 row added, 1 row removed, 1 cell changed @@",
        " b rate: 2 → 2.5",
        " id | name | rate",
        "-c | C | 3",
        " id | name | rate",
        "+d | D | 4",
    ]


def test_feeds() -> None:
    """Entries are shown one by one: new, changed with the fields, removed."""
    before = (
        EntryVersion(id="2", title="Dropped", link="http://a.test/2"),
        EntryVersion(id="1", title="The old title", link="http://a.test/1"),
    )
    after = (
        EntryVersion(id="3", title="Third", link="http://a.test/3", updated="2026-11-15T00:00:00Z"),
        EntryVersion(id="1", title="The new title", link="http://a.test/1"),
    )

    assert _signed(ParsedVersion(entries=before), ParsedVersion(entries=after)) == [
        "@@ feed: 1 new entry, 1 changed, 1 removed @@",
        "+Third <http://a.test/3> 2026-11-15T00:00:00Z",
        " The new title <http://a.test/1>",
        "   title: The old title → The new title",
        "-Dropped <http://a.test/2>",
    ]


def test_long_values_are_excerpts() -> None:
    """Of a long value, the changed words are shown with the words around them."""
    body = "many words before and after the change " * 40
    before, after = (EntryVersion(id="1", title="t", content=f"{body}{rate} per cent {body}") for rate in ("5", "6"))
    lines = _signed(ParsedVersion(entries=(before,)), ParsedVersion(entries=(after,)))

    assert [line[:1] for line in lines] == ["@", " ", "-", "+"]
    assert "the change 5 per cent many" in lines[2]
    assert "the change 6 per cent many" in lines[3]
    assert max(map(len, lines)) < 200


def test_a_binary_content_is_one_line() -> None:
    """Of binary contents there is one sentence."""
    found = Difference(before_name="", after_name="", binary=BinaryDifference(before="PNG 1×1", after="PNG 2×2"))

    assert [line.text for line in signed_lines(found)] == ["PNG 1×1 to 2×2"]
