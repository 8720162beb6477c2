"""Regimes: when the present change rate of a page began, and its value.

The visits of a page are split into two parts with different rates where the likelihood is largest. The split is a break
if twice the gain in log-likelihood exceeds 8.85 (the 5 % limit of the largest gain if 15 % of the visits are excluded
at both ends; Andrews 1993). Several changes in one interval are counted as in `gamma.py`. There is no interval: it
would have to include the doubt about the break.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webstrata.columns import Days
from webstrata.predict.gamma import begin, believed, learned
from webstrata.predict.poisson import RateEstimate, irregular_rate
from webstrata.predict.prior import GammaPrior
from webstrata.predict.visit_history import VisitHistory

_BREAK = 8.85
_MARGIN = 0.15


def breaks(history: VisitHistory) -> NDArray[np.int64]:
    """For each page the index of the visit at which its present regime begins; 0 if there is no break."""
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
    number = at[first] - starts + 1
    begins[filled] = np.where(2 * best > _BREAK, number, 0)
    return begins


def _gains(history: VisitHistory, hits: Days) -> Days:
    """The gain in log-likelihood of two rates over one, for a split after each visit."""
    counts = history.counts
    begun = np.repeat(history.offsets[:-1], counts)
    so_far = [np.cumsum(column) for column in (hits, history.elapsed_days)]
    before, days = (total - np.concatenate([[0.0], total])[begun] for total in so_far)
    all_hits, all_days = (np.repeat(history.totals(column), counts) for column in (hits, history.elapsed_days))
    index = np.arange(len(hits)) - begun + 1
    number = np.repeat(counts, counts)
    inside = (index >= _MARGIN * number) & (index <= (1 - _MARGIN) * number) & (index < number)
    gain = _log(before, days) + _log(all_hits - before, all_days - days) - _log(all_hits, all_days)
    return np.where(inside, gain, -1.0)


def _log(hits: Days, days: Days) -> Days:
    """hits ln(hits / days), 0 without hits."""
    some = (hits > 1e-12) & (days > 0)
    return np.where(some, hits * np.log(np.where(some, hits, 1.0) / np.where(some, days, 1.0)), 0.0)


def regime(history: VisitHistory, prior: GammaPrior) -> RateEstimate:
    """The rate since the last break, with this prior."""
    history = history.lasting()
    begins = breaks(history)
    index = np.arange(len(history.changed)) - np.repeat(history.offsets[:-1], history.counts)
    present = history.where(index >= np.repeat(begins, history.counts))
    return believed(*learned(present, *begin(prior, history.pages)))
