"""Confidence intervals: how long a page stays unchanged with probability tau, I = ln(1/tau) / rate.

A schedule: when each page is visited before the instant and revisited after it, and what that promises.

Slots count outwards from the instant: page i is visited at -visits[i] and revisited at +revisits[i]. Both are a
permutation of 0..n-1. The page with slot 0 on both sides is downloaded once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from webstrata.errors import UsageError
from webstrata.sharp.rates import Numbers, Places, as_column, checked_rates, checked_times, checked_weights
from webstrata.sharp.survival import Survival, as_survival

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


@dataclass(frozen=True)
class SharpSchedule:
    visits: Places
    revisits: Places
    hopeless: tuple[int, ...] = field(default=())
    """Pages given up, in the order of their ids: placed where they disturb nobody."""

    def __post_init__(self) -> None:
        slots = np.arange(self.visits.size)
        for name, side in (("visits", self.visits), ("revisits", self.revisits)):
            if not np.array_equal(np.sort(side), slots):
                raise UsageError(f"the {name} are no schedule: every slot from 0 to n-1 must be used once.")

    def spans(self, times: ArrayLike | None = None) -> Numbers:
        """From each page's visit to its revisit, in slots; or in the unit of `times`, the slots' distances from the
        instant."""
        at = np.arange(self.visits.size, dtype=np.float64) if times is None else checked_times(times, self.visits.size)
        return at[self.visits] + at[self.revisits]


def mirror(slots: Places, hopeless: tuple[int, ...] = ()) -> SharpSchedule:
    """Every page as far from the instant on one side as on the other."""
    return SharpSchedule(slots, slots, hopeless)


def survivals(schedule: SharpSchedule, survival: Survival, times: ArrayLike | None = None) -> Numbers:
    """Each page's chance to be sharp."""
    return survival.unchanged(np.arange(survival.count), schedule.spans(times))


def expected_sharp(
    schedule: SharpSchedule,
    rates: ArrayLike | Survival,
    weights: ArrayLike | None = None,
    times: ArrayLike | None = None,
) -> float:
    """E(##pages): the expected (weighted) number of pages unchanged between their visit and their revisit."""
    survival = as_survival(rates)
    if survival.count != schedule.visits.size:
        raise UsageError(f"{survival.count} rates for a schedule of {schedule.visits.size} pages.")
    return float(np.dot(checked_weights(weights, survival.count), survivals(schedule, survival, times)))
