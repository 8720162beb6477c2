"""The near-optimal shape of a mirror schedule of equal weights: hopeful | hopeless | frozen pages, innermost first.

Swapping two neighbours compares x^k (1 - x) with x = exp(-2 rate), which has its maximum at 2 rate k = 1. Up to that
slot the hotter page gains from the inner slot; beyond it, the hotter page is unlikely to be sharp anyway and the colder
page gains. So hopeful pages are ordered from hot to cold, hopeless pages from cold to hot, and pages that hardly ever
change are outermost, where they lose almost nothing. The search has two parameters, the numbers of hopeless and of
frozen pages; it is fast for any number of pages.

`front_back` searches a larger set of plans in O(n^2): from the hottest page to the coldest, each page takes the next
free slot from the inside or from the outside. Dynamic programming finds the best of these 2^n plans. They include
every segmented plan without frozen pages.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from webstrata.sharp.rates import Indices
from webstrata.sharp.survival import Survival, WorthCurves, mirror_curves

_GRID = 9
_BATCH_NUMBERS = 1_000_000
"""Numbers computed at once."""
_STEP = 2


def segment_slots(count: int, hopeless: int, frozen: int) -> Indices:
    """The slot of each page; pages are ordered from hot to cold."""
    hopeful = count - hopeless - frozen
    inner = np.arange(hopeful)
    outer = np.arange(count - frozen - 1, hopeful - 1, -1)
    return np.concatenate([outer, inner, np.arange(count - frozen, count)])


def best_segments(curves: WorthCurves, hot_to_cold: Indices) -> tuple[int, int]:
    """(hopeless, frozen) of the best split that a refined grid search finds."""
    count = curves.count
    low, high = np.array([0, 0]), np.array([count - 1, count - 1])
    best, best_worth = (0, 0), -1.0
    while True:
        axes = [np.unique(np.linspace(low[side], high[side], _GRID).round().astype(np.intp)) for side in (0, 1)]
        pairs = np.array([(h, s) for s in axes[1] for h in axes[0] if h + s < count], dtype=np.intp)
        worths = split_worths(curves, hot_to_cold, pairs)
        index = int(np.argmax(worths))
        if worths[index] > best_worth:
            best, best_worth = (int(pairs[index, 0]), int(pairs[index, 1])), float(worths[index])
        reach = (high - low) // (_GRID - 1)
        if not reach.any():
            return best
        low, high = np.maximum(np.array(best) - reach, 0), np.minimum(np.array(best) + reach, count - 1)


def split_worths(curves: WorthCurves, hot_to_cold: Indices, pairs: Indices) -> NDArray[np.float64]:
    """The worth of each pair (hopeless, frozen)."""
    count = curves.count
    batch = max(1, _BATCH_NUMBERS // count)
    worths = []
    for start in range(0, len(pairs), batch):
        slots = np.stack([segment_slots(count, int(h), int(s)) for h, s in pairs[start : start + batch]])
        worths.append(curves.at(hot_to_cold[None, :], slots).sum(axis=1))
    return np.concatenate(worths)


@dataclass
class SegmentSplit:
    """The split found last. The next search starts from it, because a few pages more or less move it little."""

    hopeless: int = 0
    frozen: int = 0
    pages: int = 0
    """The number of pages it was found for."""

    def order(self, survival: Survival) -> Indices:
        """Pages of equal weight by slot. Searches around the last split and updates it."""
        curves = mirror_curves(survival, None, None)
        pages = np.argsort(-survival.mean_rates(), kind="stable")
        self._search(curves, pages)
        return pages[np.argsort(segment_slots(survival.count, self.hopeless, self.frozen))]

    def _search(self, curves: WorthCurves, pages: Indices) -> None:
        """Hill climbing; the first steps are wide if the number of pages has changed by more than one."""
        count = curves.count
        step = _STEP if abs(count - self.pages) <= 1 else max(_STEP, count // 8)
        hopeless = min(self.hopeless, count - 1)
        best = hopeless, min(self.frozen, count - 1 - hopeless)
        best_worth = float(split_worths(curves, pages, np.array([best]))[0])
        while step:
            near = [(best[0] + i * step, best[1] + j * step) for i in (-1, 0, 1) for j in (-1, 0, 1)]
            pairs = [pair for pair in near if pair != best and min(pair) >= 0 and sum(pair) < count]
            worths = split_worths(curves, pages, np.array(pairs)) if pairs else np.zeros(1)
            index = int(np.argmax(worths))
            if pairs and worths[index] > best_worth + 1e-12:
                best, best_worth = pairs[index], float(worths[index])
            else:
                step //= 2
        self.hopeless, self.frozen = best
        self.pages = count


def front_back(worths: NDArray[np.float64]) -> Indices:
    """The slot of each row; rows are pages from hot to cold, columns are slots from the innermost outwards."""
    count = len(worths)
    best = np.zeros(count + 1)  # best[j]: the best worth of the pages so far if j of them took inner slots
    inner = np.zeros((count, count + 1), dtype=bool)
    for row in range(count):
        inside = best[: row + 1] + worths[row, : row + 1]
        outside = best[: row + 1] + worths[row, count - 1 - row :]
        chosen = inside[:row] >= outside[1:]
        inner[row, 1 : row + 1] = chosen
        inner[row, row + 1] = True
        best[1 : row + 1] = np.where(chosen, inside[:row], outside[1:])
        best[0], best[row + 1] = outside[0], inside[row]
    return _trace_back(inner, int(np.argmax(best)))


def _trace_back(inner: NDArray[np.bool_], taken: int) -> Indices:
    count = len(inner)
    slots = np.empty(count, dtype=np.intp)
    for row in range(count - 1, -1, -1):
        if inner[row, taken]:
            taken -= 1
            slots[row] = taken
        else:
            slots[row] = count - 1 - (row - taken)
    return slots
