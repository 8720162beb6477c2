"""SOLAR: visit-revisit pairs that fit into the pages' confidence intervals, with and without knowing the site.

The paper's text, pseudocode and examples disagree; the reading here is the one that gives its tables (docs/why/sharp.md
tells how far that goes).
"""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import ArrayLike

from webstrata.sharp.link_tree import LinkTree
from webstrata.sharp.rates import Numbers, Places
from webstrata.sharp.schedule import SharpSchedule, checked_lengths


def solar_offline(lengths: ArrayLike) -> SharpSchedule:
    """Short intervals first: the smallest free revisit slot, and with it the farthest visit slot that keeps the pair
    within the length. A page without such a pair is hopeless; the hopeless fill the gaps, longest first."""
    column = checked_lengths(lengths)
    count = column.size
    order = np.lexsort((np.arange(count), column))
    visits, revisits = np.zeros(count, dtype=np.intp), np.zeros(count, dtype=np.intp)
    free = _FreeSlots(count)
    free.take(0)
    revisit = 1
    hopeless: list[int] = []
    for page in order[1:]:
        # A later revisit only leaves less room for the visit: if the smallest free one does not serve, none does.
        visit = free.at_most(min(column[page] - revisit, count - 1))
        if visit < 1:
            hopeless.append(int(page))
            continue
        free.take(visit)
        visits[page], revisits[page] = visit, revisit
        revisit += 1
    _fill(visits, free.left(), sorted(hopeless, key=lambda page: (-column[page], page)))
    _fill(revisits, range(revisit, count), sorted(hopeless, key=lambda page: (-column[page], page)))
    return SharpSchedule(visits, revisits, tuple(sorted(hopeless)))


def shrink(schedule: SharpSchedule) -> SharpSchedule:
    """Hopeful pages close ranks on both sides; the hopeless follow outside, in their order. May lower E: a page that
    gains little can push a page that gains much."""
    hopeless = np.zeros(schedule.visits.size, dtype=bool)
    hopeless[list(schedule.hopeless)] = True
    return SharpSchedule(_closed(schedule.visits, hopeless), _closed(schedule.revisits, hopeless), schedule.hopeless)


def solar_online(lengths: ArrayLike, tree: LinkTree) -> SharpSchedule:
    """Pages found by links, outermost slot first: the longest page found takes the farthest free revisit within its
    length; if there is none, the shortest page found is visited, hopeless. The hopeless are revisited last visited
    first, in what is left. No shrinking."""
    column = checked_lengths(lengths)
    tree.must_hold(column.size)
    count = column.size
    visits, revisits = np.zeros(count, dtype=np.intp), np.zeros(count, dtype=np.intp)
    found = _FoundPages(column)
    found.add(tree.seeds)
    free = _FreeSlots(count)
    hopeless: list[int] = []
    for slot in range(count - 1, -1, -1):
        page = found.longest()
        revisit = free.at_most(min(column[page] - slot, count - 1))
        if revisit < 0:
            page = found.shortest()
            hopeless.append(page)
        else:
            free.take(revisit)
            revisits[page] = revisit
        visits[page] = slot
        found.remove(page)
        found.add(tree.children[page])
    _fill(revisits, free.left(), hopeless[::-1])
    return SharpSchedule(visits, revisits, tuple(sorted(hopeless)))


def _fill(side: Places, slots: range | list[int], pages: list[int]) -> None:
    side[pages] = np.asarray(slots, dtype=np.intp)


def _closed(side: Places, hopeless: np.ndarray) -> Places:
    order = np.lexsort((side, hopeless))
    closed = np.empty(side.size, dtype=np.intp)
    closed[order] = np.arange(side.size)
    return closed


class _FreeSlots:
    """Slots not yet taken; the largest up to a limit is found in next to constant time."""

    def __init__(self, count: int) -> None:
        self._below = list(range(-1, count))  # place s+1 leads to the largest free slot up to s; 0 leads nowhere

    def at_most(self, limit: float) -> int:
        """The largest free slot that is not above the limit; -1 if there is none."""
        if limit < 0:
            return -1
        below = self._below
        place = start = int(limit) + 1
        while below[place] != place - 1:
            place = below[place] + 1
        while below[start] != place - 1:
            below[start], start = place - 1, below[start] + 1
        return place - 1

    def take(self, slot: int) -> None:
        self._below[slot + 1] = self._below[slot]

    def left(self) -> list[int]:
        return [slot for slot in range(len(self._below) - 1) if self._below[slot + 1] == slot]


class _FoundPages:
    """Pages found and not yet visited, from both ends; of equal lengths the lower id."""

    def __init__(self, lengths: Numbers) -> None:
        self._lengths = lengths
        self._long: list[tuple[float, int]] = []
        self._short: list[tuple[float, int]] = []
        self._gone: set[int] = set()

    def add(self, pages: tuple[int, ...]) -> None:
        for page in pages:
            heapq.heappush(self._long, (-self._lengths[page], page))
            heapq.heappush(self._short, (self._lengths[page], page))

    def remove(self, page: int) -> None:
        self._gone.add(page)

    def longest(self) -> int:
        return self._first(self._long)

    def shortest(self) -> int:
        return self._first(self._short)

    def _first(self, heap: list[tuple[float, int]]) -> int:
        while heap[0][1] in self._gone:
            heapq.heappop(heap)
        return heap[0][1]
