"""Seasons: weekdays on which a page changes more than on others.

A change happened at some time of the interval before the visit that saw it. It is distributed over the weekdays of
that interval by their length and by the profile itself, iteratively (EM). The profile is regularised by 14
pseudo-changes at an even rate, so that it stays flat for a page with few changes. Intervals that cover all weekdays
equally do not affect it.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from webstrata.columns import Days
from webstrata.predict.poisson import RateEstimate, without_interval
from webstrata.predict.visit_history import VisitHistory

Slots: TypeAlias = NDArray[np.float64]
"""(pages or intervals, weekdays)."""
HOLD = 14.0
"""Number of pseudo-changes at an even rate."""

_ROUNDS = 12
_EDGES = np.arange(8.0)
"""Start and end of the weekdays, in days from the start of a week."""
_OFFSET = 3.0
"""Days from the start of a week, Monday, to 1970-01-01, a Thursday."""


def shares(begin_days: Days, end_days: Days) -> Slots:
    """Days of each interval on each weekday: (intervals, weekdays)."""
    return np.diff(_passed(end_days) - _passed(begin_days), axis=1)


def _passed(at_days: Days) -> Slots:
    """Days before an instant on the weekdays up to each edge, summed over all weeks."""
    turns, rest = np.divmod(np.asarray(at_days)[:, None] + _OFFSET, _EDGES[-1])
    passed: Slots = turns * _EDGES + np.minimum(rest, _EDGES)
    return passed


def profile(history: VisitHistory) -> Slots:
    """The factor of each weekday (Monday first) of each page, from all its visits; the mean is 1."""
    history = history.lasting()
    parts = shares(history.at_days - history.elapsed_days, history.at_days)
    exposure = _by_page(history, parts)
    hit = history.where(history.changed)
    parts = parts[history.changed]
    factors = np.ones_like(exposure)
    for _ in range(_ROUNDS):
        factors = _held(_by_page(hit, _shared(parts, factors[hit.page_of()])), exposure)
    return factors


def seasonal(history: VisitHistory, overall: RateEstimate, next_days: Days) -> RateEstimate:
    """The rate at a future time: the overall rate multiplied by the factor of its weekday."""
    slot = ((next_days + _OFFSET) % 7).astype(np.intp)
    factor = profile(history)[np.arange(history.pages), slot]
    return without_interval(overall.rate * factor, overall.error * factor)


def _by_page(history: VisitHistory, values: Slots) -> Slots:
    return np.stack([history.totals(column) for column in values.T], axis=1)


def _shared(parts: Slots, factors: Slots) -> Slots:
    """One change for each interval, distributed over its weekdays."""
    weights = parts * factors
    total = weights.sum(axis=1, keepdims=True)
    shared: Slots = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
    return shared


def _held(hits: Slots, exposure: Slots) -> Slots:
    """Changes divided by those of an even rate, both with `HOLD` pseudo-changes; the mean of the factors is 1."""
    slots = hits.shape[1]
    total_hits, total_days = hits.sum(axis=1, keepdims=True), exposure.sum(axis=1, keepdims=True)
    even = np.divide(total_hits * exposure, total_days, out=np.zeros_like(exposure), where=total_days > 0)
    factors: Slots = (hits + HOLD / slots) / (even + HOLD / slots)
    factors /= factors.mean(axis=1, keepdims=True)
    return factors
