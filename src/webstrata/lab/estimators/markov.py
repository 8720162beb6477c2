"""State tables: the results of visits after the results of the previous visits, for each interval separately.

Order 1 uses the last visit, order 2 the last two. A transition belongs to the interval of its last visit (datamonitor,
section 4). A table gives the probability of a change at the next visit, smoothed by one visit of each result, and the
rate of a page with this probability. It has no interval: which table applies depends on the last visits, so the visits
that a table counts are no random sample.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from webstrata.columns import Days
from webstrata.predict.poisson import RateEstimate, without_interval
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


def change_probability(none: Days, some: Days) -> Days:
    """Probability of a change after `none` visits without and `some` with a change."""
    probability: Days = (some + 1) / (none + some + 2)
    return probability


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
    chance = change_probability(counts[:, 0], counts[:, 1])
    rate, error = np.full(history.pages, np.nan), np.full(history.pages, np.nan)
    rate[page] = -np.log1p(-chance) / days  # of a page with this probability at this interval
    error[page] = np.sqrt(chance / ((1 - chance) * (counts.sum(axis=1) + 3))) / days
    return without_interval(rate, error)
