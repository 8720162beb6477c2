"""A rate that is learned: a Gamma belief about a page's changes per day, moved by every visit.

Shape a and days b say "a changes in b days". A visit after t days adds t to b; one that saw a change adds to a the
number of changes that such a page makes in t days when it makes any, x / (1 - exp(-x)) with x = t a / b. What the
page's kind says before its first visit is the prior (`prior.py`); archived captures are visits like any others.

With `half_life_days` the belief goes back towards the prior between visits, so that a page that changes its habits is
not judged by its youth; 90 days served best on real histories.
"""

from __future__ import annotations

import numpy as np

from webstrata.columns import Days, Flags
from webstrata.predict.prior import GammaPrior
from webstrata.predict.rate_estimate import RateEstimate
from webstrata.predict.special import gamma_quantile
from webstrata.predict.visit_history import VisitHistory

HALF_LIFE_DAYS = 90.0


def begin(prior: GammaPrior, pages: int) -> tuple[Days, Days]:
    """The beliefs of pages of which nothing is known: shapes and days."""
    return np.full(pages, prior.shape), np.full(pages, prior.days)


def after_visit(shape: Days, days: Days, elapsed_days: Days, changed: Flags) -> tuple[Days, Days]:
    """The beliefs after one visit to each page."""
    expected = elapsed_days * shape / days
    hits = np.ones_like(expected)
    np.divide(expected, -np.expm1(-expected), out=hits, where=expected > 1e-12)
    return shape + np.where(changed, hits, 0.0), days + elapsed_days


def forgotten(
    shape: Days, days: Days, elapsed_days: Days, first_shape: Days, first_days: Days, half_life_days: float
) -> tuple[Days, Days]:
    """The beliefs gone back towards the prior for so many days."""
    kept = 0.5 ** (elapsed_days / half_life_days)
    return first_shape + (shape - first_shape) * kept, first_days + (days - first_days) * kept


def learned(history: VisitHistory, shape: Days, days: Days, half_life_days: float | None = None) -> tuple[Days, Days]:
    """The beliefs after a whole history, visit by visit, all pages abreast: the same as one visit at a time."""
    shape, days = shape.astype(np.float64).copy(), days.astype(np.float64).copy()
    first_shape, first_days = shape.copy(), days.copy()
    counts = history.counts
    order = np.argsort(-counts, kind="stable")
    longest = int(counts.max(initial=0))
    for turn in range(longest):
        rows = order[: np.searchsorted(-counts[order], -turn, side="left")]
        place = history.offsets[rows] + turn
        elapsed, changed = history.elapsed_days[place], history.changed[place]
        a, b = shape[rows], days[rows]
        if half_life_days is not None:
            a, b = forgotten(a, b, elapsed, first_shape[rows], first_days[rows], half_life_days)
        shape[rows], days[rows] = after_visit(a, b, elapsed, changed)
    return shape, days


def chance(shape: Days, days: Days, elapsed_days: Days) -> Days:
    """That a page has changed after so many days, the rate being uncertain."""
    return -np.expm1(shape * np.log(days / (days + elapsed_days)))


def believed(shape: Days, days: Days) -> RateEstimate:
    """The belief's mean, its standard deviation and its central 95 %."""
    return RateEstimate(
        rate=shape / days,
        error=np.sqrt(shape) / days,
        low=gamma_quantile(0.025, shape) / days,
        high=gamma_quantile(0.975, shape) / days,
    )


def bayesian(history: VisitHistory, prior: GammaPrior, half_life_days: float | None = None) -> RateEstimate:
    """Every page from the same prior."""
    return believed(*learned(history, *begin(prior, history.pages), half_life_days))
