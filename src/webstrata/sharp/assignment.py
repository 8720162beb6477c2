"""Exact linear assignment of pages to slots: shortest augmenting paths with potentials.

Each slot has a price, and every page prefers the slot whose worth exceeds its price by most. If every page has the slot
that it prefers, no plan is better. For any prices, the sum of the best gains of all pages and of all prices is an upper
bound of every plan.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webstrata.sharp.rates import Indices, Numbers

_EXACT = 1e-12
_ROUNDS = 10


def price_bound(worths: NDArray[np.float64], prices: Numbers) -> float:
    """An upper bound of the worth of every plan."""
    return float((worths - prices).max(axis=1).sum() + prices.sum())


def closing_prices(worths: NDArray[np.float64]) -> tuple[Numbers, float]:
    """Prices under which page j prefers slot j, as far as a few rounds reach, and the bound that they prove.

    The rows must be in the order of their slots. A price is raised until first the neighbouring pages and then all
    other pages prefer their own slots.
    """
    count = len(worths)
    regret = worths - np.diagonal(worths)[:, None]
    prices = _neighbour_prices(worths)
    ahead = np.concatenate([[0.0], np.cumsum(np.diagonal(regret, 1))]) if count > 1 else np.zeros(1)
    behind = np.concatenate([np.cumsum(np.diagonal(regret, -1)[::-1])[::-1], [0.0]]) if count > 1 else np.zeros(1)
    first = prices
    for _ in range(_ROUNDS):
        raised = (prices[:, None] + regret).max(axis=0)
        raised = ahead + np.maximum.accumulate(raised - ahead)
        raised = behind + np.maximum.accumulate((raised - behind)[::-1])[::-1]
        increase = float((raised - prices).max())
        prices = raised
        if increase <= _EXACT:
            return prices, price_bound(worths, prices)
    bounds = [(price_bound(worths, candidate), candidate) for candidate in (first, prices)]
    bound, best = min(bounds, key=lambda pair: pair[0])
    return best, bound


def _neighbour_prices(worths: NDArray[np.float64]) -> Numbers:
    """Each step of the prices lies between what its inner and its outer page would pay for it."""
    here = np.diagonal(worths)
    steps = ((here[:-1] - np.diagonal(worths, 1)) + (np.diagonal(worths, -1) - here[1:])) / 2
    return np.concatenate([np.cumsum(steps[::-1])[::-1], [0.0]])


def assign(worths: NDArray[np.float64], prices: Numbers | None = None, slots: Indices | None = None) -> Indices:
    """The slot of every row in an optimal assignment. Prices and slots to start from make it faster; they do not change
    the worth of the result."""
    count = len(worths)
    cost = -worths
    potential = np.zeros(count) if prices is None else -prices
    page_potential = (cost - potential).min(axis=1)
    page_at = np.full(count, -1, dtype=np.intp)
    slot_of = np.full(count, -1, dtype=np.intp)
    if slots is not None:
        rows = np.arange(count)
        settled = cost[rows, slots] - potential[slots] - page_potential <= _EXACT
        slot_of[settled] = slots[settled]
        page_at[slots[settled]] = rows[settled]
    for page in np.flatnonzero(slot_of < 0):
        _augment(cost, page_potential, potential, page_at, slot_of, int(page))
    return slot_of


def _augment(
    cost: NDArray[np.float64],
    page_potential: Numbers,
    potential: Numbers,
    page_at: Indices,
    slot_of: Indices,
    start: int,
) -> None:
    """Give `start` a slot and move other pages along the cheapest path to a free slot."""
    count = len(cost)
    distances = np.full(count, np.inf)
    open_distances = distances.copy()  # the same, but infinite for settled slots
    came_from = np.full(count, -1, dtype=np.intp)
    settled: list[int] = []
    page, distance = start, 0.0
    while True:
        reach = cost[page] - potential
        reach += distance - page_potential[page]
        nearer = reach < distances
        nearer[settled] = False
        distances[nearer] = reach[nearer]
        open_distances[nearer] = reach[nearer]
        came_from[nearer] = page
        slot = int(np.argmin(open_distances))
        distance = float(open_distances[slot])
        if page_at[slot] < 0:
            break
        settled.append(slot)
        open_distances[slot] = np.inf
        page = int(page_at[slot])
    page_potential[start] += distance
    if settled:
        slots = np.array(settled)
        slack = distance - distances[slots]
        page_potential[page_at[slots]] += slack
        potential[slots] -= slack
    while True:
        page = int(came_from[slot])
        page_at[slot], slot, slot_of[page] = page, int(slot_of[page]), slot
        if page == start:
            return
