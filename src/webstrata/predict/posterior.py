"""The 95 % interval of the exact posterior distribution of a page's rate, under a Gamma prior.

The Gamma distribution of `gamma.py` is quick to update, but too narrow for an interval: it counts the expected changes
since the last visit as if they had been seen. Here the likelihood of all visits times the prior is computed on a grid
of rates. If no visit saw a change the interval begins at 0, if every visit did it has no upper end, else it is central.
Each has a probability of 95 %: it covers 95 % of the pages whose rates follow the prior, after any number of visits.

A page far from the prior (a page that changes all day, among pages that change twice a year) is not covered by a
posterior interval after few visits. Where the visits contradict the prior, that is, where the interval of the visits
alone lies beyond the central 95 % of the prior, that interval is used.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webstrata.columns import Days
from webstrata.predict.prior import GammaPrior
from webstrata.predict.rate_interval import score_interval
from webstrata.predict.special import gamma_quantile
from webstrata.predict.visit_classes import VisitClasses, visit_classes
from webstrata.predict.visit_history import VisitHistory

_LOWEST, _HIGHEST = 0.025, 0.975
_ONE_SIDED = 0.05
_GRIDS = (64, 64, 256)
"""Points of the grid of each pass; every pass covers what the previous one found to be likely."""
_NEGLIGIBLE = 10.0
"""Rates whose log-density is this much below the maximum are left out."""
_CLASSES_AT_ONCE = 20_000


def posterior_interval(history: VisitHistory, prior: GammaPrior) -> tuple[Days, Days]:
    """Low and high ends for every page; those of the prior for pages that were observed for no time."""
    history = history.lasting()
    prior_low, prior_high = (
        float(gamma_quantile(share, np.array([prior.shape]))[0]) / prior.days for share in (_LOWEST, _HIGHEST)
    )
    low, high = np.full(history.pages, prior_low), np.full(history.pages, prior_high)
    visited = np.flatnonzero(history.counts > 0)
    at_once = max(1, _CLASSES_AT_ONCE // max(1, int(history.counts.max(initial=0))))
    for start in range(0, len(visited), at_once):
        pages = np.zeros(history.pages, dtype=bool)
        pages[visited[start : start + at_once]] = True
        low[pages], high[pages] = _ends(visit_classes(history.of_pages(pages)), prior)
    alone_low, alone_high = score_interval(history)
    contradicted = (alone_low > prior_high) | (alone_high < prior_low)
    return np.where(contradicted, alone_low, low), np.where(contradicted, alone_high, high)


def _ends(classes: VisitClasses, prior: GammaPrior) -> tuple[Days, Days]:
    hits, number = classes.sums(classes.hits), classes.sums(classes.number)
    none, every = hits == 0, hits == number
    days = classes.sums(classes.days * classes.number)
    shortest = np.minimum.reduceat(classes.days, classes.starts)
    first = np.log(prior.shape / (prior.days + days)) - 40.0 / min(prior.shape, 1.0)
    last = np.log(np.maximum((prior.shape + 40.0) / prior.days, 40.0 / shortest))
    for points in _GRIDS:
        grid = first[:, None] + (last - first)[:, None] * np.linspace(0.0, 1.0, points)
        logs = _log_density(classes, prior, grid)
        first, last = _likely(grid, logs)
    density = np.exp(logs - logs.max(axis=1, keepdims=True))
    shares = np.zeros_like(density)
    np.cumsum((density[:, 1:] + density[:, :-1]) / 2, axis=1, out=shares[:, 1:])
    shares /= shares[:, -1:]
    low = np.where(none, 0.0, _quantile(grid, shares, np.where(every, _ONE_SIDED, _LOWEST)))
    high = np.where(every, np.inf, _quantile(grid, shares, np.where(none, 1.0 - _ONE_SIDED, _HIGHEST)))
    return low, high


def _log_density(classes: VisitClasses, prior: GammaPrior, grid: NDArray[np.float64]) -> NDArray[np.float64]:
    """The logarithm of the posterior density of ln(rate), but for a constant: (pages, points)."""
    rates = np.exp(grid)
    still = classes.sums(classes.days * (classes.number - classes.hits))
    x = classes.each(rates) * classes.days[:, None]
    seen = classes.hits[:, None] * np.log(np.maximum(-np.expm1(-x), 1e-300))
    density: NDArray[np.float64] = prior.shape * grid - (prior.days + still)[:, None] * rates + classes.sums(seen)
    return density


def _likely(grid: NDArray[np.float64], logs: NDArray[np.float64]) -> tuple[Days, Days]:
    """The ends of the part of each page's grid that is not negligible, with one point more on each side."""
    likely = logs > logs.max(axis=1, keepdims=True) - _NEGLIGIBLE
    points, page = grid.shape[1], np.arange(len(grid))
    first = np.maximum(likely.argmax(axis=1) - 1, 0)
    last = np.minimum(points - likely[:, ::-1].argmax(axis=1), points - 1)
    return grid[page, first], grid[page, last]


def _quantile(grid: NDArray[np.float64], shares: NDArray[np.float64], share: Days) -> Days:
    """The rates below which these shares of the distributions lie, by linear interpolation between points."""
    page = np.arange(len(grid))
    at = np.clip((shares < share[:, None]).sum(axis=1), 1, grid.shape[1] - 1)
    before, after = shares[page, at - 1], shares[page, at]
    part = np.clip((share - before) / np.maximum(after - before, 1e-300), 0.0, 1.0)
    rate: Days = np.exp(grid[page, at - 1] * (1.0 - part) + grid[page, at] * part)
    return rate
