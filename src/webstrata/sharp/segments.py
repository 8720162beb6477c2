"""From the hottest page to the coldest, each takes the next slot from the inside or the next from the outside: the best
of these 2^n plans by dynamic programming, n^2 steps in n rows.

It holds every plan without frozen pages that `segments` can find, and more: pages need not split at one rate.

The shape of the best mirror schedule of pages that weigh the same: hopeful | hopeless | frozen, inside to outside.

Swapping two neighbours compares x^k (1 - x), x = exp(-2 rate), which peaks where 2 rate k = 1. Up to there the hotter
page gains by standing inside; behind, it is lost anyway and the colder one gains. So hopeful pages stand hot to cold,
hopeless ones cold to hot, and pages that next to never change stand outermost, where they lose next to nothing.
Two numbers are searched: how many are hopeless, how many frozen. Near the best, and quick for any number of pages.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webstrata.sharp.rates import Places
from webstrata.sharp.survival import WorthCurves


def front_back(worths: NDArray[np.float64]) -> Places:
    """The slot of each row (pages from hot to cold, columns are slots inside to outside)."""
    count = len(worths)
    best = np.zeros(count + 1)  # best[j]: of the pages so far, j took inner slots
    inner = np.zeros((count, count + 1), dtype=bool)
    for row in range(count):
        inside = best[: row + 1] + worths[row, : row + 1]
        outside = best[: row + 1] + worths[row, count - 1 - row :]
        chosen = inside[:row] >= outside[1:]
        inner[row, 1 : row + 1] = chosen
        inner[row, row + 1] = True
        best[1 : row + 1] = np.where(chosen, inside[:row], outside[1:])
        best[0], best[row + 1] = outside[0], inside[row]
    return _traced(inner, int(np.argmax(best)))


def _traced(inner: NDArray[np.bool_], taken: int) -> Places:
    count = len(inner)
    slots = np.empty(count, dtype=np.intp)
    for row in range(count - 1, -1, -1):
        if inner[row, taken]:
            taken -= 1
            slots[row] = taken
        else:
            slots[row] = count - 1 - (row - taken)
    return slots


_GRID = 9
_ROOM = 1_000_000
"""Numbers computed at once."""


def segment_slots(count: int, hopeless: int, frozen: int) -> Places:
    """The slot of each page, pages counted from hot to cold."""
    hopeful = count - hopeless - frozen
    inner = np.arange(hopeful)
    outer = np.arange(count - frozen - 1, hopeful - 1, -1)
    return np.concatenate([outer, inner, np.arange(count - frozen, count)])


def best_segments(curves: WorthCurves, hot_to_cold: Places) -> tuple[int, int]:
    """(hopeless, frozen) of the best split found by refining a grid."""
    count = curves.count
    low, high = np.array([0, 0]), np.array([count - 1, count - 1])
    best, worth = (0, 0), -1.0
    while True:
        axes = [np.unique(np.linspace(low[side], high[side], _GRID).round().astype(np.intp)) for side in (0, 1)]
        pairs = np.array([(h, s) for s in axes[1] for h in axes[0] if h + s < count], dtype=np.intp)
        found = split_worths(curves, hot_to_cold, pairs)
        place = int(np.argmax(found))
        if found[place] > worth:
            best, worth = (int(pairs[place, 0]), int(pairs[place, 1])), float(found[place])
        reach = (high - low) // (_GRID - 1)
        if not reach.any():
            return best
        low, high = np.maximum(np.array(best) - reach, 0), np.minimum(np.array(best) + reach, count - 1)


def split_worths(curves: WorthCurves, hot_to_cold: Places, pairs: Places) -> NDArray[np.float64]:
    """What each (hopeless, frozen) is worth."""
    count = curves.count
    batch = max(1, _ROOM // count)
    worths = []
    for start in range(0, len(pairs), batch):
        slots = np.stack([segment_slots(count, int(h), int(s)) for h, s in pairs[start : start + batch]])
        worths.append(curves.at(hot_to_cold[None, :], slots).sum(axis=1))
    return np.concatenate(worths)
