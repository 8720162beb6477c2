"""How often the intervals of an estimator contain the true rate, on simulated Poisson pages.

Pages are visited at a mean interval of `MEAN_DAYS`: always at it (`regular`), or at log-normal intervals whose standard
deviation is 1.3 times the mean (`irregular`). All random numbers come from the seed.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from webstrata.columns import Days
from webstrata.lab.estimators.registry import Estimator
from webstrata.predict.prior import GammaPrior
from webstrata.predict.visit_history import VisitHistory, visit_history

Intervals = Literal["regular", "irregular"]

MEAN_DAYS = 7.0
VISITS = (1, 3, 10, 30, 100, 300)
SPEEDS = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
"""Changes per mean interval."""


def simulated(rates: Days, visits: int, intervals: Intervals, seed: int) -> VisitHistory:
    """One page for each rate, each with the same number of visits after its first one."""
    random = np.random.default_rng([seed, visits])
    shape = (len(rates), visits)
    days = np.full(shape, MEAN_DAYS)
    if intervals == "irregular":
        days *= random.lognormal(-0.5, 1.0, shape)
    changed = random.random(shape) < -np.expm1(-rates[:, None] * days)
    return visit_history(np.arange(len(rates) + 1) * visits, days.ravel(), changed.ravel())


def covered_at_speed(
    estimator: Estimator, speed: float, visits: int, intervals: Intervals, prior: GammaPrior, pages: int, seed: int
) -> float:
    """The share of pages whose interval contains the true rate, which is `speed` changes per mean interval for all."""
    rates = np.full(pages, speed / MEAN_DAYS)
    found = estimator(simulated(rates, visits, intervals, seed), prior)
    return float(np.mean((found.low <= rates) & (rates <= found.high)))
