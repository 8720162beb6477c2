"""State tables: the results of visits after the results of the previous visits, for each interval separately.

Order 1 uses the last visit, order 2 the last two. A transition belongs to the interval of its last visit (datamonitor,
section 4). A table gives the probability of a change at the next visit, smoothed by one visit of each result, with
Wilson's 95 % interval; and the rate of a page with this probability.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from webstrata.columns import Days
from webstrata.predict.poisson import RateEstimate
from webstrata.predict.special import NORMAL
from webstrata.predict.visit_history import VisitHistory

_GRID = 1e6  # intervals equal within a millionth of a day share a table


class TransitionTables(Struct, frozen=True, kw_only=True):
    """One row for each page and interval that has a transition."""

    page: NDArray[np.intp]
    interval_days: Days
    counts: NDArray[np.int64]
    """(rows, states, 2): numbers of visits without and with a change after each state; bit 0 is the last visit."""


def tables(history: VisitHistory, order: int) -> TransitionTables:
    """All transitions of all pages."""
    state = states(history, order)
    page = history.page_of()
    number = np.arange(len(page)) - history.offsets[:-1][page]
    counted = number >= order
    key = np.round(history.elapsed_days * _GRID).astype(np.int64)
    pairs, row = np.unique(np.stack([page[counted], key[counted]]), axis=1, return_inverse=True)
    counts = np.zeros((pairs.shape[1], 2**order, 2), dtype=np.int64)
    np.add.at(counts, (row.ravel(), state[counted], history.changed[counted].astype(np.intp)), 1)
    return TransitionTables(page=pairs[0], interval_days=pairs[1] / _GRID, counts=counts)


def states(history: VisitHistory, order: int) -> NDArray[np.intp]:
    """The state before each visit: the results of the previous visits."""
    state = np.zeros(len(history.changed), dtype=np.intp)
    before = history.changed.astype(np.float64)
    for bit in range(order):
        before = history.previous(before)
        state |= before.astype(np.intp) << bit
    return state


def likelihood(none: Days, some: Days) -> tuple[Days, Days, Days]:
    """Probability of a change after `none` visits without and `some` with a change, and its 95 % interval."""
    number = none + some
    share = np.divide(some, number, out=np.full(number.shape, 0.5), where=number > 0)
    squared = NORMAL**2 / np.maximum(number, 1e-9)
    centre = (share + squared / 2) / (1 + squared)
    spread = (
        NORMAL * np.sqrt(share * (1 - share) / np.maximum(number, 1e-9) + (squared / (2 * NORMAL)) ** 2) / (1 + squared)
    )
    low = np.where(number > 0, np.maximum(centre - spread, 0.0), 0.0)
    high = np.where(number > 0, np.minimum(centre + spread, 1.0), 1.0)
    return (some + 1) / (number + 2), low, high


def markov(history: VisitHistory, order: int) -> RateEstimate:
    """The present rate, from the table of the last interval and the state after the last visits. NaN for pages with
    fewer visits than the order, or without such a transition."""
    known = tables(history, order)
    filled = np.flatnonzero(history.counts >= order)
    last = history.offsets[1:][filled] - 1
    state = np.zeros(len(filled), dtype=np.intp)
    for bit in range(order):
        state |= history.changed[last - bit].astype(np.intp) << bit
    key = np.round(history.elapsed_days[last] * _GRID) / _GRID
    where = {
        (page, days): row
        for row, (page, days) in enumerate(zip(known.page.tolist(), known.interval_days.tolist(), strict=True))
    }
    row = np.array([where.get(pair, -1) for pair in zip(filled.tolist(), key.tolist(), strict=True)], dtype=np.intp)
    found = (row >= 0) & (key > 0)
    counts = known.counts[row[found], state[found]].astype(np.float64)
    some = counts.sum(axis=1) > 0
    page, days, counts = filled[found][some], key[found][some], counts[some]
    return _rates(history.pages, page, days, likelihood(counts[:, 0], counts[:, 1]), counts.sum(axis=1))


def _rates(
    pages: int, page: NDArray[np.intp], days: Days, chances: tuple[Days, Days, Days], number: Days
) -> RateEstimate:
    """Rates from probabilities at an interval: 1 - exp(-rate days)."""
    rate, error, low, high = (np.full(pages, np.nan) for _ in range(4))
    chance, lowest, highest = chances
    with np.errstate(divide="ignore"):
        rate[page], low[page], high[page] = (-np.log1p(-share) / days for share in (chance, lowest, highest))
    error[page] = np.sqrt(chance / ((1 - chance) * (number + 3))) / days
    return RateEstimate(rate=rate, error=error, low=low, high=high)
