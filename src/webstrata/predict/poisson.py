"""The rate of a page that changes at random times (a Poisson process), seen only at visits.

    naive       X / T: changes seen by days. Too low where a page changes between visits more than once.
    regular     -ln((n - X + .5) / (n + .5)) * n / T: for visits at about equal intervals (HACS, eq. 4).
    irregular   the maximum of likelihood for any intervals, the root of eq. 5:
                sum over intervals t with a change of t / (exp(rate t) - 1) = sum of intervals without

n visits in T days, X of which saw a change. Pages without visits have no rate; without a change the rate is 0; where
every visit saw a change no maximum exists, and `irregular` answers with eq. 4.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from webstrata.columns import Days, Flags
from webstrata.predict.estimate import Estimate, likelihood_interval
from webstrata.predict.visits import Offsets, Visits

Reals = NDArray[np.floating[Any]]

_CHUNK = 4096  # pages: their intervals stay in the processor's cache
_ROUNDS = 100
_ROUGH_ROUNDS = 4
_NEARLY = 1e-6  # a step this small leaves its square, which is beyond the digits that matter
_LARGEST_EXPONENT = 300.0


def naive(history: Visits) -> Estimate:
    history = history.lasting()
    seen, days = history.totals(history.changed), history.totals(history.elapsed_days)
    rate = _by_days(seen, days)
    with np.errstate(divide="ignore", invalid="ignore"):
        best = np.where(seen > 0, seen * np.log(rate), 0.0) - rate * days
    low, high = likelihood_interval(
        lambda at: np.where(seen > 0, seen * np.log(at), 0.0) - at * days, _start(rate, days), best
    )
    return _known(days, rate, _by_days(np.sqrt(seen), days), low, high)


def regular(history: Visits) -> Estimate:
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
        peak = -np.log1p(-seen / np.maximum(number, 1)) / each  # infinite where all saw a change: the likelihood is 1
        best = np.where((seen > 0) & (seen < number), log_likelihood(np.where(seen < number, peak, 1.0)), 0.0)
    low, high = likelihood_interval(log_likelihood, _start(np.where(seen < number, peak, rate), days), best)
    return _known(days, rate, error, low, high)


def regular_rate(number: Days, seen: Days, days: Days) -> Days:
    """Eq. 4 from its sufficient statistics: visits, visits with a change, days."""
    return _by_days(np.log((number + 0.5) / (number - seen + 0.5)) * number, days)


def irregular(history: Visits) -> Estimate:
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


def irregular_rate(history: Visits) -> Days:
    """The root of eq. 5 for every page; the kernel, without uncertainty."""
    history = history.lasting()
    rate = np.full(history.pages, np.nan)
    for begin in range(0, history.pages, _CHUNK):
        end = min(begin + _CHUNK, history.pages)
        first, last = history.offsets[begin], history.offsets[end]
        counts = np.diff(history.offsets[begin : end + 1])
        rate[begin:end] = _rates(counts, history.elapsed_days[first:last], history.changed[first:last])
    return rate


def _rates(counts: Offsets, lengths: Days, changed: Flags) -> Days:
    """Eq. 5 where visits of both kinds were made, eq. 4 where all saw a change, 0 where none did."""
    rate = np.full(len(counts), np.nan)
    filled = np.flatnonzero(counts)
    if not len(filled):
        return rate
    counts = counts[filled]
    starts = np.cumsum(counts) - counts
    seen = np.add.reduceat(changed, starts, dtype=np.int64)
    still = np.add.reduceat(np.where(changed, 0.0, lengths), starts)
    hit = np.flatnonzero(seen)
    found = np.zeros(len(counts))
    if len(hit):
        found[hit] = _roots(seen[hit], lengths[changed], still[hit])
        every = seen == counts
        days = np.add.reduceat(lengths, starts)[every]
        found[every] = regular_rate(seen[every].astype(np.float64), seen[every].astype(np.float64), days)
    rate[filled] = found
    return rate


def _roots(counts: Offsets, lengths: Days, still: Days) -> Days:
    """Eq. 5 for pages with a change: Newton's method in single precision as far as that goes, then in double.

    It starts at the root for equal intervals, a lower bound (t / (exp(rate t) - 1) is convex in t). Where no interval
    was without a change there is no root, and the answer means nothing.
    """
    still = np.where(still > 0, still, lengths[np.cumsum(counts) - 1])
    starts = np.cumsum(counts) - counts
    total = np.add.reduceat(lengths, starts)
    start = counts / total * np.log1p(total / still)
    with np.errstate(all="ignore"):  # what single precision cannot hold is begun anew from the start
        short, little = lengths.astype(np.float32), still.astype(np.float32)
        half = (total / 2).astype(np.float32)
        rough: Reals = start.astype(np.float32)
        for _ in range(_ROUGH_ROUNDS):
            rough = rough + _step(rough, counts, starts, short, little, half)
    begun = np.where(np.isfinite(rough) & (rough > start), rough, start)
    return np.clip(_newton(begun, counts, lengths, still), counts / (still + total / 2), counts / still)


def _newton(rate: Days, counts: Offsets, lengths: Days, still: Days) -> Days:
    """Steps until they are too small to matter; pages that are done leave."""
    found = rate.copy()
    todo = np.arange(len(counts))
    for _ in range(_ROUNDS):
        starts = np.cumsum(counts) - counts
        moved = _step(rate, counts, starts, lengths, still, np.add.reduceat(lengths, starts) / 2)
        rate = rate + moved
        far = np.abs(moved) > _NEARLY * rate
        if 2 * np.count_nonzero(far) > len(far):
            continue
        near = ~far
        found[todo[near]] = rate[near]
        if near.all():
            return found
        lengths = lengths[np.repeat(far, counts)]
        todo, counts, still, rate = todo[far], counts[far], still[far], rate[far]
    found[todo] = rate
    return found


def _step(rate: Reals, counts: Offsets, starts: Offsets, lengths: Reals, still: Reals, half: Reals) -> Reals:
    """Newton's step for every page; `half` is half the sum of its intervals."""
    odds = np.repeat(rate, counts)
    odds *= lengths
    if odds.dtype == np.float32:  # its exp is much faster, and digits are not what it is for
        np.exp(odds, out=odds)
        odds -= 1
    else:
        np.minimum(odds, _LARGEST_EXPONENT, out=odds)
        np.expm1(odds, out=odds)
    np.reciprocal(odds, out=odds)
    weighted = odds * lengths
    left = np.add.reduceat(weighted, starts)
    odds += 1
    weighted *= lengths
    weighted *= odds
    return _larger(left, np.add.reduceat(weighted, starts), still, half)


