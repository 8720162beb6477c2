"""Simhash, runs, shapes and excerpts of a text."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.observe.fingerprint_reference import mixed, simhash_of
from webstrata.columns import RUN, Part
from webstrata.observe.page import observation_fields, observe
from webstrata.observe.sketch import hash64
from webstrata.observe.text_runs import MAX_RUNS, excerpts_of, run_shape, runs_of, simhash
from webstrata.records import PageRules


def test_mixing_is_murmurs() -> None:
    """The last steps of MurmurHash3 give its published hash of no bytes with seed 1, and keep 0."""
    assert (mixed(0), mixed(1)) == (0, 0x514E28B7)


@pytest.mark.parametrize("number", [1, 2, 3, 4, 254, 255, 256, 257, 258, 511, 3_000])
def test_twin(number: int) -> None:
    """The simhash of any words equals that of the reference implementation, which works word by word."""
    chance = random.Random(number)
    words = [chance.randbytes(chance.randrange(1, 40)).replace(b" ", b"x") for _ in range(number - 1)]
    words.append(b"y" * 5_000)
    assert simhash(b" ".join(words)) == simhash_of(words)


def test_repeated_word() -> None:
    """Counts do not overflow if all shingles are equal."""
    assert simhash(b" ".join([b"word"] * 100_000)) == simhash_of([b"word"] * 3)


def test_near_and_far() -> None:
    """One changed word in a thousand changes few bits, another text about half; an empty text has no simhash."""
    chance = random.Random(2)
    words = [b"%d" % chance.randrange(500) for _ in range(1000)]
    other = [b"%d" % chance.randrange(500, 1000) for _ in range(1000)]
    texts = (b" ".join(each) for each in (words, [*words[:500], b"new", *words[501:]], other))
    original, edited, far = (simhash(text) for text in texts)
    assert original is not None
    assert edited is not None
    assert far is not None
    assert (original ^ edited).bit_count() <= 6
    assert 16 <= (original ^ far).bit_count() <= 48
    assert simhash(b"") is None


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
    """Two texts that differ only in a time, a number or a token have the same shape."""
    assert run_shape(one) == run_shape(other)


@pytest.mark.parametrize(("one", "other"), OTHER_SHAPE)
def test_words_change_the_shape(one: str, other: str) -> None:
    """Texts with different words have different shapes."""
    assert run_shape(one) != run_shape(other)


def test_runs_have_part_and_length() -> None:
    """Runs are in the order title, body, header, footer, with one row per line."""
    rows = np.frombuffer(runs_of("T", "one two\nthree", "menu", "end"), dtype=RUN)
    assert rows["part"].tolist() == [0, 1, 1, 2, 3]
    assert rows["words"].tolist() == [1, 2, 1, 1, 1]
    assert rows["value"][1] == hash64("one two")


def test_long_lines_are_split_into_sentences() -> None:
    """Each sentence of a long paragraph is one run."""
    text = "This is a sentence with some words in it. " * 8 + "It is 12:31."
    assert len(np.frombuffer(runs_of("", text), dtype=RUN)) == 9


def test_number_of_runs_is_limited() -> None:
    """Runs beyond the limit are stored in blocks, and a change in them concerns a block, and where a limit moved."""
    lines = [f"line {n}" for n in range(9000)]
    first = np.frombuffer(runs_of("", "\n".join(lines)), dtype=RUN)
    assert MAX_RUNS[Part.BODY] < len(first) < 3 * MAX_RUNS[Part.BODY]
    assert first["words"].sum() == 2 * len(lines)
    edited = [*lines[:5000], "other", *lines[5000:]]
    second = np.frombuffer(runs_of("", "\n".join(edited)), dtype=RUN)
    assert 1 <= len(set(second["value"].tolist()) - set(first["value"].tolist())) <= 3


def test_number_of_blocks_is_limited() -> None:
    """Of a very long part the last block holds all the rest."""
    rows = np.frombuffer(runs_of("", "\n".join(f"line {n}" for n in range(60_000))), dtype=RUN)
    assert len(rows) <= MAX_RUNS[Part.BODY] + 1000


@pytest.mark.parametrize("text", ["a" * 300_000, "1." * 100_000, "a-" * 100_000, "=1" * 100_000, "x " * 100_000 + "."])
def test_hostile_lines_take_linear_time(text: str) -> None:
    """Long lines made to be slow are processed within the time limit of the test."""
    assert runs_of("", text)


def test_excerpts_of_new_runs() -> None:
    """Excerpts are the beginnings of runs that the previous version does not have."""
    before = runs_of("", "one\ntwo")
    assert excerpts_of(["one\nnew words\n" + "x" * 500], before) == {
        hash64("new words"): "new words",
        hash64("x" * 500): "x" * 99 + "…",
    }


def test_observation_fields_follow_the_page_rules() -> None:
    """With rules, the runs are those of the selected text."""
    body = b"<title>T</title><main><p class=a>kept</p><p>dropped</p></main>"
    seen = observe(body, "text/html", "https://a.test/", PageRules(include=("css:.a",)))
    assert observation_fields(seen).lines == runs_of("", "kept")
