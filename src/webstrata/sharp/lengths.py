"""Confidence intervals: how long a page stays unchanged with probability tau, I = ln(1/tau) / rate."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from webstrata.errors import UsageError
from webstrata.sharp.rates import Numbers, as_column, checked_rates

TAU = 0.7
"""The paper's threshold, found from its tables: it never says so."""
_ENDLESS = 100.0


def checked_tau(tau: float) -> float:
    if not 0.0 < tau < 1.0:
        raise UsageError(f"tau = {tau}: the confidence must lie between 0 and 1, both left out, for example 0.9.")
    return tau


def lengths_of(rates: ArrayLike, tau: float = TAU) -> Numbers:
    """Intervals of no change with confidence tau; infinite for a page that never changes."""
    column = checked_rates(rates)
    with np.errstate(divide="ignore"):
        return (1.0 / column) * math.log(1.0 / checked_tau(tau))


def interval_of(rate: float, shape: float | None, tau: float) -> float:
    """The same for one rate that is known by a Gamma belief (none: for sure): over it the page stays unchanged with
    probability tau, the uncertainty of the rate counted in."""
    if rate == 0.0:
        return math.inf
    log = math.log(1.0 / checked_tau(tau))
    if shape is None:
        return log / rate
    return shape * math.expm1(log / shape) / rate if log / shape < _ENDLESS else math.inf


def whole_lengths_of(rates: ArrayLike, tau: float = TAU) -> Numbers:
    """The same in whole slots, rounded down as equation (1) is written: doubles, 1/rate first, so that 160 of the
    smooth data set's lengths fall one short, as they did in the paper."""
    return np.floor(lengths_of(rates, tau))


def checked_lengths(lengths: ArrayLike) -> Numbers:
    """The lengths as a column; refuses none at all, NaN and less than nothing."""
    column = as_column(lengths, "lengths")
    bad = np.flatnonzero(~(column >= 0))
    if bad.size:
        raise UsageError(f"page {bad[0]} has the length {column[bad[0]]}: a length is a number of slots, 0 or more.")
    return column


def rates_of(lengths: ArrayLike, tau: float = TAU) -> Numbers:
    """Rates that have these confidence intervals: ln(1/tau) / I."""
    column = checked_lengths(lengths)
    if (column == 0).any():
        raise UsageError(
            f"page {int(np.argmin(column))} has the length 0, so no finite rate: give lengths above 0, or rates."
        )
    return math.log(1.0 / checked_tau(tau)) / column
