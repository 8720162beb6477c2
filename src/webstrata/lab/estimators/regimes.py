"""Regimes: pages that change their habits. When did the present one begin, and what is its rate?

Batch: the split of a page's visits into two rates that explains them best; it counts as a break where twice the gain
of the logarithm of the likelihood passes 8.85 (the 5 % limit of the largest of such gains when 15 % of the visits are
left out at both ends; Andrews 1993). Changes that hide in one interval are counted as in `gamma.py`.

One visit at a time: two sums per page (Page's cumulative sums) that grow while visits speak for a rate three times as
high or low as believed. Where one passes its limit, the belief is what was learned since that sum was last zero.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webstrata.columns import Days
from webstrata.predict.gamma import begin, believed, learned
from webstrata.predict.poisson import irregular_rate
from webstrata.predict.prior import GammaPrior
from webstrata.predict.rate_estimate import RateEstimate
from webstrata.predict.visit_history import VisitHistory

_BREAK = 8.85
_MARGIN = 0.15


def breaks(history: VisitHistory) -> NDArray[np.int64]:
    """For each page the place among its visits at which its present regime begins; 0 where it never changed."""
    history = history.lasting()
    rate = np.nan_to_num(irregular_rate(history))
    expected = np.repeat(rate, history.counts) * history.elapsed_days
    hits = np.ones_like(expected)
    np.divide(expected, -np.expm1(-expected), out=hits, where=expected > 1e-12)
    hits = np.where(history.changed, hits, 0.0)
    gain = _gains(history, hits)
    begins = np.zeros(history.pages, dtype=np.int64)
    filled = history.counts > 0
    starts = history.offsets[:-1][filled]
    best = np.maximum.reduceat(gain, starts) if len(starts) else np.zeros(0)
    at = np.flatnonzero(gain == np.repeat(best, history.counts[filled]))
    page = history.page_of()[at]
    first = np.unique(page, return_index=True)[1]
    place = at[first] - starts + 1
    begins[filled] = np.where(2 * best > _BREAK, place, 0)
    return begins


def _gains(history: VisitHistory, hits: Days) -> Days:
    """For a split after each visit: how much better two rates explain the visits than one."""
    counts = history.counts
    begun = np.repeat(history.offsets[:-1], counts)
    so_far = [np.cumsum(column) for column in (hits, history.elapsed_days)]
    before, days = (total - np.concatenate([[0.0], total])[begun] for total in so_far)
    all_hits, all_days = (np.repeat(history.totals(column), counts) for column in (hits, history.elapsed_days))
    place = np.arange(len(hits)) - begun + 1
    number = np.repeat(counts, counts)
    inside = (place >= _MARGIN * number) & (place <= (1 - _MARGIN) * number) & (place < number)
    gain = _log(before, days) + _log(all_hits - before, all_days - days) - _log(all_hits, all_days)
    return np.where(inside, gain, -1.0)


def _log(hits: Days, days: Days) -> Days:
    """hits ln(hits / days), 0 for none."""
    some = (hits > 1e-12) & (days > 0)
    return np.where(some, hits * np.log(np.where(some, hits, 1.0) / np.where(some, days, 1.0)), 0.0)


def regime(history: VisitHistory, prior: GammaPrior) -> RateEstimate:
    """The rate since the last break, from the prior."""
    history = history.lasting()
    begins = breaks(history)
    place = np.arange(len(history.changed)) - np.repeat(history.offsets[:-1], history.counts)
    present = history.where(place >= np.repeat(begins, history.counts))
    return believed(*learned(present, *begin(prior, history.pages)))
