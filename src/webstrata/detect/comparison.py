"""Two versions of a page compared run by run: which runs only one of them has, and how many words differ in them.

Runs are hashes, so the words of a changed run are not known. Each run has a *sketch*: 64 bits of which every word
inverts one. Common words of two runs cancel out, so the number of bits in which their sketches differ estimates how
many words only one of them has, whatever their length. A run that only the old version has is paired with the most
similar one that only the new version has. One word changed in a sentence then counts as one word, not as a sentence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from webstrata.columns import Part, RunFlag
from webstrata.detect.noise import compared_values, rows_of_lists
from webstrata.detect.noisy_place import NoisyPlace
from webstrata.detect.runs import TextRuns

_SKETCH_BITS = 64
_MAX_BITS = 0.45
"""Share of differing bits that is evaluated; unrelated runs differ in half of them."""
_MAX_OTHER_WORDS = 0.6
"""Share of other words up to which two runs are versions of one another."""
_MAX_PAIRS = 250_000
"""Product of the numbers of runs that are searched for pairs; above it, none are paired."""


class RunDifference(NamedTuple):
    """The runs that only one of two versions has."""

    removed: tuple[int, ...] = ()
    """Indexes in the old version."""
    added: tuple[int, ...] = ()
    """Indexes in the new version."""
    is_reordered: bool = False
    """Both versions have the same runs, in another order."""

    def __bool__(self) -> bool:
        return bool(self.removed or self.added or self.is_reordered)


class WordCounts(NamedTuple):
    """How many words differ, estimated."""

    removed: int
    added: int
    total: int
    """Words of both versions."""

    @property
    def share(self) -> float:
        """Share of the words of both versions that differ, 0 to 1."""
        return min(1.0, (self.removed + self.added) / self.total) if self.total else 0.0


class RunComparison:
    """Two versions of a page, compared without learned noise."""

    def __init__(self, old: TextRuns, new: TextRuns, noise: tuple[NoisyPlace, ...] = (), *, exact: bool = True) -> None:
        """`exact`: the dates and numbers of stamps, and the order of words in lists of tags, differ, too."""
        self.old = old
        self.new = new
        self._noise = noise
        self._exact = exact

    @cached_property
    def _values(self) -> tuple[list[int | None], list[int | None]]:
        return self._compared(self.old), self._compared(self.new)

    def _compared(self, runs: TextRuns) -> list[int | None]:
        values = compared_values(runs, self._noise)
        if self._exact:
            return values
        return [
            -shape - 1 if flags & RunFlag.STAMP and value is not None else value
            for value, shape, flags in zip(values, runs.shapes, runs.flags, strict=True)
        ]

    def difference(self, parts: frozenset[int], universe: frozenset[int] | None = None) -> RunDifference:
        """The runs of these parts that only one version has.

        A run that moved to another part of the `universe` (by default, of these parts) is in both versions: which box
        of a page is its main content may differ between versions. Noise only hides differences: a run that both
        versions have is none, although it may be in a learned gap of one of them only.
        """
        found = self._difference(parts, universe or parts)
        if not found or not self._noise:
            return found
        everything = RunComparison(self.old, self.new, exact=self._exact).difference(parts, universe)
        return RunDifference(
            removed=self._among(found.removed, everything.removed, self.old),
            added=self._among(found.added, everything.added, self.new),
            is_reordered=found.is_reordered and bool(everything),
        )

    def _among(self, indexes: tuple[int, ...], others: tuple[int, ...], runs: TextRuns) -> tuple[int, ...]:
        """The indexes whose values are among those of the others, each value as often as there.

        The indexes of learned lists are kept: their items are compared in a sorted order, not where they stand.
        """
        listed = rows_of_lists(runs, self._noise)
        left = Counter(runs.values[index] for index in others)
        kept = []
        for index in indexes:
            if index in listed:
                kept.append(index)
            elif left[runs.values[index]] > 0:
                left[runs.values[index]] -= 1
                kept.append(index)
        return tuple(kept)

    def _difference(self, parts: frozenset[int], universe: frozenset[int]) -> RunDifference:
        before, after = self._values
        olds, news = _by_part(self.old, before, universe), _by_part(self.new, after, universe)
        if olds == news:
            return RunDifference()
        removed = _only_in(olds, news)
        added = _only_in(news, olds)
        is_reordered = not removed and not added and any(olds.get(part) != news.get(part) for part in parts)
        moved = Counter(value for _, value in removed) & Counter(value for _, value in added)
        if not self._exact:
            removed, added = self._without_shuffled(removed, added)
        return RunDifference(
            removed=self._kept(removed, moved, self.old, parts),
            added=self._kept(added, moved, self.new, parts),
            is_reordered=is_reordered,
        )

    def _without_shuffled(
        self, removed: list[tuple[int, int]], added: list[tuple[int, int]]
    ) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        """The runs without those whose words only stand in another order: generators shuffle lists of tags."""
        old, new = self.old.bags, self.new.bags
        shuffled = {old[i] for i, _ in removed} & {new[j] for j, _ in added} - {0}
        return [row for row in removed if old[row[0]] not in shuffled], [
            row for row in added if new[row[0]] not in shuffled
        ]

    @staticmethod
    def _kept(
        indexed: list[tuple[int, int]], moved: Counter[int], runs: TextRuns, parts: frozenset[int]
    ) -> tuple[int, ...]:
        """The indexes in these parts, without those of moved runs."""
        left = moved.copy()
        kept = []
        for index, value in indexed:
            if left[value] > 0:
                left[value] -= 1
            elif runs.parts[index] in parts:
                kept.append(index)
        return tuple(sorted(kept))

    def words(self, difference: RunDifference, parts: Collection[int]) -> WordCounts:
        """How many words of these parts differ."""
        old, new = self.old, self.new
        removed = {i: old.words[i] for i in difference.removed}
        added = {i: new.words[i] for i in difference.added}
        for i, j, other_words in self._pairs(difference):
            removed[i], added[j] = _one_sided(other_words, old.words[i], new.words[j])
        total = sum(
            words for runs in (old, new) for words, part in zip(runs.words, runs.parts, strict=True) if part in parts
        )
        return WordCounts(sum(removed.values()), sum(added.values()), total)

    def _pairs(self, difference: RunDifference) -> list[tuple[int, int, int]]:
        """(Old run, new run, words that only one of them has) of similar runs, each at most once."""
        if not difference.removed or not difference.added:
            return []
        if Part.DATA in self.new.parts:
            return self._pairs_by_name(difference)
        if len(difference.removed) * len(difference.added) > _MAX_PAIRS:
            return []
        other_words = _other_words(
            [self.old.sketches[i] for i in difference.removed], [self.new.sketches[j] for j in difference.added]
        )
        words = np.array([self.old.words[i] for i in difference.removed])[:, None] + np.array(
            [self.new.words[j] for j in difference.added]
        )
        share = other_words / np.maximum(words, 1)
        candidates = np.argwhere(share <= _MAX_OTHER_WORDS)
        order = np.argsort(share[candidates[:, 0], candidates[:, 1]], kind="stable")
        pairs: list[tuple[int, int, int]] = []
        used_old: set[int] = set()
        used_new: set[int] = set()
        for i, j in candidates[order].tolist():
            if i not in used_old and j not in used_new:
                used_old.add(i)
                used_new.add(j)
                pairs.append((difference.removed[i], difference.added[j], int(other_words[i, j])))
        return pairs

    def _pairs_by_name(self, difference: RunDifference) -> list[tuple[int, int, int]]:
        """The same for fields of data, whose shapes are their names."""
        named = {self.old.shapes[i]: i for i in difference.removed}
        pairs = []
        for j in difference.added:
            i = named.pop(self.new.shapes[j], None)
            if i is not None:
                other_words = _other_words([self.old.sketches[i]], [self.new.sketches[j]])
                pairs.append((i, j, int(other_words[0, 0])))
        return pairs


def _by_part(runs: TextRuns, values: list[int | None], parts: frozenset[int]) -> dict[int, _IndexedValues]:
    """The compared values of each part, in order, with their indexes."""
    found: dict[int, _IndexedValues] = {}
    for index, (value, part) in enumerate(zip(values, runs.parts, strict=True)):
        if part in parts and value is not None:
            found.setdefault(part, _IndexedValues()).add(index, value)
    return found


class _IndexedValues:
    """Values in order. Two are equal if their values are; the indexes do not matter."""

    def __init__(self) -> None:
        self.indexes: list[int] = []
        self.values: list[int] = []

    def add(self, index: int, value: int) -> None:
        self.indexes.append(index)
        self.values.append(value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _IndexedValues) and self.values == other.values

    __hash__ = None  # type: ignore[assignment]


def _only_in(side: dict[int, _IndexedValues], other: dict[int, _IndexedValues]) -> list[tuple[int, int]]:
    """(Index, value) of the runs that the same part of the other version does not have."""
    found = []
    for part, runs in side.items():
        unmatched = Counter(runs.values)
        if part in other:
            unmatched -= Counter(other[part].values)
        for index, value in zip(runs.indexes, runs.values, strict=True):
            if unmatched[value] > 0:
                unmatched[value] -= 1
                found.append((index, value))
    return found


def _other_words(old: list[int], new: list[int]) -> NDArray[np.int64]:
    """For each pair of sketches, the estimated number of words that only one of the two runs has.

    With m such words, 32 (1 - (31/32)^m) of 64 bits are expected to differ.
    """
    ones, others = _bits(old), _bits(new)
    differing = ones.sum(axis=1)[:, None] + others.sum(axis=1)[None, :] - 2 * (ones @ others.T)
    share = np.minimum(differing / _SKETCH_BITS, _MAX_BITS)
    words: NDArray[np.int64] = np.rint(np.log1p(-2 * share) / np.log1p(-2 / _SKETCH_BITS)).astype(np.int64)
    return words


def _bits(sketches: list[int]) -> NDArray[np.float64]:
    packed = np.array(sketches, dtype="<u8").view(np.uint8).reshape(-1, 8)
    return np.unpackbits(packed, axis=1).astype(np.float64)


def _one_sided(other_words: int, old: int, new: int) -> tuple[int, int]:
    """How many of the words that only one of two runs has are in the old one, and how many in the new one.

    Their values differ, so at least one word does.
    """
    removed = min(old, max(0, round((other_words + old - new) / 2)))
    added = min(new, max(0, round((other_words + new - old) / 2)))
    return (removed, added) if removed or added else (min(1, old), min(1, new))
