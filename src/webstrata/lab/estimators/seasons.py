"""Seasons: weekdays and hours at which a page changes more than at others.

A change happened at some time of the interval before the visit that saw it. It is distributed over the weekdays (or
hours) of that interval by their length and by the profile itself, iteratively (EM). The profile is regularised by 14
pseudo-changes at an even rate, so that it stays flat for a page with few changes. Intervals that cover all weekdays
equally do not affect it.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from webstrata.columns import Days
from webstrata.predict.poisson import RateEstimate
from webstrata.predict.visit_history import VisitHistory

Cycle = Literal["week", "day"]
Slots: TypeAlias = NDArray[np.float64]
"""(pages or intervals, slots)."""
HOLD = 14.0
"""Number of pseudo-changes at an even rate."""

_ROUNDS = 12
_SLOTS: dict[Cycle, tuple[int, float, float]] = {"week": (7, 1.0, 3.0), "day": (24, 1 / 24, 0.0)}
# number of slots, days in each, days from the start of a cycle to 1970-01-01 (a Thursday)


def shares(begin_days: Days, end_days: Days, cycle: Cycle) -> Slots:
    """Days of each interval in each slot: (intervals, slots)."""
    slots, width, offset = _SLOTS[cycle]
    edges = np.arange(slots + 1, dtype=np.float64) * width
    return np.diff(_passed(end_days, edges, offset) - _passed(begin_days, edges, offset), axis=1)


def _passed(at_days: Days, edges: Days, offset: float) -> Slots:
    """Days before an instant in the slots up to each edge, summed over all cycles."""
    turns, rest = np.divmod(np.asarray(at_days)[:, None] + offset, edges[-1])
    passed: Slots = turns * edges + np.minimum(rest, edges)
    return passed


def profile(history: VisitHistory, cycle: Cycle = "week", hold: float = HOLD) -> Slots:
    """The factor of each weekday (Monday first) or hour (UTC) of each page, from all its visits; the mean is 1."""
    history = history.lasting()
    parts = shares(history.at_days - history.elapsed_days, history.at_days, cycle)
    exposure = _by_page(history, parts)
    hit = history.where(history.changed)
    parts = parts[history.changed]
    factors = np.ones_like(exposure)
    for _ in range(_ROUNDS):
        factors = _held(_by_page(hit, _shared(parts, factors[hit.page_of()])), exposure, hold)
    return factors


def seasonal(history: VisitHistory, overall: RateEstimate, next_days: Days, cycle: Cycle = "week") -> RateEstimate:
    """The rate at a future time: the overall rate multiplied by the factor of its weekday or hour."""
    slots, width, offset = _SLOTS[cycle]
    slot = ((next_days + offset) / width % slots).astype(np.intp)
    factor = profile(history, cycle)[np.arange(history.pages), slot]
    return RateEstimate(
        rate=overall.rate * factor, error=overall.error * factor, low=overall.low * factor, high=overall.high * factor
    )


def _by_page(history: VisitHistory, values: Slots) -> Slots:
    return np.stack([history.totals(column) for column in values.T], axis=1)


def _shared(parts: Slots, factors: Slots) -> Slots:
    """One change for each interval, distributed over its slots."""
    weights = parts * factors
    total = weights.sum(axis=1, keepdims=True)
    shared: Slots = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
    return shared


def _held(hits: Slots, exposure: Slots, hold: float) -> Slots:
    """Changes divided by those of an even rate, both with `hold` pseudo-changes; the mean of the factors is 1."""
    slots = hits.shape[1]
    total_hits, total_days = hits.sum(axis=1, keepdims=True), exposure.sum(axis=1, keepdims=True)
    even = np.divide(total_hits * exposure, total_days, out=np.zeros_like(exposure), where=total_days > 0)
    factors: Slots = (hits + hold / slots) / (even + hold / slots)
    factors /= factors.mean(axis=1, keepdims=True)
    return factors
