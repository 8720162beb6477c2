"""Excerpts of differences: only what differs, within limits."""

from __future__ import annotations

from msgspec.structs import replace

from webstrata.detect.diff.changed_words import changed_lines, changed_words
from webstrata.detect.diff.difference import Difference, ParsedVersion, difference
from webstrata.detect.diff.feed import FieldChange


def _difference(before: str, after: str) -> Difference:
    return difference(ParsedVersion(text=before), ParsedVersion(text=after), before_name="a", after_name="b")


def test_only_what_differs() -> None:
    """Lines around a change and headings are left out; in one line, both versions are marked."""
    found = _difference("one\ntwo words here\nthree", "one\ntwo letters here\nthree\nfour")
    assert [line.sign + line.text for line in changed_lines(found, merged=False)] == [
        "-two words here",
        "+two letters here",
        "+four",
    ]
    (first, second) = changed_lines(found, merged=True)
    assert [(run.sign, run.text) for run in first.runs] == [
        (" ", "two "),
        ("-", "words"),
        ("+", "letters"),
        (" ", " here"),
    ]
    assert [(run.sign, run.text) for run in second.runs] == [("+", "four")]


def test_long_lines_are_shortened() -> None:
    """Of a long line the changed words are shown with some around them; a new long line is cut at its end."""
    long = "word " * 1_000
    lines = list(changed_lines(_difference(f"{long}old {long}", f"{long}new {long}\n{long}"), merged=False))
    texts = [line.text for line in lines]
    assert [len(text) <= 201 for text in texts] == [True] * len(texts)
    assert any("old" in text for text in texts)
    assert texts[-1].startswith("word word")
    assert texts[-1].endswith("…")


def test_words() -> None:
    """Removed and added words are texts, one line for each line of the page, up to a number of characters."""
    found = _difference("price: 4.99 EUR\nsame", "price: 5.49 EUR\nsame\na whole new line")
    assert changed_words(found, 100) == ("4.99", "5.49\na whole new line")
    assert changed_words(found, 10) == ("4.99", "5.49\na who…")
    assert changed_words(_difference("a", "a"), 10) == ("", "")


def test_words_of_a_move() -> None:
    """Both addresses are given in full, before the words of the text."""
    move = FieldChange(name="address", before="https://a.example/old", after="https://a.example/older")
    found = replace(_difference("one", "two"), move=move)
    assert changed_words(found, 100) == ("https://a.example/old\none", "https://a.example/older\ntwo")
    assert changed_words(found, 10) == ("https://a.…", "https://a.…")


def test_words_of_data() -> None:
    """Of data, the values are the words, not their names."""
    found = difference(
        ParsedVersion(document={"a": 1, "b": 2}),
        ParsedVersion(document={"a": 1, "b": 3, "c": "x"}),
        before_name="a",
        after_name="b",
    )
    assert changed_words(found, 100) == ("2", '3\n"x"')
