"""The prior of a page's change rate before its first visit, learned from the visits to other pages.

Empirical Bayes: the Gamma distribution of rates under which the visits of all pages are likeliest, by EM over a grid of
rates. (The rates themselves are not observed, only whether visits saw changes.)
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from webstrata.columns import Days
from webstrata.errors import UsageError
from webstrata.predict.special import digamma
from webstrata.predict.visit_history import VisitHistory

_GRID = np.exp(np.linspace(np.log(1e-5), np.log(50.0), 96))
_ROUNDS = 200
_EXACT = 1e-6


class GammaPrior(Struct, frozen=True, kw_only=True):
    """A Gamma distribution of rates: on average `shape / days` changes per day."""

    shape: float
    days: float

    def __post_init__(self) -> None:
        if not (0 < self.shape < np.inf and 0 < self.days < np.inf):
            raise UsageError("a prior has a positive shape and a positive number of days.")


ANY_PAGE = GammaPrior(shape=0.45, days=23.4)
"""The prior of any page: one change in 52 days on average. `fitted` returns it for the 4,120 pages of the shipped
histories (five corpora) with weekly visits over three years. Estimators, plans and captures all use it."""


def fitted(history: VisitHistory) -> GammaPrior:
    """The prior of these pages; `ANY_PAGE` if none of them was visited."""
    history = history.lasting().of_pages(history.lasting().counts > 0)
    if not history.pages:
        return ANY_PAGE
    likelihood = _likelihood(history)
    prior = ANY_PAGE
    for _ in range(_ROUNDS):
        weights = likelihood * _density(prior)
        weights /= weights.sum(axis=1, keepdims=True)
        mean, log_mean = float(np.sum(weights @ _GRID)), float(np.sum(weights @ np.log(_GRID)))
        previous, prior = prior, _likeliest(mean / history.pages, log_mean / history.pages)
        if _is_near(prior.shape, previous.shape) and _is_near(prior.days, previous.days):
            break
    return prior


def _is_near(value: float, previous: float) -> bool:
    return abs(value - previous) < _EXACT * previous


def _likelihood(history: VisitHistory) -> NDArray[np.float64]:
    """The likelihood of each page's visits (rows) at each rate of the grid (columns), relative to the largest."""
    hit = history.where(history.changed)
    still = history.totals(np.where(history.changed, 0.0, history.elapsed_days))
    logs = np.empty((history.pages, len(_GRID)))
    for column, rate in enumerate(_GRID):
        logs[:, column] = hit.totals(np.log(-np.expm1(-rate * hit.elapsed_days))) - rate * still
    likelihood: NDArray[np.float64] = np.exp(logs - logs.max(axis=1, keepdims=True))
    return likelihood


def _density(prior: GammaPrior) -> Days:
    """The prior's weight of each rate of the grid, which has equal steps of the logarithm."""
    logs = prior.shape * np.log(_GRID) - prior.days * _GRID
    weights: Days = np.exp(logs - logs.max())
    weights /= weights.sum()
    return weights


def _likeliest(mean: float, log_mean: float) -> GammaPrior:
    """The Gamma distribution with this mean and mean of the logarithm: ln a - digamma(a) = ln mean - log_mean."""
    gap = max(np.log(mean) - log_mean, 1e-6)
    low, high = np.log(1e-4), np.log(1e6)
    for _ in range(60):
        middle = (low + high) / 2
        shape = np.array(np.exp(middle))
        low, high = (middle, high) if float(np.log(shape) - digamma(shape)) > gap else (low, middle)
    shape_ = float(np.exp(low))
    return GammaPrior(shape=shape_, days=shape_ / mean)
