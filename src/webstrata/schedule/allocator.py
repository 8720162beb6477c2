"""The allocator, which the live loop and the lab share: `choose` takes the most valuable pages that may be visited, as
many as the budget pays for."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from webstrata.columns import Column, Days, Flags, Rows
from webstrata.errors import BadSettings

_SAMPLE = 64
"""One value in this many is sampled to estimate the value of the last page that is chosen."""
_OVERDUE = 1e9
"""Factor of the age of overdue pages, in their own longest intervals: they rank above all values."""


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
    eligible: Flags | None = None,
) -> Rows:
    """Rows to visit now, at most `count`, best first.

    Pages that were not seen for their longest interval come before all others, whatever their value: first those that
    exceed their own longest interval by the largest factor. Pages seen within their shortest interval and pages that
    are not `eligible` are left out.
    """
    if count <= 0 or not len(values):
        return np.empty(0, dtype=np.intp)
    rank = values.astype(np.float32)
    overdue = np.flatnonzero(age_days >= limits.max_days)
    longest = np.broadcast_to(np.asarray(limits.max_days, dtype=np.float64), age_days.shape)[overdue]
    rank[overdue] = _OVERDUE * age_days[overdue] / np.maximum(longest, 1e-9)
    rank[age_days < limits.min_days] = -np.inf
    if eligible is not None:
        rank[~eligible] = -np.inf
    return _best(rank, count)


def _best(rank: NDArray[np.float32], count: int) -> Rows:
    """The positions of the largest values, largest first, earlier rows first among equals."""
    floor = -np.inf
    if count < len(rank) // (4 * _SAMPLE):
        sample = np.sort(rank[::_SAMPLE])
        floor = float(sample[-min(len(sample), 2 * count // _SAMPLE + 8)])
    rows = np.flatnonzero(rank >= floor)
    if len(rows) < count and floor > -np.inf:  # the sample was not representative
        rows = np.arange(len(rank))
    rows = rows[rank[rows] > -np.inf]
    if len(rows) > count:
        least = np.partition(rank[rows], len(rows) - count)[len(rows) - count]
        rows = rows[rank[rows] >= least]
    order = np.argsort(-rank[rows], kind="stable")
    return rows[order][:count]


def usable_weights(weights: NDArray[np.float64]) -> Column:
    """Weights of pages as factors of values. Raises BadSettings if one is not a number, negative or infinite."""
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise BadSettings("the weight of a page must be a number from 0 up.")
    return weights.astype(np.float32)


class EvenShare(Struct, kw_only=True):
    """The lab's even spending: the same number in each step of a replay, with fractions carried over."""

    per_step: float
    carried: float = 0.0

    def next_step(self) -> int:
        self.carried += self.per_step
        whole = int(self.carried + 1e-9)
        self.carried -= whole
        return whole