def _larger(left: Reals, slope: Reals, still: Reals, half: Reals) -> Reals:
    """With L the left side of eq. 5 and F = L + sum / 2, both ln L (convex, falling) and 1 / F (concave, rising) are
    nearly straight, the one for long intervals, the other for short ones. From below Newton's step on either stays
    below the root, so the larger of the two is taken."""
    straight = (left + half) / (still + half) * (left - still)
    step: Reals = np.maximum(left * np.log(left / still), straight) / slope
    return step


def _by_days(number: Days, days: Days) -> Days:
    rate = np.full(len(days), np.nan)
    np.divide(number, days, out=rate, where=days > 0)
    return rate


def _start(rate: Days, days: Days) -> Days:
    """A positive rate to look from: where none was seen, one that would hardly be seen."""
    return np.where(rate > 0, rate, 1e-6 / np.where(days > 0, days, 1.0))


def _known(days: Days, rate: Days, error: Days, low: Days, high: Days) -> Estimate:
    """Pages without a day of observation have no number at all."""
    error = np.where(rate > 0, error, np.nan)
    none = ~(days > 0)
    return Estimate(
        rate=np.where(none, np.nan, rate),
        error=np.where(none, np.nan, error),
        low=np.where(none, np.nan, np.minimum(low, rate)),
        high=np.where(none, np.nan, np.maximum(high, rate)),
    )
