"""What is believed of a page before its first visit: learned from the visits to all pages, and to pages of its kind.

Empirical Bayes: the Gamma distribution of rates under which the visits of all pages are likeliest, by EM over a grid
of rates (the rates themselves are never seen, only whether visits saw changes). Pages that share a tag, a site or a
class of the static classifier give a prior of their own, held near the population's while they are few; the priors
of all kinds that a page belongs to are joined into one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from webstrata.columns import Days
from webstrata.errors import UsageError
from webstrata.predict.special import digamma
from webstrata.predict.visit_history import VisitHistory

PAGES_WORTH = 10.0
"""What is known of the population weighs as much as so many pages of the kind."""

_GRID = np.exp(np.linspace(np.log(1e-5), np.log(50.0), 96))
_ROUNDS = 200
_EXACT = 1e-6


class GammaPrior(Struct, frozen=True, kw_only=True):
    """Rates are Gamma distributed: on average `shape / days` changes per day."""

    shape: float
    days: float

    def __post_init__(self) -> None:
        if not (0 < self.shape < np.inf and 0 < self.days < np.inf):
            raise UsageError("a prior has a positive shape and a positive number of days.")


ANY_PAGE = GammaPrior(shape=0.45, days=23.4)
"""Where nothing was learned yet: from the pages of five collections of real histories."""


def fitted(history: VisitHistory, population: GammaPrior | None = None, pages_worth: float = PAGES_WORTH) -> GammaPrior:
    """The prior of these pages; with a population, held near it while they are few. Unvisited pages say nothing."""
    history = history.lasting().of_pages(history.lasting().counts > 0)
    start = population or ANY_PAGE
    if not history.pages:
        return start
    likelihood = _likelihood(history)
    prior = start
    for _ in range(_ROUNDS):
        weights = likelihood * _density(prior)
        weights /= weights.sum(axis=1, keepdims=True)
        mean, log_mean, number = float(np.sum(weights @ _GRID)), float(np.sum(weights @ np.log(_GRID))), history.pages
        if population is not None:
            mean += pages_worth * population.shape / population.days
            log_mean += pages_worth * (float(digamma(np.array(population.shape))) - np.log(population.days))
        total = number + (pages_worth if population is not None else 0.0)
        moved = _likeliest(mean / total, log_mean / total)
        near = (
            abs(moved.shape - prior.shape) < _EXACT * prior.shape and abs(moved.days - prior.days) < _EXACT * prior.days
        )
        prior = moved
        if near:
            break
    return prior


def by_kind(
    history: VisitHistory, kinds: Sequence[str], population: GammaPrior, pages_worth: float = PAGES_WORTH
) -> dict[str, tuple[GammaPrior, int]]:
    """For every kind (tag, site, class) its prior and how many pages it was learned from."""
    names = np.asarray(kinds)
    if len(names) != history.pages:
        raise UsageError(f"{len(names)} kinds for {history.pages} pages: every page has one.")
    return {
        str(kind): (fitted(history.of_pages(names == kind), population, pages_worth), int((names == kind).sum()))
        for kind in np.unique(names)
    }


def joined(
    population: GammaPrior, kinds: Sequence[tuple[GammaPrior, int]], pages_worth: float = PAGES_WORTH
) -> GammaPrior:
    """One prior for a page of several kinds: each moves the population's by its difference, shared among them and
    weighed by its pages. Natural parameters are averaged, so the order does not matter and nothing becomes negative."""
    shape, days = population.shape, population.days
    for kind, pages in kinds:
        weight = pages / (pages + pages_worth) / len(kinds)
        shape += weight * (kind.shape - population.shape)
        days += weight * (kind.days - population.days)
    return GammaPrior(shape=shape, days=days)


def _likelihood(history: VisitHistory) -> NDArray[np.float64]:
    """Of each page's visits (rows) at each rate of the grid, relative to the best."""
    hit = history.where(history.changed)
    still = history.totals(np.where(history.changed, 0.0, history.elapsed_days))
    logs = np.empty((history.pages, len(_GRID)))
    for place, rate in enumerate(_GRID):
        logs[:, place] = hit.totals(np.log(-np.expm1(-rate * hit.elapsed_days))) - rate * still
    likelihood: NDArray[np.float64] = np.exp(logs - logs.max(axis=1, keepdims=True))
    return likelihood


def _density(prior: GammaPrior) -> Days:
    """The prior's weight of each rate of the grid (equal steps of the logarithm)."""
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
