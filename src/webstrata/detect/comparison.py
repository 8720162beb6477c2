"""Two versions of a page compared run by run: which runs only one of them has, and how many words differ in them.

Runs are hashes, so the words of a changed run are not known. Each run has a *sketch*: 64 bits of which every word sets
one (of a block of runs, every run). A run that only the old version has is paired with the most similar one that only
the new version has; the bits in which their sketches differ estimate how many of their words do. One word changed in
a sentence then counts as one word, not as a sentence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from webstrata.detect.noise import NoisyPlace, compared_values
from webstrata.detect.runs import TextRuns

_SKETCH_BITS = 64
_MIN_SIMILARITY = 0.4
"""Share of common bits from which on two runs are versions of one another."""
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
    passage: int
    """Words in the longest sequence of neighbouring runs that only the new version has."""
    total: int
    """Words of both versions."""

    @property
    def share(self) -> float:
        """Share of the words of both versions that differ, 0 to 1."""
        return min(1.0, (self.removed + self.added) / self.total) if self.total else 0.0


class RunComparison:
    """Two versions of a page, compared without learned noise."""

    def __init__(self, old: TextRuns, new: TextRuns, noise: tuple[NoisyPlace, ...] = ()) -> None:
        self.old = old
        self.new = new
        self._noise = noise

    @cached_property
    def _values(self) -> tuple[list[int | None], list[int | None]]:
        return compared_values(self.old, self._noise), compared_values(self.new, self._noise)

    def difference(self, parts: frozenset[int], universe: frozenset[int] | None = None) -> RunDifference:
        """The runs of these parts that only one version has.

        A run that moved to another part of the `universe` (by default, of these parts) is in both versions: which box
        of a page is its main content may differ between versions.
        """
        universe = universe or parts
        before, after = self._values
        olds, news = _by_part(self.old, before, universe), _by_part(self.new, after, universe)
        if olds == news:
            return RunDifference()
        removed = _only_in(olds, news)
        added = _only_in(news, olds)
        moved = Counter(value for _, value in removed) & Counter(value for _, value in added)
        return RunDifference(
            removed=self._kept(removed, moved, self.old, parts),
            added=self._kept(added, moved, self.new, parts),
            is_reordered=not removed and not added and any(olds.get(part) != news.get(part) for part in parts),
        )

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
        for i, j in self._pairs(difference):
            removed[i] = _bits_only_in(old.sketches[i], new.sketches[j], old.words[i])
            added[j] = _bits_only_in(new.sketches[j], old.sketches[i], new.words[j])
            if not removed[i] and not added[j]:  # the values differ, but no bit does
                removed[i], added[j] = min(1, old.words[i]), min(1, new.words[j])
        total = sum(
            words for runs in (old, new) for words, part in zip(runs.words, runs.parts, strict=True) if part in parts
        )
        return WordCounts(sum(removed.values()), sum(added.values()), _longest_sequence(added), total)

    def _pairs(self, difference: RunDifference) -> list[tuple[int, int]]:
        """Runs of both versions that are similar, each at most once, the most similar first."""
        if not difference.removed or not difference.added:
            return []
        if len(difference.removed) * len(difference.added) > _MAX_PAIRS:
            return []
        similarity = _similarities(
            [self.old.sketches[i] for i in difference.removed], [self.new.sketches[j] for j in difference.added]
        )
        candidates = np.argwhere(similarity >= _MIN_SIMILARITY)
        order = np.argsort(-similarity[candidates[:, 0], candidates[:, 1]], kind="stable")
        pairs: list[tuple[int, int]] = []
        used_old: set[int] = set()
        used_new: set[int] = set()
        for i, j in candidates[order].tolist():
            if i not in used_old and j not in used_new:
                used_old.add(i)
                used_new.add(j)
                pairs.append((difference.removed[i], difference.added[j]))
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


def _similarities(old: list[int], new: list[int]) -> NDArray[np.float64]:
    """For each pair of sketches, the number of common bits divided by the number of bits that either has."""
    ones, others = _bits(old), _bits(new)
    common = ones @ others.T
    either = ones.sum(axis=1)[:, None] + others.sum(axis=1)[None, :] - common
    shares: NDArray[np.float64] = common / np.maximum(either, 1)
    return shares


def _bits(sketches: list[int]) -> NDArray[np.float64]:
    packed = np.array(sketches, dtype="<u8").view(np.uint8).reshape(-1, 8)
    return np.unpackbits(packed, axis=1).astype(np.float64)


def _bits_only_in(sketch: int, other: int, words: int) -> int:
    """Estimated number of a run's words that another run does not have.

    A word whose bit the other run has set by chance is not seen; the share of such bits is known.
    """
    free = _SKETCH_BITS - other.bit_count()
    only = (sketch & ~other).bit_count()
    return min(words, round(only * _SKETCH_BITS / free)) if free else 0


def _longest_sequence(added: dict[int, int]) -> int:
    longest = sequence = 0
    previous = -2
    for index in sorted(added):
        sequence = (sequence if index == previous + 1 else 0) + added[index]
        longest = max(longest, sequence)
        previous = index
    return longest
