from __future__ import annotations

import numpy as np
import pytest

from webstrata.columns import RUN
from webstrata.observe.page import observation_fields, observe
from webstrata.observe.text_runs import excerpts_of, hash64, run_shape, runs_of
from webstrata.records import PageRules

SAME_SHAPE = [
    ("It is 12:31:05 on Monday, 2 March 2026", "It is 9:02:11 on Friday, 13 November 2026"),
    ("1,024 visitors online", "999 visitors online"),
    ("Session 8f3c9a7d6e5b4a3f2c1d", "Session 00ff9a7d6e5b4a3f2c1e"),
    ("posted 3 minutes ago", "posted 12 hours ago"),
    ("Updated 2026-01-02T03:04:05Z", "Updated 2026-11-12T13:14:15Z"),
]
OTHER_SHAPE = [
    ("1,024 visitors online", "1,024 visitors offline"),
    ("Licence: CC BY 4.0", "Licence: CC BY-NC 4.0"),
    ("Open", "Closed"),
]


@pytest.mark.parametrize(("one", "other"), SAME_SHAPE)
def test_clocks_counters_and_tokens_keep_their_shape(one: str, other: str) -> None:
    """Only what such things change is masked."""
    assert run_shape(one) == run_shape(other)


@pytest.mark.parametrize(("one", "other"), OTHER_SHAPE)
def test_words_change_the_shape(one: str, other: str) -> None:
    """Other words are another shape."""
    assert run_shape(one) != run_shape(other)


def test_runs_say_where_they_stand_and_how_long_they_are() -> None:
    """Title first, then body, header and footer, one row a line."""
    rows = np.frombuffer(runs_of("T", "one two\nthree", "menu", "end"), dtype=RUN)
    assert rows["part"].tolist() == [0, 1, 1, 2, 3]
    assert rows["words"].tolist() == [1, 2, 1, 1, 1]
    assert rows["value"][1] == hash64("one two")


def test_long_lines_are_cut_into_sentences() -> None:
    """A clock in a long paragraph does not make the whole paragraph one run."""
    text = "This is a sentence with some words in it. " * 8 + "It is 12:31."
    assert len(np.frombuffer(runs_of("", text), dtype=RUN)) == 9


def test_long_pages_are_bounded_and_still_whole() -> None:
    """Beyond the limit the rest is one run, so a change anywhere still shows."""
    lines = [f"line {n}" for n in range(5000)]
    first = runs_of("", "\n".join(lines))
    assert len(first) == 400 * RUN.itemsize
    assert first != runs_of("", "\n".join([*lines[:-1], "other"]))


@pytest.mark.parametrize("text", ["a" * 300_000, "1." * 100_000, "a-" * 100_000, "=1" * 100_000, "x " * 100_000 + "."])
def test_hostile_lines_take_linear_time(text: str) -> None:
    """No line of a few hundred kilobytes takes more than a moment."""
    assert runs_of("", text)


def test_excerpts_are_of_what_is_new() -> None:
    """Only runs that the version before lacked are quoted, cut short."""
    before = runs_of("", "one\ntwo")
    assert excerpts_of(["one\nnew words\n" + "x" * 500], before) == {
        hash64("new words"): "new words",
        hash64("x" * 500): "x" * 99 + "…",
    }


def test_trace_follows_the_rules_of_the_page() -> None:
    """With rules, the runs are of what they select."""
    body = b"<title>T</title><main><p class=a>kept</p><p>dropped</p></main>"
    seen = observe(body, "text/html", "https://a.test/", PageRules(include=("css:.a",)))
    assert observation_fields(seen).lines == runs_of("", "kept")
