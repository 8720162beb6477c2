"""The rate of a page that changes at random times (a Poisson process), observed only at visits.

    naive       X / T: observed changes by days. Too low if a page changes more than once between visits.
    regular     -ln((n - X + .5) / (n + .5)) * n / T: for visits at about equal intervals (HACS, eq. 4).
    irregular   the maximum likelihood for any intervals, the root of eq. 5:
                sum over intervals t with a change of t / (exp(rate t) - 1) = sum of intervals without

n visits in T days, X of which saw a change. Pages without visits have no rate (NaN). Without a change the rate is 0. If
every visit saw a change there is no maximum, and `irregular` returns eq. 4.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from webstrata.columns import Days
from webstrata.predict.kernel.choice import KERNEL
from webstrata.predict.rate_interval import score_interval
from webstrata.predict.visit_history import VisitHistory

_LARGEST_EXPONENT = 300.0


class RateEstimate(Struct, frozen=True, kw_only=True):
    """Changes per day, one entry for each page; NaN if there is no estimate, infinity if an end is unbounded."""

    rate: Days
    error: Days
    """Standard error of the rate."""
    low: Days
    high: Days
    """The ends of the 95 % interval; NaN if the estimator has none."""
    has_interval: bool
    """False if no interval of this estimator covers the true rate in 95 % of cases."""


def without_interval(rate: Days, error: Days) -> RateEstimate:
    """An estimate that has no interval."""
    unknown = np.full_like(rate, np.nan)
    return RateEstimate(rate=rate, error=error, low=unknown, high=unknown.copy(), has_interval=False)


def naive(history: VisitHistory) -> RateEstimate:
    """Has no interval: the more often a page changes between visits, the further the rate is below the true one."""
    history = history.lasting()
    seen, days = history.totals(history.changed), history.totals(history.elapsed_days)
    rate = _by_days(seen, days)
    return without_interval(rate, np.where(rate > 0, _by_days(np.sqrt(seen), days), np.nan))


def regular(history: VisitHistory) -> RateEstimate:
    """The interval is that of `irregular`, which also holds for unequal intervals."""
    history = history.lasting()
    seen, days = history.totals(history.changed), history.totals(history.elapsed_days)
    number = history.counts.astype(np.float64)
    share = (number - seen + 0.5) / (number + 0.5)
    error = _by_days(np.sqrt(number * (1 - share) / share), days)
    return with_interval(history, regular_rate(number, seen, days), error)


def regular_rate(number: Days, seen: Days, days: Days) -> Days:
    """Eq. 4 from its sufficient statistics: visits, visits with a change, days."""
    return _by_days(np.log((number + 0.5) / (number - seen + 0.5)) * number, days)


def irregular(history: VisitHistory) -> RateEstimate:
    history = history.lasting()
    rate = irregular_rate(history)
    hit = history.where(history.changed)
    start = np.repeat(np.where(rate > 0, rate, 1.0), hit.counts)
    odds = 1 / np.expm1(np.minimum(start * hit.elapsed_days, _LARGEST_EXPONENT))
    information = hit.totals(hit.elapsed_days**2 * odds * (1 + odds))
    error = np.full_like(rate, np.nan)
    np.divide(1.0, np.sqrt(information), out=error, where=information > 0)
    return with_interval(history, rate, error)


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


def with_interval(history: VisitHistory, rate: Days, error: Days) -> RateEstimate:
    """The estimate with the interval of its visits, which is extended to the rate if that lies outside."""
    low, high = score_interval(history)
    return RateEstimate(
        rate=rate,
        error=np.where(rate > 0, error, np.nan),
        low=np.minimum(low, rate),
        high=np.maximum(high, rate),
        has_interval=True,
    )
