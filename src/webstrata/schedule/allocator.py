"""One allocator for the live loop and the lab: values, budget and permits -> visits.

`choose` takes the most valuable pages that may be visited, as many as can be paid for. `BudgetPacer` gives the number
of visits for any moment and steers the price: the value above which a page is visited.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from webstrata.columns import Column, Days, Rows
from webstrata.errors import BadSettings
from webstrata.schedule.policy import Bounds

_SAMPLE = 64
"""One value in so many is enough to guess where the best begin."""


def choose(
    values: Column,
    age_days: Days,
    count: int,
    bounds: Bounds,
    *,
    price: float = 0.0,
    host: NDArray[np.intp] | None = None,
    per_host: int | None = None,
) -> Rows:
    """Rows to visit now, at most `count`, best first.

    Pages unseen for the longest interval come before all others, the oldest first, whatever their value; pages seen
    within the shortest interval are left out, and so are those below the price. With `per_host` no host (`host` is each
    row's) gets more than that; what it leaves goes to the next best of others.
    """
    if count <= 0 or not len(values):
        return np.empty(0, dtype=np.intp)
    rank = values.copy()
    starved = np.flatnonzero(age_days >= bounds.max_days)
    rank[starved] = np.float32(1e9) + age_days[starved].astype(np.float32)
    rank[age_days < bounds.min_days] = -np.inf
    worthy = _best(rank, count if per_host is None else len(rank), price)
    if per_host is None or host is None:
        return worthy[:count]
    return worthy[_place_within(host[worthy]) < per_host][:count]


def _best(rank: NDArray[np.float32], count: int, price: float) -> Rows:
    """The positions of the largest values not below the price, largest first, earlier rows first among equals."""
    floor = price
    if count < len(rank) // (4 * _SAMPLE):
        sample = np.sort(rank[::_SAMPLE])
        guess = float(sample[-min(len(sample), 2 * count // _SAMPLE + 8)])
        floor = max(price, guess)
    rows = np.flatnonzero(rank >= floor)
    if len(rows) < count and floor > price:  # the sample deceived
        rows = np.flatnonzero(rank >= price)
    rows = rows[rank[rows] > -np.inf]
    if len(rows) > count:
        least = np.partition(rank[rows], len(rows) - count)[len(rows) - count]
        rows = rows[rank[rows] >= least]
    order = np.argsort(-rank[rows], kind="stable")
    return rows[order][:count]


def _place_within(host: NDArray[np.intp]) -> NDArray[np.intp]:
    """0 for the first row of each host, 1 for its second, and so on."""
    order = np.argsort(host, kind="stable")
    ordered = host[order]
    first = np.r_[True, ordered[1:] != ordered[:-1]]
    begun = np.maximum.accumulate(np.where(first, np.arange(len(host)), 0))
    place = np.empty(len(host), dtype=np.intp)
    place[order] = np.arange(len(host)) - begun
    return place


def list_worth(changed: Column, precision: Column, recall: Column, noise: Column, price: float) -> Column:
    """What a list that would be fetched now reveals of each page, in captures beyond what a visit costs.

    `changed` is how likely each page has a change that is not yet told, `noise` how many entries without cause the list
    has had time for. What is told cannot be truer than all together: a list that tells of every page reveals nothing.
    """
    told = 1.0 - (1.0 - recall * changed) * np.exp(-noise)
    believed = np.minimum(1.0 - (1.0 - changed) * (1.0 - precision), changed / np.maximum(told, 1e-9))
    gain: Column = told * np.maximum(believed - np.maximum(changed, price), 0.0)
    return gain


def usable_weights(weights: NDArray[np.float64]) -> Column:
    """Weights of pages as they multiply values; BadSettings where one is no number, negative or infinite."""
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise BadSettings("the weight of a page must be a number from 0 up.")
    return weights.astype(np.float32)


class BudgetPacer(Struct, kw_only=True):
    """How the budget is spent over time. Plain numbers, so that a restart can go on with them.

    Unspent budget is kept up to `saved_days`; the price falls while more than half of that is saved and rises while
    less is, so that it comes to rest where about as many pages pass it as can be paid for. A flood of new pages then
    raises the price instead of the spending, and a larger budget lowers it.
    """

    per_day: float
    price: float = 0.05
    credit: float = 0.0
    saved_days: float = 0.25
    steering_per_day: float = 6.0

    def __post_init__(self) -> None:
        if not 0 <= self.per_day < float("inf"):
            raise BadSettings(f"a budget of {self.per_day:g} visits a day cannot be kept: it must be 0 or more.")

    def allowance(self, elapsed_days: float) -> int:
        """Time has passed: how many visits can be paid for now."""
        most = max(self.per_day * self.saved_days, 1.0)
        self.credit = min(self.credit + self.per_day * max(elapsed_days, 0.0), most)
        self.price *= float(np.exp(self.steering_per_day * min(elapsed_days, 1.0) * (0.5 - self.credit / most)))
        self.price = min(max(self.price, 1e-6), 1.0)
        return int(self.credit + 1e-9)

    def spent(self, visits: int) -> None:
        self.credit -= visits


class DailyShare(Struct, kw_only=True):
    """The lab's even spending: so many each day, fractions carried."""

    per_day: float
    carried: float = 0.0

    def next_day(self) -> int:
        self.carried += self.per_day
        whole = int(self.carried + 1e-9)
        self.carried -= whole
        return whole
