"""Which lists (feeds, sitemaps) are read now: the same rule in the live loop and in the lab.

A list is not a page: it is worth what it reveals about the pages that it lists. Let c be the price of a visit. If a
list is read every t days and every page i that it announces is visited, the net yield per day is

    ( (1 - c) Σ (1 - e^(-r_i t)) - c ) / t

for pages that change at the rates r_i, and it is largest where (1 - c) Σ x_i = c. Here x_i = 1 - e^-y (1 + y) with
y = r_i t is the value of a visit of page i itself, which already weighs waiting. So a list is worth

    recall × Σ x_i max(1 - c / b_i, 0)     over the pages of which it has not announced a change yet

where b_i is the probability that an announced page has changed: one captured change costs 1 / b_i visits.

Pages that are known to have changed are visited before any list is read: a page that has changed once captures one
change whenever it is visited, and a list that is read later announces the same changes and more.
"""

from __future__ import annotations

import numpy as np

from webstrata.columns import Column, Flags, Rows
from webstrata.schedule.announcements import SourceTable

_KNOWN_TO_HAVE_CHANGED = 0.5
"""Announced pages with at least this value are visited before any list is read."""
_LEAST_PRICE, _MOST = 1e-6, 1e6


def source_worth(table: SourceTable, values: Column, weights: Column | float, price: float) -> Column:
    """What a read of each source is worth now. `values` are those of all pages, without their `weights`."""
    chance = np.clip(values, 0.0, 1.0)
    precision, _ = table.quality_of(np.arange(len(values)))
    believed = weights * (1.0 - (1.0 - chance) * (1.0 - precision))
    gain = weights * values * np.maximum(1.0 - price / np.maximum(believed, 1e-9), 0.0)
    gain = np.where(table.announced | (table.source < 0), 0.0, gain)
    revealed = np.bincount(np.maximum(table.source, 0), weights=gain, minlength=len(table))
    worth = table.sources.proven_recall(table.quality) * revealed[: len(table)]
    limited: Column = np.minimum(worth, table.sources.max_worth(table.quality))
    return limited


def discovery_worth(table: SourceTable, now: float) -> Column:
    """What a read of each source is worth for the new pages that it leads to: 1 - e^-y (1 + y), where y is the expected
    number of new pages since the last read."""
    expected = table.sources.discoveries_per_day(table.quality) * np.maximum(now - table.read_at[:-1], 0.0)
    worth: Column = -np.expm1(-expected) - expected * np.exp(-expected)
    return worth


def choose_sources(
    table: SourceTable, values: Column, worth: Column, count: int, price: float, *, ready: Flags, overdue: Flags
) -> Rows:
    """The sources to read now, best first: at most `count` less the pages that are known to have changed.

    `values` are those of all pages. `ready`: sources that may be read; `overdue`: those that are read in any case.
    """
    known = int(np.count_nonzero(table.announced & (values >= _KNOWN_TO_HAVE_CHANGED)))
    left = count - known
    if left <= 0:
        return np.empty(0, dtype=np.intp)
    rank = np.where(overdue, np.inf, worth)
    chosen = np.flatnonzero(ready & (overdue | (worth > max(price, _LEAST_PRICE))))
    return chosen[np.argsort(-rank[chosen], kind="stable")][:left]


def moved_price(price: float, least: float, share: float) -> float:
    """The smoothed price of a visit after visits that are this share of a day's budget; `least` is their least value.

    A day's visits move the price by a fifth of the way, on a logarithmic scale.
    """
    step = 1.0 - 0.8 ** min(max(share, 0.0), 1.0)
    return float(min(max(price * (max(least, _LEAST_PRICE) / price) ** step, _LEAST_PRICE), _MOST))
