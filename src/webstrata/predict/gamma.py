"""Bayesian rates: a Gamma distribution of a page's changes per day, updated by every visit.

Shape a and days b mean "a changes in b days". A visit after t days adds t to b; a visit that saw a change adds to a the
expected number of changes in t days given at least one, x / (1 - exp(-x)) with x = t a / b. The distribution before the
first visit is the prior (`prior.py`); archived captures count as visits.

The distribution gives the rate, and no interval: after few visits, that of a page far from the prior would be nearly
that of the prior, and would not contain its rate (docs/decisions/0047-calibrated-intervals.md).

With `half_life_days` the distribution returns towards the prior between visits, so that old visits count less; 90 days
was best on real histories.
"""

from __future__ import annotations

import numpy as np

from webstrata.columns import Days, Flags
from webstrata.predict.poisson import RateEstimate, without_interval
from webstrata.predict.prior import GammaPrior
from webstrata.predict.visit_history import VisitHistory

HALF_LIFE_DAYS = 90.0


def begin(prior: GammaPrior, pages: int) -> tuple[Days, Days]:
    """The distributions of pages without any visit: shapes and days."""
    return np.full(pages, prior.shape), np.full(pages, prior.days)


def after_visit(shape: Days, days: Days, elapsed_days: Days, changed: Flags) -> tuple[Days, Days]:
    """The distributions after one visit to each page."""
    expected = elapsed_days * shape / days
    hits = np.ones_like(expected)
    np.divide(expected, -np.expm1(-expected), out=hits, where=expected > 1e-12)
    return shape + np.where(changed, hits, 0.0), days + elapsed_days


def forgotten(
    shape: Days, days: Days, elapsed_days: Days, first_shape: Days, first_days: Days, half_life_days: float
) -> tuple[Days, Days]:
    """The distributions after a return towards the prior for the elapsed days."""
    kept = 0.5 ** (elapsed_days / half_life_days)
    return first_shape + (shape - first_shape) * kept, first_days + (days - first_days) * kept


def learned(history: VisitHistory, shape: Days, days: Days, half_life_days: float | None = None) -> tuple[Days, Days]:
    """The distributions after a whole history, all pages in parallel: the same as visit by visit."""
    shape, days = shape.astype(np.float64).copy(), days.astype(np.float64).copy()
    first_shape, first_days = shape.copy(), days.copy()
    counts = history.counts
    order = np.argsort(-counts, kind="stable")
    longest = int(counts.max(initial=0))
    for number in range(longest):
        rows = order[: np.searchsorted(-counts[order], -number, side="left")]
        visit = history.offsets[rows] + number
        elapsed, changed = history.elapsed_days[visit], history.changed[visit]
        a, b = shape[rows], days[rows]
        if half_life_days is not None:
            a, b = forgotten(a, b, elapsed, first_shape[rows], first_days[rows], half_life_days)
        shape[rows], days[rows] = after_visit(a, b, elapsed, changed)
    return shape, days


def believed(shape: Days, days: Days) -> RateEstimate:
    """Mean and standard deviation of the distributions, which have no calibrated interval."""
    return without_interval(shape / days, np.sqrt(shape) / days)


def bayesian(history: VisitHistory, prior: GammaPrior, half_life_days: float | None = None) -> RateEstimate:
    """The rates after a history, with the same prior for every page."""
    return believed(*learned(history, *begin(prior, history.pages), half_life_days))
