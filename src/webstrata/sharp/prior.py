"""Rates for pages of which little or nothing is known: a Gamma prior of the population, drawn towards the site's own.

A page with c changes seen in a time T has, under a prior (shape a, exposure b), the posterior (a + c, b + T). Its mean
is the rate to plan with, and `survival.GammaPosterior` plans with all of it.
"""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from webstrata.clock import DAY_S
from webstrata.errors import UsageError
from webstrata.sharp.rates import Numbers, checked_rates

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
