"""What is known of a site's pages: change rates, weights, and what may be wrong with them.

A rate is per slot (or per second, where slots have times in seconds): a page of rate l stays unchanged over a span s
with probability exp(-l s). Rate 0 is a page that never changes.

Rates for pages of which little or nothing is known: a Gamma prior of the population, drawn towards the site's own.

A page with c changes seen in a time T has, under a prior (shape a, exposure b), the posterior (a + c, b + T). Its mean
is the rate to plan with, and `survival.GammaPosterior` plans with all of it.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from webstrata.clock import DAY_S
from webstrata.errors import UsageError

Numbers = NDArray[np.float64]
Places = NDArray[np.intp]
"""Slots by page, or pages by slot."""


def checked_rates(rates: ArrayLike) -> Numbers:
    """The rates as a column; refuses none at all, NaN, infinite and negative ones."""
    column = as_column(rates, "rates")
    bad = np.flatnonzero(~(np.isfinite(column) & (column >= 0)))
    if bad.size:
        raise UsageError(
            f"page {bad[0]} has the rate {column[bad[0]]}: a rate is a finite number of changes, 0 or more. "
            "Leave out pages without a rate, or give them the site's prior."
        )
    return column


def checked_weights(weights: ArrayLike | None, count: int) -> Numbers:
    """The weights as a column, 1 where none are given; refuses NaN, infinite and negative ones and another count."""
    if weights is None:
        return np.ones(count)
    column = as_column(weights, "weights")
    if column.size != count:
        raise UsageError(f"{column.size} weights for {count} pages: give every page one weight, or none at all.")
    bad = np.flatnonzero(~(np.isfinite(column) & (column >= 0)))
    if bad.size:
        raise UsageError(f"page {bad[0]} has the weight {column[bad[0]]}: a weight is a finite number, 0 or more.")
    return column


def checked_times(times: ArrayLike, count: int) -> Numbers:
    """Distances of the slots from the instant, inside to outside: one per page, finite, never falling."""
    column = as_column(times, "slot times")
    if column.size != count:
        raise UsageError(f"{column.size} slots for {count} pages: every page needs one slot on either side.")
    if not np.isfinite(column).all() or column[0] < 0 or (np.diff(column) < 0).any():
        raise UsageError("Slot times are distances from the instant: 0 or more, finite, in rising order.")
    return column


def checked_ids(ids: Sequence[str]) -> None:
    """Refuses a page that is named twice."""
    seen: set[str] = set()
    for one in ids:
        if one in seen:
            raise UsageError(f"page {one} is given twice: every page has one place in a schedule.")
        seen.add(one)


def as_column(values: ArrayLike, noun: str) -> Numbers:
    try:
        column = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise UsageError(f"{noun} must be numbers: {problem}.") from problem
    if column.ndim != 1 or column.size == 0:
        raise UsageError(f"no {noun}: a schedule needs at least one page.")
    return column


_OF_A_SITE = 5.0
"""So many pages of a site weigh as much as the population."""


class RatePrior(msgspec.Struct, frozen=True):
    """What is known of any page: `shape` changes in `exposure_s` seconds."""

    shape: float
    exposure_s: float

    @property
    def rate(self) -> float:
        """Changes per second of a page never seen before."""
        return self.shape / self.exposure_s

    def told(self, every_s: float | None, unchanged_s: float | None) -> RatePrior:
        """With what a site itself says of a page: that it changes every so often, and that it has not for so long.

        The word "daily" is a wish as often as a fact: the rate goes half the way to it (of the logarithm), and is no
        surer than before. A last change, and none since, are one change and its time, as in any history.
        """
        rate = self.rate if every_s is None else float(np.sqrt(self.rate / every_s))
        if unchanged_s is None:
            return RatePrior(self.shape, self.shape / rate)
        return RatePrior(self.shape + 1.0, self.shape / rate + max(0.0, unchanged_s))


POPULATION = RatePrior(0.2, 14.0 * DAY_S)
"""One change in 70 days in the mean, most pages far fewer: about what the shipped sites do."""


def site_prior(changes: ArrayLike, observed_s: ArrayLike, population: RatePrior = POPULATION) -> RatePrior:
    """The prior for further pages of a site whose pages had so many changes in so many seconds: its mean moves from the
    population's to the site's as pages become known, its firmness stays."""
    seen, lasted = _history(changes, observed_s)
    if not seen.size or lasted.sum() <= 0:
        return population
    pages = seen.size / (seen.size + _OF_A_SITE)
    own = (float(seen.sum()) + population.shape) / (float(lasted.sum()) + population.exposure_s)
    rate = population.rate ** (1.0 - pages) * own**pages
    return RatePrior(population.shape, population.shape / rate)


def posterior_rates(changes: ArrayLike, observed_s: ArrayLike, prior: RatePrior = POPULATION) -> Numbers:
    """The mean rate of every page, per second: never zero, and the prior's for a page not observed at all."""
    seen, lasted = _history(changes, observed_s)
    return (seen + prior.shape) / (lasted + prior.exposure_s)


def _history(changes: ArrayLike, observed_s: ArrayLike) -> tuple[Numbers, Numbers]:
    if np.size(changes) != np.size(observed_s):
        raise UsageError("Every page needs both: how many changes were seen, and in how long a time.")
    if not np.size(changes):
        return np.zeros(0), np.zeros(0)
    return checked_rates(changes), checked_rates(observed_s)
