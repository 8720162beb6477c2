"""Lists that are in another order at each visit: where two versions have the same runs in another order.

The runs that both versions have once are a permutation. It is divided into the smallest sections that contain all
their own runs in both versions; a section with more than one run was reordered. If at least a fifth of its pairs
changed places it was shuffled; less than that is an item that moved, as in a ranking.

A figure that people watch belongs to the run before it ("Lamp", "99 EUR"): if two prices are exchanged, no list was
shuffled.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations

from webstrata.columns import Part, RunFlag
from webstrata.detect.runs import TextRuns

MAX_LIST_RUNS = 160
_MIN_INVERTED = 0.2
_WITHOUT_ORDER = frozenset({Part.DATA, *(part for part in Part if part >= Part.DESCRIPTION)})
_CHANGING, _WATCHED = int(RunFlag.TIMES | RunFlag.TRIVIAL), int(RunFlag.WATCHED)


def item_ids(runs: TextRuns) -> list[int]:
    """For each run, the 32 bits by which a list knows it; of a watched figure together with the run before it."""
    ids = [value & 0xFFFFFFFF for value in runs.values]
    for index, flags in enumerate(runs.flags):
        if flags & _WATCHED and index:
            ids[index] = (ids[index] * 0x9E3779B1 ^ runs.values[index - 1]) & 0xFFFFFFFF
    return ids


def shuffled_lists(before: TextRuns, after: TextRuns) -> Iterator[range]:
    """The ranges of runs in `after` that are shuffled compared with `before`."""
    old_ids, new_ids = item_ids(before), item_ids(after)
    for part in sorted(set(after.parts) - _WITHOUT_ORDER):
        old, new = _once(before, old_ids, part), _once(after, new_ids, part)
        common = [item for item in old if item in new]
        position = {item: index for index, item in enumerate(sorted(common, key=new.__getitem__))}
        permutation = [position[item] for item in common]
        for section in _sections(permutation):
            if _is_shuffled(permutation[section]):
                rows = [new[item] for item in common[section]]
                if max(rows) - min(rows) < MAX_LIST_RUNS:
                    yield range(min(rows), max(rows) + 1)


def _once(runs: TextRuns, ids: list[int], part: int) -> dict[int, int]:
    """Item -> row, for the items that occur once in a part and are not times or view counts."""
    counts = Counter(item for item, where in zip(ids, runs.parts, strict=True) if where == part)
    return {
        item: row
        for row, (item, where, flags) in enumerate(zip(ids, runs.parts, runs.flags, strict=True))
        if where == part and counts[item] == 1 and not flags & _CHANGING
    }


def _sections(permutation: list[int]) -> Iterator[slice]:
    """The smallest sections of more than one element that are permutations of their own positions."""
    start = highest = 0
    for index, target in enumerate(permutation):
        highest = max(highest, target)
        if highest == index:
            if start < index < start + MAX_LIST_RUNS:
                yield slice(start, index + 1)
            start = index + 1


def _is_shuffled(section: list[int]) -> bool:
    pairs = len(section) * (len(section) - 1) // 2
    return sum(left > right for left, right in combinations(section, 2)) >= _MIN_INVERTED * pairs
