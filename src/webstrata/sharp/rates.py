"""What is known of a site's pages: change rates, weights, and what may be wrong with them.

A rate is per slot (or per second, where slots have times in seconds): a page of rate l stays unchanged over a span s
with probability exp(-l s). Rate 0 is a page that never changes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from webstrata.errors import UsageError

Numbers = NDArray[np.float64]
Places = NDArray[np.intp]
"""Slots by page, or pages by slot."""


def checked_rates(rates: ArrayLike) -> Numbers:
    """The rates as a column; refuses none at all, NaN, infinite and negative ones."""
    column = as_column(rates, "rates")
    bad = np.flatnonzero(~(np.isfinite(column) & (column >= 0)))
    if bad.size:
        raise UsageError(
            f"page {bad[0]} has the rate {column[bad[0]]}: a rate is a finite number of changes, 0 or more. "
            "Leave out pages without a rate, or give them the site's prior."
        )
    return column


def checked_weights(weights: ArrayLike | None, count: int) -> Numbers:
    """The weights as a column, 1 where none are given; refuses NaN, infinite and negative ones and another count."""
    if weights is None:
        return np.ones(count)
    column = as_column(weights, "weights")
    if column.size != count:
        raise UsageError(f"{column.size} weights for {count} pages: give every page one weight, or none at all.")
    bad = np.flatnonzero(~(np.isfinite(column) & (column >= 0)))
    if bad.size:
        raise UsageError(f"page {bad[0]} has the weight {column[bad[0]]}: a weight is a finite number, 0 or more.")
    return column


def checked_times(times: ArrayLike, count: int) -> Numbers:
    """Distances of the slots from the instant, inside to outside: one per page, finite, never falling."""
    column = as_column(times, "slot times")
    if column.size != count:
        raise UsageError(f"{column.size} slots for {count} pages: every page needs one slot on either side.")
    if not np.isfinite(column).all() or column[0] < 0 or (np.diff(column) < 0).any():
        raise UsageError("Slot times are distances from the instant: 0 or more, finite, in rising order.")
    return column


def checked_ids(ids: Sequence[str]) -> None:
    """Refuses a page that is named twice."""
    seen: set[str] = set()
    for one in ids:
        if one in seen:
            raise UsageError(f"page {one} is given twice: every page has one place in a schedule.")
        seen.add(one)


def as_column(values: ArrayLike, noun: str) -> Numbers:
    try:
        column = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise UsageError(f"{noun} must be numbers: {problem}.") from problem
    if column.ndim != 1 or column.size == 0:
        raise UsageError(f"no {noun}: a schedule needs at least one page.")
    return column
