"""Which lists (feeds, sitemaps) are read now: the same rule in the live loop and in the lab.

A list is not a page: it is worth what it reveals about the pages that it lists. Let c be the price of a visit, and y
the expected number of changes of a page since its last visit. Without a list, the page is visited when the value of a
visit, 1 - e^-y (1 + y), reaches the price; call this y*. Then the changes until now are worth

    h(P) = e^-y* y    with P = 1 - e^-y, the probability that the page has changed (above y*: P - c)

in future captures, less the price of their visits. A read of a list tells two groups of pages apart: announced pages,
which have changed with probability b, and silent ones (probability s). It gains

    B = Σ a h(b) + (1 - a) h(s) - h(P)    over the pages of which the list has not announced a change yet

where a = (P - s) / (b - s) is the probability that a page is announced. h is convex, so B is never negative. If a list
is read every t days, the net gain per day is (B - c) / t. If the list announces every change, this is largest where

    A = Σ (1 - c / b) x = c    with x = 1 - e^-y (1 + y), the value of a visit of the page itself.

So a list is read if recall × A exceeds the price (a read now is better than a later one), and if B exceeds `_MARGIN`
times the price (reading the list is better than not reading it). Both use the quality that visits have confirmed.

A list without such a record is tried if both would hold for a list that announces every change. Trials are at most
`_TRIALS` of all visits, and a list that was wrong before is tried less often.

Pages that are known to have changed are visited before any list is read: a page that has changed once captures one
change whenever it is visited, and a list that is read later announces the same changes and more.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from webstrata.columns import Column, Days, Flags, Rows
from webstrata.schedule.announcements import SourceTable

_KNOWN_TO_HAVE_CHANGED = 0.5
"""Announced pages with at least this value are visited before any list is read."""
_MARGIN = 2.0
"""What a read must gain, in prices: the gain is a sum of many small forecasts, which are too high for quiet sites."""
_TRIALS = 0.01
"""The share of all visits that may try lists without a good record."""
_PERFECT = 0.98
"""Precision and recall of a list that announces every change."""
_LEAST_PRICE, _MOST = 1e-6, 1e6
_ROUNDING = 1e-9
_CHANGES: Days = np.concatenate([[0.0], np.geomspace(1e-4, 30.0, 2000)])
_VALUES: Days = -np.expm1(-_CHANGES) - _CHANGES * np.exp(-_CHANGES)
"""The value of a visit after these expected changes."""


class SourceWorth(NamedTuple):
    """What a read of each source is worth now."""

    proven: Column
    """With the quality that visits have confirmed."""
    possible: Column
    """If the source announces every change."""


def source_worth(
    table: SourceTable, values: Column, changed: Column, weights: Column | float, price: float
) -> SourceWorth:
    """What reads are worth. `values`: those of all pages, without their `weights`; `changed`: the probabilities that
    they have changed."""
    precision, _ = table.quality_of(np.arange(len(values)))
    recall = np.append(table.sources.proven_recall(table.quality), 0.0)[table.source]
    pages = _ListedPages(table, values, np.clip(changed.astype(np.float64), 0.0, 1.0 - 1e-6), weights, price)
    proven = np.minimum(pages.worth(precision, recall), table.sources.proven_worth(table.quality))
    return SourceWorth(proven, pages.worth(_PERFECT, _PERFECT))


class _ListedPages(NamedTuple):
    """The pages that sources list, and the price of a visit."""

    table: SourceTable
    values: Column
    changed: Days
    weights: Column | float
    price: float

    def worth(self, precision: Column | float, recall: Column | float) -> Column:
        """What a read of each source is worth if the sources have this quality, by page."""
        announced = 1.0 - (1.0 - self.changed) * (1.0 - precision)
        silent = self.changed * (1.0 - recall) / (1.0 - recall * self.changed)
        net = np.maximum(1.0 - self.price / np.maximum(self.weights * announced, 1e-9), 0.0)
        now = self._by_source(self.weights * recall * self.values * net)
        if not self.price:  # where visits cost nothing, a list saves nothing, but reading it costs nothing either
            return now
        cost = np.minimum(self.price / np.maximum(self.weights, 1e-9), 1.0)
        gain = self._by_source(self.weights * _gain(self.changed, announced, silent, cost))
        worth: Column = np.minimum(now, gain / _MARGIN)
        return worth

    def _by_source(self, of_pages: Column) -> Column:
        """The sum over the pages of each source of which it has not announced a change yet."""
        source, count = self.table.source, len(self.table)
        unheard = np.where(self.table.announced | (source < 0), 0.0, of_pages)
        sums: Column = np.bincount(np.maximum(source, 0), weights=unheard, minlength=count).astype(np.float64)
        return sums[:count]


def _gain(chance: Days, announced: Days, silent: Days, cost: Days | float) -> Days:
    """What it is worth to learn whether a page is announced. The page has changed with probability `chance`; with
    `announced` if it is announced, and with `silent` if it is not."""
    share = (chance - silent) / np.maximum(announced - silent, 1e-9)
    alone = np.interp(cost, _VALUES, _CHANGES)
    known = share * _accumulated(announced, alone, cost) + (1.0 - share) * _accumulated(silent, alone, cost)
    return known - _accumulated(chance, alone, cost)


def _accumulated(changed: Days, alone: Days | np.float64, cost: Days | float) -> Days:
    """What the changes of a page are worth that has changed with this probability and is visited after `alone` expected
    changes, each visit at this cost."""
    changes = -np.log1p(-np.minimum(changed, 1.0 - 1e-9))
    return np.where(changes < alone, np.exp(-alone) * changes, changed - cost)


def discovery_worth(table: SourceTable, now: float) -> Column:
    """What a read of each source is worth for the new pages that it leads to: 1 - e^-y (1 + y), where y is the expected
    number of new pages since the last read; 0 if its entries do not become pages."""
    expected = table.sources.discoveries_per_day(table.quality) * np.maximum(now - table.read_at[:-1], 0.0)
    worth: Column = np.where(table.finds_pages, -np.expm1(-expected) - expected * np.exp(-expected), 0.0)
    return worth


def choose_sources(
    table: SourceTable,
    values: Column,
    worth: SourceWorth,
    count: int,
    price: float,
    *,
    now: float,
    visits_per_day: float,
    ready: Flags,
    overdue: Flags,
) -> Rows:
    """The sources to read now, best first: at most `count` less the pages that are known to have changed.

    `values` are those of all pages. `ready`: sources that may be read; `overdue`: those that are read in any case.
    """
    known = int(np.count_nonzero(table.announced & (values >= _KNOWN_TO_HAVE_CHANGED)))
    left = count - known
    if left <= 0:
        return np.empty(0, dtype=np.intp)
    least = max(price, _LEAST_PRICE)
    # A read that costs nothing needs no record.
    rank = np.where(overdue, np.inf, worth.proven if price else np.maximum(worth.proven, worth.possible))
    is_read = rank > least
    chosen = np.flatnonzero(ready & is_read)
    chosen = chosen[np.argsort(-rank[chosen], kind="stable")]
    tried = _trials(table, worth, ready & ~is_read, least, now, _TRIALS * visits_per_day)
    return np.concatenate([chosen, tried])[:left]


def _trials(
    table: SourceTable, worth: SourceWorth, ready: Flags, least: float, now: float, trials_per_day: float
) -> Rows:
    """The sources without a good record to try now, the most promising first."""
    read_at, doubt = table.read_at[:-1], table.sources.doubt(table.quality)
    unproven = worth.proven <= least
    if not unproven.any():
        return np.empty(0, dtype=np.intp)
    count = int(min((now - float(read_at[unproven].max())) * trials_per_day + _ROUNDING, len(table)))
    rested = (now - read_at) * trials_per_day + _ROUNDING >= doubt
    promising = np.flatnonzero(ready & rested & (worth.possible > least))
    return promising[np.argsort(-(worth.possible / doubt)[promising], kind="stable")][:count]


def moved_price(price: float, least: float, share: float) -> float:
    """The smoothed price of a visit after visits that are this share of a day's budget; `least` is their least value.

    A day's visits move the price by a fifth of the way, on a logarithmic scale.
    """
    step = 1.0 - 0.8 ** min(max(share, 0.0), 1.0)
    return float(min(max(price * (max(least, _LEAST_PRICE) / price) ** step, _LEAST_PRICE), _MOST))
