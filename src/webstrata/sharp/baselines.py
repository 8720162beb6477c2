"""The ordinary crawl as a yardstick: pages in the order in which they are found, once each, or twice in that order.

Hottest-middle and SHARC-threshold: the hottest page next to the instant, colder ones outwards.
"""

from __future__ import annotations

import heapq
from collections import deque

import numpy as np
from numpy.typing import ArrayLike

from webstrata.sharp.link_tree import LinkTree
from webstrata.sharp.rates import Places, checked_rates
from webstrata.sharp.schedule import TAU, SharpSchedule, checked_tau, mirror


def breadth_first(tree: LinkTree) -> Places:
    """Pages in the order of their visits."""
    waiting = deque(tree.seeds)
    order: list[int] = []
    while waiting:
        page = waiting.popleft()
        order.append(page)
        waiting.extend(tree.children[page])
    return np.array(order, dtype=np.intp)


def hottest_middle(rates: ArrayLike) -> SharpSchedule:
    """The k-th hottest page is visited k slots before the instant and revisited k slots after it."""
    return mirror(hotness_ranks(checked_rates(rates)))


def sharc_threshold(rates: ArrayLike, tau: float = TAU) -> SharpSchedule:
    """Hottest-middle, where a page whose chance at its rank is below 1 - tau is hopeless: the others close ranks, and
    the hopeless follow outside, coldest first."""
    column = checked_rates(rates)
    ranks = hotness_ranks(column)
    hopeless = np.exp(-column * 2.0 * ranks) < 1.0 - checked_tau(tau)
    inside_out = np.argsort(ranks)
    given_up = hopeless[inside_out]
    order = np.concatenate([inside_out[~given_up], inside_out[given_up][::-1]])
    slots = np.empty(column.size, dtype=np.intp)
    slots[order] = np.arange(column.size)
    return mirror(slots, tuple(int(page) for page in np.flatnonzero(hopeless)))


def hottest_middle_online(rates: ArrayLike, tree: LinkTree) -> SharpSchedule:
    """Pages found by links: the coldest page found so far is visited next; revisits go from hot to cold."""
    column = checked_rates(rates)
    tree.must_hold(column.size)
    visits = np.empty(column.size, dtype=np.intp)
    found = [(column[page], page) for page in tree.seeds]
    heapq.heapify(found)
    for slot in range(column.size - 1, -1, -1):
        _, page = heapq.heappop(found)
        visits[page] = slot
        for child in tree.children[page]:
            heapq.heappush(found, (column[child], child))
    return SharpSchedule(visits, hotness_ranks(column))


def hotness_ranks(rates: ArrayLike) -> Places:
    """0 for the hottest page; of equal ones the lower id first."""
    column = np.asarray(rates)
    ranks = np.empty(column.size, dtype=np.intp)
    ranks[np.argsort(-column, kind="stable")] = np.arange(column.size)
    return ranks
