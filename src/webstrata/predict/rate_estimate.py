"""The result of an estimator for many pages: rates and their confidence intervals."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from msgspec import Struct

from webstrata.columns import Days

HALF_DROP = 1.920729410347062
"""Half the 95 % quantile of chi-square with one degree of freedom: the log-likelihood drops by this at both ends."""
NORMAL = 1.959963984540054
"""The 97.5 % quantile of the normal distribution."""

_STEPS = 60
_SMALLEST, _LARGEST = 1e-12, 1e12


class RateEstimate(Struct, frozen=True, kw_only=True):
    """Changes per day, one entry for each page; NaN if there is no estimate, infinity if an end is unbounded."""

    rate: Days
    error: Days
    """Standard error of the rate."""
    low: Days
    high: Days
    """The ends of the 95 % interval."""


def likelihood_interval(log_likelihood: Callable[[Days], Days], rate: Days, best: Days) -> tuple[Days, Days]:
    """Rates on both sides of `rate` at which the log-likelihood is 1.92 below its `best` value.

    The likelihood must rise before and fall after `rate`. If it does not fall that far, the end is 0 or infinity.
    """
    target = best - HALF_DROP
    centre = np.log(np.clip(rate, _SMALLEST, _LARGEST))
    low, low_end = np.full_like(centre, np.log(_SMALLEST)), centre.copy()
    high_end, high = centre.copy(), np.full_like(centre, np.log(_LARGEST))
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        open_low = log_likelihood(np.exp(low)) > target
        open_high = log_likelihood(np.exp(high)) > target
        for _ in range(_STEPS):
            middle, upper = (low + low_end) / 2, (high_end + high) / 2
            below = log_likelihood(np.exp(middle)) < target
            beyond = log_likelihood(np.exp(upper)) < target
            low, low_end = np.where(below, middle, low), np.where(below, low_end, middle)
            high_end, high = np.where(beyond, high_end, upper), np.where(beyond, upper, high)
    return np.where(open_low, 0.0, np.exp(low)), np.where(open_high, np.inf, np.exp(high))
