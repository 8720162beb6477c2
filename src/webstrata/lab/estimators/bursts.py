"""Bursts: pages that change several times, then rest. Is it so, and what is the rate right now?

Two tests that Poisson pages pass: visits next to each other should not agree more than chance (`clustering`, a
normal deviate; above 1.96 changes come in bursts), and gaps between changes should scatter as much as their mean
(`dispersion`, 1 for Poisson, above for bursts). The burst-aware rate keeps two Gamma beliefs, one fed by visits that
follow a change and one by those that follow none, both held near the page's overall rate, and answers with the one
that holds now.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from webstrata.columns import Days, Flags
from webstrata.lab.estimators.interpolated import moved
from webstrata.predict.gamma import bayesian, begin, believed, learned
from webstrata.predict.poisson import irregular_rate
from webstrata.predict.prior import GammaPrior
from webstrata.predict.rate_estimate import RateEstimate
from webstrata.predict.visit_history import VisitHistory

_HOLD = 2.0
"""The page's overall rate weighs as much as so many changes."""


class Burstiness(Struct, frozen=True, kw_only=True):
    """One entry for each page; no number where too little was seen."""

    clustering: Days
    dispersion: Days


class BurstBeliefs(Struct, frozen=True, kw_only=True):
    """Two beliefs for each page: after a change and after none; and whether the last visit saw a change."""

    hot_shape: Days
    hot_days: Days
    calm_shape: Days
    calm_days: Days
    hot: Flags


def burstiness(history: VisitHistory) -> Burstiness:
    history = history.lasting()
    rate = np.nan_to_num(irregular_rate(history))
    expected = -np.expm1(-np.repeat(rate, history.counts) * history.elapsed_days)
    surprise: Days = history.changed - expected
    spread: Days = expected * (1 - expected)
    together = history.totals(surprise * history.previous(surprise))
    variance = history.totals(spread * history.previous(spread))
    clustering = np.full(history.pages, np.nan)
    np.divide(together, np.sqrt(variance), out=clustering, where=variance > 1e-9)
    return Burstiness(clustering=clustering, dispersion=_dispersion(history))


def _dispersion(history: VisitHistory) -> Days:
    """Variance of the gaps between changes by the square of their mean; two gaps at least."""
    changes = moved(history)
    changes = changes.where(changes.changed)
    gaps = np.diff(changes.at_days, prepend=0.0)
    later = np.ones(len(gaps), dtype=bool)
    later[changes.offsets[:-1][changes.counts > 0]] = False
    between = VisitHistory(
        offsets=changes.offsets, elapsed_days=gaps, changed=changes.changed, at_days=changes.at_days
    ).where(later)
    number, total = between.counts, between.totals(between.elapsed_days)
    mean = total / np.maximum(number, 1)
    scatter = between.totals((between.elapsed_days - np.repeat(mean, number)) ** 2) / np.maximum(number - 1, 1)
    dispersion = np.full(history.pages, np.nan)
    np.divide(scatter, mean**2, out=dispersion, where=(number > 1) & (mean > 0))
    return dispersion


def first_beliefs(shape: Days, days: Days) -> BurstBeliefs:
    """Both beliefs at the page's overall rate, worth two changes."""
    hold = np.minimum(_HOLD / shape, 1.0)
    return BurstBeliefs(
        hot_shape=shape * hold,
        hot_days=days * hold,
        calm_shape=shape * hold,
        calm_days=days * hold,
        hot=np.zeros(len(shape), dtype=bool),
    )


def bursting(history: VisitHistory, prior: GammaPrior) -> RateEstimate:
    """The rate that holds after what the last visit saw. Pages without visits have the prior's."""
    overall = learned(history, *begin(prior, history.pages))
    moods = first_beliefs(*overall)
    before = history.previous(history.changed).astype(bool)
    hot = learned(history.where(before), moods.hot_shape, moods.hot_days)
    calm = learned(history.where(~before), moods.calm_shape, moods.calm_days)
    last = np.zeros(history.pages, dtype=bool)
    filled = history.counts > 0
    last[filled] = history.changed[history.offsets[1:][filled] - 1]
    found = believed(np.where(last, hot[0], calm[0]), np.where(last, hot[1], calm[1]))
    return found if filled.all() else _or(found, bayesian(history, prior), filled)


def _or(one: RateEstimate, other: RateEstimate, first: Flags) -> RateEstimate:
    """The one where `first` holds, else the other."""
    return RateEstimate(
        rate=np.where(first, one.rate, other.rate),
        error=np.where(first, one.error, other.error),
        low=np.where(first, one.low, other.low),
        high=np.where(first, one.high, other.high),
    )
