"""Seasons: weekdays and hours at which a page changes more than at others.

A change lies somewhere in the interval before the visit that saw it; it is shared among the weekdays (or hours) of
that interval by their length and by the profile itself, again and again (EM). The profile is held near level by
so many imaginary changes at an even pace, so that a page with few dated changes keeps a level one. Intervals that
cover all weekdays alike say nothing, as they should.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from webstrata.columns import Days
from webstrata.predict.rate_estimate import RateEstimate
from webstrata.predict.visit_history import VisitHistory

Cycle = Literal["week", "day"]
Slots: TypeAlias = NDArray[np.float64]
"""(pages or intervals, slots)."""
HOLD = 14.0
"""Imaginary changes at an even pace."""

_ROUNDS = 12
_SLOTS: dict[Cycle, tuple[int, float, float]] = {"week": (7, 1.0, 3.0), "day": (24, 1 / 24, 0.0)}
# number of slots, days in each, days by which 1970-01-01 (a Thursday) lies after the start of a cycle


class Profile(Struct, frozen=True, kw_only=True):
    """(pages, slots): by how much each weekday (Monday first) or hour (UTC) is above the mean, which is 1."""

    cycle: Cycle
    factors: Slots
    contrast: Days
    """Twice the gain of the logarithm of the likelihood over a level profile; chance gives about slots - 1."""


def shares(begin_days: Days, end_days: Days, cycle: Cycle) -> Slots:
    """Days of each interval that lie in each slot: (intervals, slots)."""
    slots, width, offset = _SLOTS[cycle]
    edges = np.arange(slots + 1, dtype=np.float64) * width
    return np.diff(_passed(end_days, edges, offset) - _passed(begin_days, edges, offset), axis=1)


def _passed(at_days: Days, edges: Days, offset: float) -> Slots:
    """Days before an instant that lie within the first edge, the first two, and so on, of every cycle."""
    turns, rest = np.divmod(np.asarray(at_days)[:, None] + offset, edges[-1])
    passed: Slots = turns * edges + np.minimum(rest, edges)
    return passed


def profile(history: VisitHistory, cycle: Cycle = "week", hold: float = HOLD) -> Profile:
    """Every page's profile from all its visits."""
    history = history.lasting()
    parts = shares(history.at_days - history.elapsed_days, history.at_days, cycle)
    exposure = _by_page(history, parts)
    hit = history.where(history.changed)
    parts = parts[history.changed]
    factors = np.ones_like(exposure)
    for _ in range(_ROUNDS):
        factors = _held(_by_page(hit, _shared(parts, factors[hit.page_of()])), exposure, hold)
    level = _gain(hit, parts, np.ones_like(factors), exposure)
    return Profile(cycle=cycle, factors=factors, contrast=2 * (_gain(hit, parts, factors, exposure) - level))


def seasonal(history: VisitHistory, overall: RateEstimate, next_days: Days, cycle: Cycle = "week") -> RateEstimate:
    """A rate for a coming instant: the overall one by the factor of its weekday or hour."""
    slots, width, offset = _SLOTS[cycle]
    slot = ((next_days + offset) / width % slots).astype(np.intp)
    factor = profile(history, cycle).factors[np.arange(history.pages), slot]
    return RateEstimate(
        rate=overall.rate * factor, error=overall.error * factor, low=overall.low * factor, high=overall.high * factor
    )


def _by_page(history: VisitHistory, values: Slots) -> Slots:
    return np.stack([history.totals(column) for column in values.T], axis=1)


def _shared(parts: Slots, factors: Slots) -> Slots:
    """One change for each interval, shared among its slots."""
    weights = parts * factors
    total = weights.sum(axis=1, keepdims=True)
    shared: Slots = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
    return shared


def _held(hits: Slots, exposure: Slots, hold: float) -> Slots:
    """Hits against what an even pace would give, with `hold` imaginary ones; the mean of the factors is 1."""
    slots = hits.shape[1]
    total_hits, total_days = hits.sum(axis=1, keepdims=True), exposure.sum(axis=1, keepdims=True)
    even = np.divide(total_hits * exposure, total_days, out=np.zeros_like(exposure), where=total_days > 0)
    factors: Slots = (hits + hold / slots) / (even + hold / slots)
    factors /= factors.mean(axis=1, keepdims=True)
    return factors


def _gain(hit: VisitHistory, parts: Slots, factors: Slots, exposure: Slots) -> Days:
    """The logarithm of the likelihood of where the changes lie, up to what does not depend on the profile."""
    inside = (parts * factors[hit.page_of()]).sum(axis=1)
    length = parts.sum(axis=1)
    mean = np.divide(
        (exposure * factors).sum(axis=1),
        exposure.sum(axis=1),
        out=np.ones(len(exposure)),
        where=exposure.sum(axis=1) > 0,
    )
    gain: Days = hit.totals(np.log(inside / length)) - hit.counts * np.log(mean)
    return gain
