"""Two versions compared run by run: which runs differ, and how many words."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webstrata.detect.comparison import RunComparison, RunDifference, WordCounts
from webstrata.detect.noisy_place import NoisyPlace, gap_key
from webstrata.detect.runs import ALL_TEXT_PARTS, MAIN_PARTS, parse_runs
from webstrata.observe.text_runs import runs_of

WORDS = [f"word{n}" for n in range(3000)]


def compare(before: tuple[str, ...], after: tuple[str, ...]) -> RunComparison:
    """Compare two versions, each given as title, body, header, footer."""
    return RunComparison(parse_runs(runs_of(*before)), parse_runs(runs_of(*after)))


def counted(before: str, after: str) -> WordCounts:
    comparison = compare(("", before), ("", after))
    return comparison.words(comparison.difference(MAIN_PARTS), MAIN_PARTS)


def test_runs_that_only_one_version_has() -> None:
    """The indexes of removed and added runs, each as often as it occurs."""
    comparison = compare(("T", "a\nb\nb\nc"), ("T", "a\nb\nd"))
    difference = comparison.difference(MAIN_PARTS)
    old, new = (parse_runs(runs_of("", text)).values for text in ("b\nc", "d"))
    assert sorted(comparison.old.values[i] for i in difference.removed) == sorted(old)
    assert [comparison.new.values[i] for i in difference.added] == new
    assert not difference.is_reordered


def test_a_run_that_moves_to_another_part_is_in_both_versions() -> None:
    """If the main content of the new version has other limits, the moved lines do not differ."""
    comparison = compare(("T", "story", "menu\nnews", "end"), ("T", "news\nstory", "menu", "end"))
    assert not comparison.difference(MAIN_PARTS, ALL_TEXT_PARTS)
    assert comparison.difference(MAIN_PARTS).added


def test_another_order_differs() -> None:
    """The same runs in another order are a difference without removed and added runs."""
    assert compare(("", "a\nb"), ("", "b\na")).difference(MAIN_PARTS) == RunDifference(is_reordered=True)
    assert not compare(("", "a\nb"), ("", "a\nb")).difference(MAIN_PARTS)


def test_shuffled_tags_differ_only_if_compared_exactly() -> None:
    """A list of words in another order is the same; a sentence, and a line with figures, are not."""
    pairs = {
        "python sphinx documentation": "documentation python sphinx",
        "Lions 2 Tigers 1": "Tigers 2 Lions 1",
        "The dog bit the man who had brought the cat.": "The man bit the cat who had brought the dog.",
    }
    for exact, expected in ((False, [False, True, True]), (True, [True, True, True])):
        found = []
        for before, after in pairs.items():
            old, new = (parse_runs(runs_of("", f"first\n{text}\nlast")) for text in (before, after))
            found.append(bool(RunComparison(old, new, exact=exact).difference(MAIN_PARTS)))
        assert found == expected


SENTENCE = "The council decided on Monday that the old bridge over the river will be closed for two years."


@pytest.mark.parametrize(
    ("before", "after", "removed", "added"),
    [
        (SENTENCE, SENTENCE.replace("two", "three"), 1, 1),
        (SENTENCE, SENTENCE.replace("old bridge", "narrow tunnel"), 2, 2),
        (SENTENCE, f"{SENTENCE}\nA new line of six words.", 0, 6),
        (f"{SENTENCE}\nA new line of six words.", SENTENCE, 6, 0),
        (SENTENCE, "Nothing of this remains here.", 18, 5),
    ],
)
def test_words_are_counted_within_runs(before: str, after: str, removed: int, added: int) -> None:
    """One changed word in a sentence counts as about one word, a new line as all of its words."""
    words = counted(before, after)
    assert abs(words.removed - removed) <= 1 + removed // 4
    assert abs(words.added - added) <= 1 + added // 4


@pytest.mark.parametrize("lines", [10, 300, 1000, 3000, 20_000])
def test_one_cell_of_a_long_table_is_a_small_share(lines: int) -> None:
    """The share is right for pages of any length: within a factor of five, or within the words of a block."""
    table = [f"row {n} | cell {n * 7} | note {n % 13}" for n in range(lines)]
    edited = [*table]
    edited[lines * 2 // 3] = edited[lines * 2 // 3].replace("note", "remark")
    words = counted("\n".join(table), "\n".join(edited))
    true = 2 / (2 * 8 * lines)
    assert 0 < words.share <= max(5 * true, 2 * 8 * 40 / (2 * 8 * lines))


def test_estimated_shares_follow_the_true_ones() -> None:
    """Over random edits of sentences of random words the estimate is within a factor of two, nearly always."""
    chance = Random(5)
    errors = []
    for _ in range(300):
        words = chance.sample(WORDS, 24)
        edited = list(words)
        edits = chance.randrange(1, 7)
        for index in chance.sample(range(24), edits):
            edited[index] = chance.choice(WORDS)
        found = counted(" ".join(words), " ".join(edited))
        errors.append((found.removed + found.added) / (2 * edits))
    within = sum(0.5 <= error <= 2 for error in errors) / len(errors)
    assert within >= 0.95


@given(st.lists(st.text("ab c.", max_size=8)), st.lists(st.text("ab c.", max_size=8)))
def test_a_difference_is_empty_exactly_if_the_runs_are_equal(before: list[str], after: list[str]) -> None:
    """Equal texts have no difference; different texts have one, with a share between 0 and 1."""
    old, new = runs_of("", "\n".join(before)), runs_of("", "\n".join(after))
    comparison = RunComparison(parse_runs(old), parse_runs(new))
    difference = comparison.difference(MAIN_PARTS)
    assert bool(difference) == (old != new)
    assert 0 <= comparison.words(difference, MAIN_PARTS).share <= 1


def test_noise_creates_no_difference() -> None:
    """A line that both versions have is no difference, although it is in a learned gap of the old one only."""
    old, new = (parse_runs(runs_of("", "\n".join(lines))) for lines in (["top", "ad", "end"], ["top", "ad", "close"]))
    before, ad, after = old.shapes
    gap = NoisyPlace(
        key=gap_key(before, after),
        kind="gap",
        state="learned",
        before=before,
        after=after,
        recent=(ad,),
        runs=1,
        words=1,
    )
    difference = RunComparison(old, new, (gap,)).difference(MAIN_PARTS)
    assert ([old.values[i] for i in difference.removed], [new.values[i] for i in difference.added]) == (
        [old.values[2]],
        [new.values[2]],
    )
