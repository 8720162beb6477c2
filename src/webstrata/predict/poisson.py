"""The rate of a page that changes at random times (a Poisson process), observed only at visits.

    naive       X / T: observed changes by days. Too low if a page changes more than once between visits.
    regular     -ln((n - X + .5) / (n + .5)) * n / T: for visits at about equal intervals (HACS, eq. 4).
    irregular   the maximum likelihood for any intervals, the root of eq. 5:
                sum over intervals t with a change of t / (exp(rate t) - 1) = sum of intervals without

n visits in T days, X of which saw a change. Pages without visits have no rate (NaN). Without a change the rate is 0. If
every visit saw a change there is no maximum, and `irregular` returns eq. 4.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from msgspec import Struct

from webstrata.columns import Days
from webstrata.predict.kernel.choice import KERNEL
from webstrata.predict.visit_history import VisitHistory

HALF_DROP = 1.920729410347062
"""Half the 95 % quantile of chi-square with one degree of freedom: the log-likelihood drops by this at both ends."""

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


_LARGEST_EXPONENT = 300.0


def naive(history: VisitHistory) -> RateEstimate:
    history = history.lasting()
    seen, days = history.totals(history.changed), history.totals(history.elapsed_days)
    rate = _by_days(seen, days)
    with np.errstate(divide="ignore", invalid="ignore"):
        best = np.where(seen > 0, seen * np.log(rate), 0.0) - rate * days
    low, high = likelihood_interval(
        lambda at: np.where(seen > 0, seen * np.log(at), 0.0) - at * days, _start(rate, days), best
    )
    return _known(days, rate, _by_days(np.sqrt(seen), days), low, high)


def regular(history: VisitHistory) -> RateEstimate:
    history = history.lasting()
    seen, days = history.totals(history.changed), history.totals(history.elapsed_days)
    number = history.counts.astype(np.float64)
    rate = regular_rate(number, seen, days)
    share = (number - seen + 0.5) / (number + 0.5)
    error = _by_days(np.sqrt(number * (1 - share) / share), days)
    each = np.where(number > 0, days / np.maximum(number, 1), 1.0)

    def log_likelihood(at: Days) -> Days:
        return np.where(seen > 0, seen * np.log(-np.expm1(-at * each)), 0.0) - at * each * (number - seen)

    with np.errstate(divide="ignore", invalid="ignore"):
        peak = -np.log1p(-seen / np.maximum(number, 1)) / each  # infinite if all saw a change
        best = np.where((seen > 0) & (seen < number), log_likelihood(np.where(seen < number, peak, 1.0)), 0.0)
    low, high = likelihood_interval(log_likelihood, _start(np.where(seen < number, peak, rate), days), best)
    return _known(days, rate, error, low, high)


def regular_rate(number: Days, seen: Days, days: Days) -> Days:
    """Eq. 4 from its sufficient statistics: visits, visits with a change, days."""
    return _by_days(np.log((number + 0.5) / (number - seen + 0.5)) * number, days)


def irregular(history: VisitHistory) -> RateEstimate:
    history = history.lasting()
    rate = irregular_rate(history)
    hit = history.where(history.changed)
    still = history.totals(np.where(history.changed, 0.0, history.elapsed_days))
    days = still + hit.totals(hit.elapsed_days)

    def log_likelihood(at: Days) -> Days:
        each = np.repeat(at, hit.counts) * hit.elapsed_days
        return hit.totals(np.log(-np.expm1(-each))) - at * still

    best = np.where((still > 0) & (hit.counts > 0), log_likelihood(_start(rate, days)), 0.0)
    low, high = likelihood_interval(log_likelihood, _start(rate, days), best)
    odds = 1 / np.expm1(np.minimum(np.repeat(_start(rate, days), hit.counts) * hit.elapsed_days, _LARGEST_EXPONENT))
    information = hit.totals(hit.elapsed_days**2 * odds * (1 + odds))
    error = np.full_like(rate, np.nan)
    np.divide(1.0, np.sqrt(information), out=error, where=information > 0)
    return _known(days, rate, error, low, high)


def irregular_rate(history: VisitHistory) -> Days:
    """The root of eq. 5 for every page, without its uncertainty."""
    history = history.lasting()
    offsets = np.ascontiguousarray(history.offsets, dtype=np.int64)
    lengths = np.ascontiguousarray(history.elapsed_days, dtype=np.float64)
    changed = np.ascontiguousarray(history.changed, dtype=np.bool_)
    if not (len(lengths) == len(changed) == offsets[-1]):
        raise ValueError("the last offset must be the number of visits.")
    return KERNEL.irregular_rates(offsets, lengths, changed)


def _by_days(number: Days, days: Days) -> Days:
    rate = np.full(len(days), np.nan)
    np.divide(number, days, out=rate, where=days > 0)
    return rate


def _start(rate: Days, days: Days) -> Days:
    """A positive rate to start a search from: the estimate, or a very small rate if that is 0."""
    return np.where(rate > 0, rate, 1e-6 / np.where(days > 0, days, 1.0))


def _known(days: Days, rate: Days, error: Days, low: Days, high: Days) -> RateEstimate:
    """The estimate, with NaN for pages that were observed for no time."""
    error = np.where(rate > 0, error, np.nan)
    none = ~(days > 0)
    return RateEstimate(
        rate=np.where(none, np.nan, rate),
        error=np.where(none, np.nan, error),
        low=np.where(none, np.nan, np.minimum(low, rate)),
        high=np.where(none, np.nan, np.maximum(high, rate)),
    )
