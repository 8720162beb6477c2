"""Change rates of a site's pages: checks of rates, weights and slot times, and priors for pages with little history.

A rate is a number of changes per slot (or per second, where slot times are in seconds). A page with rate l stays
unchanged over a span s with probability exp(-l s). A page with rate 0 never changes.

A page with c changes observed in a time T has, under a Gamma prior (shape a, exposure b), the posterior (a + c, b + T).
Its mean is the point estimate of the rate; `survival.GammaSurvival` uses the whole posterior.
"""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from webstrata.clock import DAY_S
from webstrata.errors import UsageError
from webstrata.predict.prior import ANY_PAGE

Numbers = NDArray[np.float64]
Indices = NDArray[np.intp]
"""Slots by page, or pages by slot."""

_SITE_PAGES = 5.0
"""A site's own pages weigh as much as the population prior when the site has this many pages."""


class RatePrior(msgspec.Struct, frozen=True):
    """A Gamma prior of the change rate: `shape` changes in `exposure_s` seconds."""

    shape: float
    exposure_s: float

    @property
    def rate(self) -> float:
        """Expected changes per second of a page without history."""
        return self.shape / self.exposure_s


POPULATION = RatePrior(ANY_PAGE.shape, ANY_PAGE.days * DAY_S)
"""The prior for any page, as in `predict`: a mean of one change in 52 days, with most pages far below it."""


def site_prior(changes: ArrayLike, observed_s: ArrayLike) -> RatePrior:
    """The prior for further pages of a site, from the changes and observation times of its known pages.

    The mean moves from the population's rate to the site's rate as more pages are known; the shape stays.
    """
    counts, durations = _checked_history(changes, observed_s)
    if not counts.size or durations.sum() <= 0:
        return POPULATION
    site_share = counts.size / (counts.size + _SITE_PAGES)
    site_rate = (float(counts.sum()) + POPULATION.shape) / (float(durations.sum()) + POPULATION.exposure_s)
    rate = POPULATION.rate ** (1.0 - site_share) * site_rate**site_share
    return RatePrior(POPULATION.shape, POPULATION.shape / rate)


def posterior_rates(changes: ArrayLike, observed_s: ArrayLike, prior: RatePrior = POPULATION) -> Numbers:
    """The posterior mean rate of every page, per second. It is never zero; without observations it is the prior's."""
    counts, durations = _checked_history(changes, observed_s)
    return (counts + prior.shape) / (durations + prior.exposure_s)


def _checked_history(changes: ArrayLike, observed_s: ArrayLike) -> tuple[Numbers, Numbers]:
    if np.size(changes) != np.size(observed_s):
        raise UsageError("Every page needs a number of changes and the time over which they were observed.")
    if not np.size(changes):
        return np.zeros(0), np.zeros(0)
    return checked_rates(changes), checked_rates(observed_s)


def checked_rates(rates: ArrayLike) -> Numbers:
    """The rates as a column. Raises UsageError if there are none, or if one is NaN, infinite or negative."""
    column = as_column(rates, "rates")
    bad = np.flatnonzero(~(np.isfinite(column) & (column >= 0)))
    if bad.size:
        raise UsageError(
            f"page {bad[0]} has the rate {column[bad[0]]}: a rate is a finite number of changes, 0 or more. "
            "Leave out pages without a rate, or give them the site's prior."
        )
    return column


def checked_weights(weights: ArrayLike | None, count: int) -> Numbers:
    """The weights as a column; all 1 if none are given. Raises UsageError for a wrong number of weights, and for a
    weight that is NaN, infinite or negative."""
    if weights is None:
        return np.ones(count)
    column = as_column(weights, "weights")
    if column.size != count:
        raise UsageError(f"{column.size} weights for {count} pages: give every page one weight, or none at all.")
    bad = np.flatnonzero(~(np.isfinite(column) & (column >= 0)))
    if bad.size:
        raise UsageError(f"page {bad[0]} has the weight {column[bad[0]]}: a weight is a finite number, 0 or more.")
    return column


def checked_times(times: ArrayLike | None, count: int) -> Numbers:
    """Distances of the slots from the instant, innermost first: one per page, finite, in rising order. By default 0, 1,
    2, …"""
    if times is None:
        return np.arange(count, dtype=np.float64)
    column = as_column(times, "slot times")
    if column.size != count:
        raise UsageError(f"{column.size} slots for {count} pages: every page needs one slot on either side.")
    if not np.isfinite(column).all() or column[0] < 0 or (np.diff(column) < 0).any():
        raise UsageError("Slot times are distances from the instant: 0 or more, finite, in rising order.")
    return column


def as_column(values: ArrayLike, noun: str) -> Numbers:
    """The values as a one-dimensional array of floats; `noun` names them in error messages."""
    try:
        column = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise UsageError(f"{noun} must be numbers: {problem}.") from problem
    if column.ndim != 1 or column.size == 0:
        raise UsageError(f"no {noun}: a schedule needs at least one page.")
    return column
