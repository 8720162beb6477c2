"""All estimators by name; each returns a rate per page. Those whose intervals are calibrated have a 95 % interval."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from webstrata.lab.estimators import bursts, markov, regimes, seasons
from webstrata.predict import gamma, interpolated, poisson
from webstrata.predict.poisson import RateEstimate
from webstrata.predict.prior import GammaPrior
from webstrata.predict.visit_history import VisitHistory

Estimator = Callable[[VisitHistory, GammaPrior], RateEstimate]


def _seasonal(history: VisitHistory, prior: GammaPrior) -> RateEstimate:
    """`forgetting`, multiplied by the factor of the weekday one day after the last visit."""
    last = np.zeros(history.pages)
    filled = history.counts > 0
    last[filled] = history.at_days[history.offsets[1:][filled] - 1]
    return seasons.seasonal(history, gamma.bayesian(history, prior, gamma.HALF_LIFE_DAYS), last + 1.0)


ESTIMATORS: dict[str, Estimator] = {
    "naive": lambda history, prior: poisson.naive(history),
    "regular": lambda history, prior: poisson.regular(history),
    "irregular": lambda history, prior: poisson.irregular(history),
    "interpolated": lambda history, prior: interpolated.interpolated(history),
    "bayesian": lambda history, prior: gamma.bayesian(history, prior),
    "forgetting": lambda history, prior: gamma.bayesian(history, prior, gamma.HALF_LIFE_DAYS),
    "markov-1": lambda history, prior: markov.markov(history, 1),
    "markov-2": lambda history, prior: markov.markov(history, 2),
    "burst": bursts.bursting,
    "regime": regimes.regime,
    "season": _seasonal,
}
"""In the order of the output."""
