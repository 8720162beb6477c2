"""The 95 % interval of a page's change rate from its visits alone: all rates that the visits do not contradict.

A rate λ is tested by the score of its likelihood: S = Σ b over the visits that saw a change, where a visit after t days
has b = λt / (1 - exp(-λt)). The ends are the rates at which the mid-P value of S (the probability of a more extreme S,
plus half of that of the observed one) is `TAIL`. For equal intervals S counts changes, which have a binomial
distribution, and the interval is exact. For other intervals the distribution of S is taken as that of a number of
changes with the same mean, variance and skewness.

If no visit saw a change the interval begins at 0; if every visit did, it has no upper end. A number of changes is
discrete, so no interval covers 95 % at every rate. `TAIL` and `END_TAIL` are chosen so that the least
coverage of any rate is near 93 %: 92.9 % after 8 visits (with 2.5 % in each tail, 91.8 % after 300).
"""

from __future__ import annotations

import numpy as np

from webstrata.columns import Days
from webstrata.predict.special import beta_distribution, log_gamma
from webstrata.predict.visit_classes import VisitClasses, visit_classes
from webstrata.predict.visit_history import VisitHistory

TAIL = 0.0215
"""Mid-P value of the rates at both ends."""
END_TAIL = 1 / 60
"""The same if the interval has only one end."""
_STEPS = 36
_TINY = 1e-300


def score_interval(history: VisitHistory) -> tuple[Days, Days]:
    """Low and high ends for every page; NaN for pages that were observed for no time."""
    history = history.lasting()
    low, high = np.full(history.pages, np.nan), np.full(history.pages, np.nan)
    visited = history.counts > 0
    if visited.any():
        low[visited], high[visited] = _ends(visit_classes(history.of_pages(visited)))
    return low, high


def _ends(classes: VisitClasses) -> tuple[Days, Days]:
    hits, number = classes.sums(classes.hits), classes.sums(classes.number)
    none, every = hits == 0, hits == number
    low, high = np.zeros(classes.pages), np.full(classes.pages, np.inf)
    high[none] = -np.log(2 * END_TAIL) / classes.sums(classes.days * classes.number)[none]
    if every.any():
        low[every] = _all_changed(classes.of_pages(every))
    some = ~(none | every)
    if some.any():
        inside = classes.of_pages(some)
        low[some], high[some] = _crossing(inside, is_low=True), _crossing(inside, is_low=False)
    return low, high


def _all_changed(classes: VisitClasses) -> Days:
    """The rate at which a change at every visit has the probability 2 * END_TAIL, by bisection of its logarithm."""
    number = classes.sums(classes.number)
    longest = np.maximum.reduceat(classes.days, classes.starts)
    shortest = np.minimum.reduceat(classes.days, classes.starts)
    equal = -np.log1p(-np.exp(np.log(2 * END_TAIL) / number))  # λt at which equal intervals have this probability
    low, high = np.log(equal / longest), np.log(equal / shortest)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        logs = np.log(-np.expm1(-classes.each(np.exp(middle)) * classes.days))
        above = classes.sums(classes.number * logs) > np.log(2 * END_TAIL)
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    rate: Days = np.exp((low + high) / 2)
    return rate


def _crossing(classes: VisitClasses, *, is_low: bool) -> Days:
    """The rate at which the mid-P value of the observed score is `TAIL`.

    By bisection of its logarithm: the value may jump, and near a jump the answer of a faster method would depend on
    rounding, and so on the other pages.
    """
    days, number = classes.sums(classes.days * classes.number), classes.sums(classes.number)
    shortest = np.minimum.reduceat(classes.days, classes.starts)
    low, high = np.log(1e-3 / days), np.log((np.log(number) + 8.0) / shortest)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        tail = _upper_tail(classes, np.exp(middle))
        below = tail < TAIL if is_low else 1.0 - tail > TAIL  # the tail rises with the rate
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    rate: Days = np.exp((low + high) / 2)
    return rate


def _upper_tail(classes: VisitClasses, rate: Days) -> Days:
    """The probability of a higher score than the observed one at this rate, and half of that of an equal one."""
    x = classes.each(rate) * classes.days
    none = np.exp(-x)
    weight = x / -np.expm1(-x)
    second = classes.number * weight**2 * none * (1.0 - none)
    third = second * weight
    variance = np.maximum(classes.sums(second), _TINY)
    # Unit, probability and number of trials of the binomial distribution with the same variance and skewness.
    unit = np.maximum(classes.sums(third), _TINY) / variance
    skewness = classes.sums(third * (2.0 * none - 1.0)) / (variance * unit)  # 1 - 2 p
    chance = np.clip((1.0 - skewness) / 2, 1e-15, 1.0 - 1e-15)
    trials = variance / (unit**2 * chance * (1.0 - chance))
    above_mean = classes.sums((classes.hits - classes.number * (1.0 - none)) * weight) / unit
    hits = above_mean + trials * chance
    return _middle_tail(hits, trials, chance)


def _middle_tail(hits: Days, trials: Days, chance: Days) -> Days:
    """P(X > hits) + P(X = hits) / 2 of a binomial number X, continued to numbers that are not whole, and beyond the
    trials: the binomial distribution may have fewer than the score needs if nearly every visit found a change."""
    inside = (hits > 0) & (hits < trials)
    some, misses = np.where(inside, hits, 1.0), np.where(inside, trials - hits, 1.0)
    whole, first, second = log_gamma(np.stack([some + misses + 1, some + 1, misses + 1]))
    logs = whole - first - second
    equal = np.exp(logs + some * np.log(chance) + misses * np.log1p(-chance))
    tail = np.clip(beta_distribution(some, misses + 1.0, chance) - equal / 2, 0.0, 1.0)
    every = np.exp(np.maximum(hits, 0.0) * np.log(chance)) / 2
    return np.where(inside, tail, np.where(hits <= 0, 1.0, every))
