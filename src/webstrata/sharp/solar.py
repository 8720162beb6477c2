"""The published algorithms: SOLAR, Hottest-middle and SHARC-threshold, for known sites and for sites found by links.

SOLAR chooses visit-revisit pairs that fit into the pages' confidence intervals. Hottest-middle puts the hottest page
next to the instant and colder pages further outwards. The SOLAR paper's text, pseudocode and examples disagree; this is
the interpretation that reproduces its tables (docs/why/sharp.md has the comparison).
"""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import ArrayLike

from webstrata.sharp.link_tree import LinkTree
from webstrata.sharp.rates import Indices, Numbers, checked_rates
from webstrata.sharp.schedule import TAU, SharpSchedule, checked_lengths, checked_tau, mirror


def hottest_middle(rates: ArrayLike) -> SharpSchedule:
    """The k-th hottest page is visited k slots before the instant and revisited k slots after it."""
    return mirror(hotness_ranks(checked_rates(rates)))


def sharc_threshold(rates: ArrayLike, tau: float = TAU) -> SharpSchedule:
    """Hottest-middle without the hopeless pages, whose probability to be sharp at their rank is below 1 - tau. The
    other pages move inwards; the hopeless pages follow outside of them, coldest first."""
    column = checked_rates(rates)
    ranks = hotness_ranks(column)
    hopeless = np.exp(-column * 2.0 * ranks) < 1.0 - checked_tau(tau)
    inside_out = np.argsort(ranks)
    given_up = hopeless[inside_out]
    order = np.concatenate([inside_out[~given_up], inside_out[given_up][::-1]])
    return mirror(np.argsort(order), tuple(int(page) for page in np.flatnonzero(hopeless)))


def hottest_middle_online(rates: ArrayLike, tree: LinkTree) -> SharpSchedule:
    """Pages found by links: the coldest page found so far is visited next; revisits go from hot to cold."""
    column = checked_rates(rates)
    tree.require_size(column.size)
    visits = np.empty(column.size, dtype=np.intp)
    found = [(column[page], page) for page in tree.seeds]
    heapq.heapify(found)
    for slot in range(column.size - 1, -1, -1):
        _, page = heapq.heappop(found)
        visits[page] = slot
        for child in tree.children[page]:
            heapq.heappush(found, (column[child], child))
    return SharpSchedule(visits, hotness_ranks(column))


def hotness_ranks(rates: ArrayLike) -> Indices:
    """0 for the hottest page; among equal rates the lower id comes first."""
    return np.argsort(np.argsort(-np.asarray(rates), kind="stable"))


def solar_offline(lengths: ArrayLike) -> SharpSchedule:
    """Shortest intervals first: a page gets the smallest free revisit slot and the farthest free visit slot that keeps
    the pair within its length. A page without such a pair is hopeless. Hopeless pages fill the free slots, longest
    interval first."""
    column = checked_lengths(lengths)
    count = column.size
    order = np.lexsort((np.arange(count), column))
    visits, revisits = np.zeros(count, dtype=np.intp), np.zeros(count, dtype=np.intp)
    free = _FreeSlots(count)
    free.take(0)
    revisit = 1
    hopeless: list[int] = []
    for page in order[1:]:
        # A later revisit leaves less room for the visit: if the smallest free revisit slot does not fit, none does.
        visit = free.at_most(min(column[page] - revisit, count - 1))
        if visit < 1:
            hopeless.append(int(page))
            continue
        free.take(visit)
        visits[page], revisits[page] = visit, revisit
        revisit += 1
    longest_first = sorted(hopeless, key=lambda page: (-column[page], page))
    visits[longest_first] = free.remaining()
    revisits[longest_first] = range(revisit, count)
    return SharpSchedule(visits, revisits, tuple(sorted(hopeless)))


def shrink(schedule: SharpSchedule) -> SharpSchedule:
    """Move the hopeful pages inwards on both sides to close gaps; the hopeless pages follow outside, in their order.

    This can lower the expected number of sharp pages: a page that gains little can push out one that gains much.
    """
    hopeless = np.zeros(schedule.visits.size, dtype=bool)
    hopeless[list(schedule.hopeless)] = True
    return SharpSchedule(
        _without_gaps(schedule.visits, hopeless), _without_gaps(schedule.revisits, hopeless), schedule.hopeless
    )


def solar_online(lengths: ArrayLike, tree: LinkTree) -> SharpSchedule:
    """Pages found by links, outermost visit slot first.

    The found page with the longest interval takes the farthest free revisit slot within its length. If there is none,
    the found page with the shortest interval is visited and is hopeless. Hopeless pages are revisited in the remaining
    slots, last visited first. There is no shrinking.
    """
    column = checked_lengths(lengths)
    tree.require_size(column.size)
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
    revisits[hopeless[::-1]] = free.remaining()
    return SharpSchedule(visits, revisits, tuple(sorted(hopeless)))


def _without_gaps(side: Indices, hopeless: np.ndarray) -> Indices:
    return np.argsort(np.lexsort((side, hopeless)))


class _FreeSlots:
    """Slots not yet taken; finds the largest one up to a limit in almost constant time (union-find)."""

    def __init__(self, count: int) -> None:
        # Index s+1 points to the largest free slot up to s; index 0 points to no slot.
        self._below = list(range(-1, count))

    def at_most(self, limit: float) -> int:
        """The largest free slot that is not above the limit; -1 if there is none."""
        if limit < 0:
            return -1
        below = self._below
        index = start = int(limit) + 1
        while below[index] != index - 1:
            index = below[index] + 1
        while below[start] != index - 1:
            below[start], start = index - 1, below[start] + 1
        return index - 1

    def take(self, slot: int) -> None:
        self._below[slot + 1] = self._below[slot]

    def remaining(self) -> list[int]:
        return [slot for slot in range(len(self._below) - 1) if self._below[slot + 1] == slot]


class _FoundPages:
    """Pages found and not yet visited, by longest and by shortest interval; among equal ones the lower id first."""

    def __init__(self, lengths: Numbers) -> None:
        self._lengths = lengths
        self._long: list[tuple[float, int]] = []
        self._short: list[tuple[float, int]] = []
        self._removed: set[int] = set()

    def add(self, pages: tuple[int, ...]) -> None:
        for page in pages:
            heapq.heappush(self._long, (-self._lengths[page], page))
            heapq.heappush(self._short, (self._lengths[page], page))

    def remove(self, page: int) -> None:
        self._removed.add(page)

    def longest(self) -> int:
        return self._first(self._long)

    def shortest(self) -> int:
        return self._first(self._short)

    def _first(self, heap: list[tuple[float, int]]) -> int:
        while heap[0][1] in self._removed:
            heapq.heappop(heap)
        return heap[0][1]
