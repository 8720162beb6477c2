"""Bursts of changes: two tests for them, and an estimator of the present rate.

Poisson pages pass both tests: consecutive visits agree no more than by chance (`clustering`, a normal deviate; above
1.96 changes come in bursts), and the variance of the gaps between changes is the square of their mean (`dispersion`, 1
for Poisson, above for bursts). The estimator keeps two Gamma distributions, one for visits after a change and one for
visits after none, both with the page's overall rate as prior, and returns the one that applies after the last visit. It
has no interval: the same visits make the prior and the distribution.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from webstrata.columns import Days
from webstrata.predict.gamma import begin, believed, learned
from webstrata.predict.interpolated import moved
from webstrata.predict.poisson import RateEstimate, irregular_rate
from webstrata.predict.prior import GammaPrior
from webstrata.predict.visit_history import VisitHistory

_HOLD = 2.0
"""Weight of the page's overall rate, as a number of changes."""


class Burstiness(Struct, frozen=True, kw_only=True):
    """One entry for each page; NaN if there are too few visits."""

    clustering: Days
    dispersion: Days


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
    """Variance of the gaps between changes divided by the square of their mean; NaN with fewer than two gaps."""
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


def bursting(history: VisitHistory, prior: GammaPrior) -> RateEstimate:
    """The rate that applies after the last visit. Pages without visits have the rate of the prior."""
    shape, days = learned(history, *begin(prior, history.pages))
    weight = np.minimum(_HOLD / shape, 1.0)
    before = history.previous(history.changed).astype(bool)
    hot = learned(history.where(before), shape * weight, days * weight)
    calm = learned(history.where(~before), shape * weight, days * weight)
    last = np.zeros(history.pages, dtype=bool)
    filled = history.counts > 0
    last[filled] = history.changed[history.offsets[1:][filled] - 1]
    shapes = np.where(filled, np.where(last, hot[0], calm[0]), prior.shape)
    return believed(shapes, np.where(filled, np.where(last, hot[1], calm[1]), prior.days))
