"""The allocator, which the live loop and the lab share: it turns values, budget and permits into visits.

`choose` takes the most valuable pages that may be visited, as many as the budget pays for. `BudgetPacer` gives the
number of visits at any time and controls the price: the value from which on a page is visited.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from webstrata.columns import Column, Days, Flags, Rows
from webstrata.errors import BadSettings

_SAMPLE = 64
"""One value in this many is sampled to estimate the value of the last page that is chosen."""
_OVERDUE = np.float32(1e9)
"""Added to the age of pages beyond their longest interval, so that they rank above all values. In single precision,
ages in steps of about two months remain distinct."""


class AgeLimits(Protocol):
    """Shortest and longest interval in days: of all pages, or one entry per page."""

    @property
    def min_days(self) -> float | Days: ...
    @property
    def max_days(self) -> float | Days: ...


def choose(
    values: Column,
    age_days: Days,
    count: int,
    limits: AgeLimits,
    *,
    price: float = 0.0,
    eligible: Flags | None = None,
) -> Rows:
    """Rows to visit now, at most `count`, best first.

    Pages that were not seen for their longest interval come before all others, older ones first, whatever their value.
    Pages seen within their shortest interval, pages below the price and pages that are not `eligible` are left out.
    """
    if count <= 0 or not len(values):
        return np.empty(0, dtype=np.intp)
    rank = values.astype(np.float32)
    overdue = np.flatnonzero(age_days >= limits.max_days)
    rank[overdue] = _OVERDUE + age_days[overdue].astype(np.float32)
    rank[age_days < limits.min_days] = -np.inf
    if eligible is not None:
        rank[~eligible] = -np.inf
    return _best(rank, count, price)


def _best(rank: NDArray[np.float32], count: int, price: float) -> Rows:
    """The positions of the largest values not below the price, largest first, earlier rows first among equals."""
    floor = price
    if count < len(rank) // (4 * _SAMPLE):
        sample = np.sort(rank[::_SAMPLE])
        guess = float(sample[-min(len(sample), 2 * count // _SAMPLE + 8)])
        floor = max(price, guess)
    rows = np.flatnonzero(rank >= floor)
    if len(rows) < count and floor > price:  # the sample was not representative
        rows = np.flatnonzero(rank >= price)
    rows = rows[rank[rows] > -np.inf]
    if len(rows) > count:
        least = np.partition(rank[rows], len(rows) - count)[len(rows) - count]
        rows = rows[rank[rows] >= least]
    order = np.argsort(-rank[rows], kind="stable")
    return rows[order][:count]


def list_worth(changed: Column, precision: Column, recall: Column, false_entries: Column, price: float) -> Column:
    """What a list that is fetched now reveals of each page, in captures beyond the cost of a visit.

    `changed` is the probability that a page has a change that is not announced yet, `false_entries` the expected number
    of false entries since the last fetch. Announced pages cannot have changed more often than all pages together: a
    list that announces every page reveals nothing.
    """
    announced = 1.0 - (1.0 - recall * changed) * np.exp(-false_entries)
    believed = np.minimum(1.0 - (1.0 - changed) * (1.0 - precision), changed / np.maximum(announced, 1e-9))
    gain: Column = announced * np.maximum(believed - np.maximum(changed, price), 0.0)
    return gain


def usable_weights(weights: NDArray[np.float64]) -> Column:
    """Weights of pages as factors of values. Raises BadSettings if one is not a number, negative or infinite."""
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise BadSettings("the weight of a page must be a number from 0 up.")
    return weights.astype(np.float32)


class BudgetPacer(Struct, kw_only=True):
    """How a budget is spent over time. All fields are plain numbers, so that they can be stored.

    Unspent budget is kept for up to `saved_days`. The price falls while more than half of that is saved and rises while
    less is, so that it settles where about as many pages pass it as the budget pays for. Many new pages then raise the
    price instead of the spending, and a larger budget lowers it.
    """

    per_day: float
    price: float = 0.05
    credit: float = 0.0
    saved_days: float = 0.25
    steering_per_day: float = 6.0

    def __post_init__(self) -> None:
        if not 0 <= self.per_day < float("inf"):
            raise BadSettings(f"a budget of {self.per_day:g} visits a day cannot be kept: it must be 0 or more.")

    @property
    def max_credit(self) -> float:
        return max(self.per_day * self.saved_days, 1.0)

    def allowance(self, elapsed_days: float) -> int:
        """Add the budget of the elapsed time; the number of visits that can be paid for now."""
        self.credit = min(self.credit + self.per_day * max(elapsed_days, 0.0), self.max_credit)
        saved = self.credit / self.max_credit
        self.price *= float(np.exp(self.steering_per_day * min(elapsed_days, 1.0) * (0.5 - saved)))
        self.price = min(max(self.price, 1e-6), 1.0)
        return int(self.credit + 1e-9)

    def spent(self, visits: int) -> None:
        self.credit -= visits


class EvenShare(Struct, kw_only=True):
    """The lab's even spending: the same number in each step of a replay, with fractions carried over."""

    per_step: float
    carried: float = 0.0

    def next_step(self) -> int:
        self.carried += self.per_step
        whole = int(self.carried + 1e-9)
        self.carried -= whole
        return whole
