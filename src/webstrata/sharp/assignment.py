"""Linear assignment, exactly: shortest augmenting paths with potentials, started from a good plan where there is one.

Slots have prices, and every page wants the slot that is worth most to it above its price. Where each page has a slot
that it wants, no plan is better; the sum of all wishes and prices bounds every plan, whatever the prices.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webstrata.sharp.rates import Numbers, Places

_EXACT = 1e-12
_ROUNDS = 10


def price_bound(worths: NDArray[np.float64], prices: Numbers) -> float:
    """No plan is worth more than this."""
    return float((worths - prices).max(axis=1).sum() + prices.sum())


def closing_prices(worths: NDArray[np.float64]) -> tuple[Numbers, float]:
    """Prices under which page j wants slot j (rows are in the order of their slots), as nearly as a few rounds get, and
    the bound that they prove. A price rises until the neighbours, then all others, keep away."""
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
        risen = float((raised - prices).max())
        prices = raised
        if risen <= _EXACT:
            return prices, price_bound(worths, prices)
    bounds = [(price_bound(worths, some), some) for some in (first, prices)]
    bound, kept = min(bounds, key=lambda pair: pair[0])
    return kept, bound


def _neighbour_prices(worths: NDArray[np.float64]) -> Numbers:
    """Each step of the prices lies between what its inner and its outer page would pay for it."""
    here = np.diagonal(worths)
    steps = ((here[:-1] - np.diagonal(worths, 1)) + (np.diagonal(worths, -1) - here[1:])) / 2
    return np.concatenate([np.cumsum(steps[::-1])[::-1], [0.0]])


def assign(worths: NDArray[np.float64], prices: Numbers | None = None, slots: Places | None = None) -> Places:
    """The slot of every row in a best assignment. A plan and prices to start from make it quicker, never different in
    worth."""
    count = len(worths)
    cost = -worths
    lift = np.zeros(count) if prices is None else -prices
    page_lift = (cost - lift).min(axis=1)
    page_at = np.full(count, -1, dtype=np.intp)
    slot_of = np.full(count, -1, dtype=np.intp)
    if slots is not None:
        rows = np.arange(count)
        content = cost[rows, slots] - lift[slots] - page_lift <= _EXACT
        slot_of[content] = slots[content]
        page_at[slots[content]] = rows[content]
    for page in np.flatnonzero(slot_of < 0):
        _augment(cost, page_lift, lift, page_at, slot_of, int(page))
    return slot_of


def _augment(
    cost: NDArray[np.float64], page_lift: Numbers, lift: Numbers, page_at: Places, slot_of: Places, start: int
) -> None:
    """Give `start` a slot, moving others along the cheapest path to a free one."""
    count = len(cost)
    far = np.full(count, np.inf)
    open_far = far.copy()  # the same, but infinite for slots already settled
    came_from = np.full(count, -1, dtype=np.intp)
    settled: list[int] = []
    page, distance = start, 0.0
    while True:
        reach = cost[page] - lift
        reach += distance - page_lift[page]
        nearer = reach < far
        nearer[settled] = False
        far[nearer] = reach[nearer]
        open_far[nearer] = reach[nearer]
        came_from[nearer] = page
        slot = int(np.argmin(open_far))
        distance = float(open_far[slot])
        if page_at[slot] < 0:
            break
        settled.append(slot)
        open_far[slot] = np.inf
        page = int(page_at[slot])
    _raise(page_lift, lift, page_at, far, settled, start, distance)
    while True:
        page = int(came_from[slot])
        page_at[slot], slot, slot_of[page] = page, int(slot_of[page]), slot
        if page == start:
            return


def _raise(
    page_lift: Numbers, lift: Numbers, page_at: Places, far: Numbers, settled: list[int], start: int, distance: float
) -> None:
    page_lift[start] += distance
    if settled:
        slots = np.array(settled)
        slack = distance - far[slots]
        page_lift[page_at[slots]] += slack
        lift[slots] -= slack
