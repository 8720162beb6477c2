"""Pairs of removed lines and the lines that replaced them, and the words in which the two lines of a pair differ.

In a block of removed and added lines, each removed line is paired with the added line that shares most words with it,
in the order of the text. Lines that share few words are replaced as a whole: marking their words would only show the
small words that any two sentences have in common.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, zip_longest
from typing import NamedTuple

from webstrata.detect.diff.text import DiffLine, WordRun, tokens, word_diff

_MIN_SIMILARITY = 0.4
"""Of twice the number of common words to the number of words in both lines."""
_MAX_WORDS = 300
"""Words of a line that are compared with those of other lines."""
_MAX_BLOCK = 2_500
_MAX_COMPARED = 60_000
"""Pairs of lines that are compared in one block and in all blocks; lines of larger blocks are paired by position."""
_MAX_TOKENS = 200_000
"""Words, spaces and punctuation marks that one `WordMarker` compares."""


class LinePair(NamedTuple):
    """A line of the old text and its counterpart in the new one; None if one side has no counterpart."""

    before: str | None
    after: str | None
    differs: bool
    heading: bool = False
    """The row is the heading of a hunk, not a line of the texts."""
    similar: bool = False
    """The lines differ and share most of their words, so that the changed words can be marked."""


def line_pairs(lines: Iterable[DiffLine]) -> Iterator[LinePair]:
    """The lines of a difference as pairs: removed lines are paired with the lines that replaced them."""
    removed: list[str] = []
    added: list[str] = []
    compared = 0
    for line in lines:
        if line.sign == "-":
            removed.append(line.text)
        elif line.sign == "+":
            added.append(line.text)
        else:
            compared += len(removed) * len(added)
            yield from _replaced(removed, added, by_words=compared <= _MAX_COMPARED)
            removed, added = [], []
            yield LinePair(line.text, line.text, differs=False, heading=line.sign == "@")
    yield from _replaced(removed, added, by_words=compared <= _MAX_COMPARED)


def _replaced(removed: list[str], added: list[str], *, by_words: bool) -> Iterator[LinePair]:
    old_words, new_words = ([_words(line) for line in side] for side in (removed, added))
    matches: list[tuple[int, int]] = []
    if by_words and removed and added and len(removed) * len(added) <= _MAX_BLOCK:
        matches = _most_similar(old_words, new_words)
    i = j = 0
    for old, new in [*matches, (len(removed), len(added))]:
        for before, after in zip_longest(range(i, old), range(j, new)):
            yield LinePair(
                None if before is None else removed[before],
                None if after is None else added[after],
                differs=True,
                similar=before is not None
                and after is not None
                and _similarity(old_words[before], new_words[after]) >= _MIN_SIMILARITY,
            )
        if old < len(removed):
            yield LinePair(removed[old], added[new], differs=True, similar=True)
        i, j = old + 1, new + 1


def _words(line: str) -> frozenset[str]:
    return frozenset(islice((token for token in tokens(line) if token[0].isalnum()), _MAX_WORDS))


def _similarity(old: frozenset[str], new: frozenset[str]) -> float:
    return 2 * len(old & new) / (len(old) + len(new)) if old and new else 0.0


def _most_similar(old: Sequence[frozenset[str]], new: Sequence[frozenset[str]]) -> list[tuple[int, int]]:
    """The pairs of similar lines, in order on both sides, whose similarities have the largest sum."""
    width = len(new) + 1
    best = [[0.0] * width for _ in range(len(old) + 1)]
    similar = [[_similarity(words, others) for others in new] for words in old]
    for i in range(len(old) - 1, -1, -1):
        for j in range(len(new) - 1, -1, -1):
            paired = best[i + 1][j + 1] + similar[i][j] if similar[i][j] >= _MIN_SIMILARITY else 0.0
            best[i][j] = max(best[i + 1][j], best[i][j + 1], paired)
    pairs: list[tuple[int, int]] = []
    i = j = 0
    while i < len(old) and j < len(new):
        if best[i][j] == best[i + 1][j]:
            i += 1
        elif best[i][j] == best[i][j + 1]:
            j += 1
        else:
            pairs.append((i, j))
            i, j = i + 1, j + 1
    return pairs


class WordMarker:
    """Compares the words of line pairs, up to a total number of words; later pairs have no marks."""

    def __init__(self) -> None:
        self._left = _MAX_TOKENS

    def runs(self, pair: LinePair) -> list[WordRun]:
        """The words of both lines in order. Without marks: the old line as removed, then the new line as added."""
        if pair.before is not None and pair.after is not None and pair.similar and self._left > 0:
            self._left -= sum(1 for line in (pair.before, pair.after) for _ in tokens(line))
            if self._left > 0:
                return word_diff(pair.before, pair.after)
        sides = (("-", pair.before), ("+", pair.after))
        return [WordRun(sign, line) for sign, line in sides if line is not None]  # type: ignore[arg-type]

    def value_runs(self, before: str, after: str) -> list[WordRun]:
        """The words of the old and the new value of one cell or member."""
        similar = _similarity(_words(before), _words(after)) >= _MIN_SIMILARITY
        return self.runs(LinePair(before, after, differs=True, similar=similar))


def is_marked(runs: Sequence[WordRun]) -> bool:
    """Whether some words of a pair are equal, so that the words that differ stand out."""
    return any(run.sign == " " for run in runs)
