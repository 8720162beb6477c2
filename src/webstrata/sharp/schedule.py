"""A sharp schedule and its expected number of sharp pages; confidence intervals of pages.

Slots are counted outwards from the instant: page i is visited at -visits[i] and revisited at +revisits[i]. Both arrays
are permutations of 0..n-1. The page with slot 0 on both sides is downloaded once.

The confidence interval of a page is the time over which it stays unchanged with probability tau: I = ln(1/tau) / rate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from webstrata.errors import UsageError
from webstrata.sharp.rates import Indices, Numbers, as_column, checked_rates, checked_times, checked_weights
from webstrata.sharp.survival import Survival, as_survival

TAU = 0.7
"""The threshold of the SOLAR paper. The paper does not state it; it was determined from the paper's tables."""
_MAX_EXPONENT = 100.0


@dataclass(frozen=True)
class SharpSchedule:
    visits: Indices
    revisits: Indices
    hopeless: tuple[int, ...] = field(default=())
    """Pages given up, by ascending id: they get the slots that other pages do not use."""

    def __post_init__(self) -> None:
        slots = np.arange(self.visits.size)
        for name, side in (("visits", self.visits), ("revisits", self.revisits)):
            if not np.array_equal(np.sort(side), slots):
                raise UsageError(f"the {name} are no schedule: every slot from 0 to n-1 must be used once.")

    def spans(self, times: ArrayLike | None = None) -> Numbers:
        """The span from each page's visit to its revisit, in slots, or in the unit of `times` (the distances of the
        slots from the instant)."""
        at = checked_times(times, self.visits.size)
        return at[self.visits] + at[self.revisits]


def mirror(slots: Indices, hopeless: tuple[int, ...] = ()) -> SharpSchedule:
    """A schedule that gives every page the same slot on both sides of the instant."""
    return SharpSchedule(slots, slots, hopeless)


def survivals(schedule: SharpSchedule, survival: Survival, times: ArrayLike | None = None) -> Numbers:
    """The probability of each page to be sharp."""
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


def checked_tau(tau: float) -> float:
    if not 0.0 < tau < 1.0:
        raise UsageError(f"tau = {tau}: the confidence must be above 0 and below 1, for example 0.9.")
    return tau


def lengths_of(rates: ArrayLike, tau: float = TAU) -> Numbers:
    """Confidence intervals of these rates; infinite for a page that never changes."""
    column = checked_rates(rates)
    with np.errstate(divide="ignore", over="ignore"):
        return (1.0 / column) * math.log(1.0 / checked_tau(tau))


def interval_of(rate: float, shape: float | None, tau: float) -> float:
    """The confidence interval of one rate with a Gamma belief of this shape, its uncertainty included; `shape` None
    means that the rate is certain."""
    if rate == 0.0:
        return math.inf
    log = math.log(1.0 / checked_tau(tau))
    if shape is None:
        return log / rate
    return shape * math.expm1(log / shape) / rate if log / shape < _MAX_EXPONENT else math.inf


def whole_lengths_of(rates: ArrayLike, tau: float = TAU) -> Numbers:
    """Confidence intervals in whole slots, rounded down as in equation (1) of the paper.

    The division comes first, in double precision: 160 lengths of the smooth data set are one slot too short because of
    it, as they are in the paper.
    """
    return np.floor(lengths_of(rates, tau))


def checked_lengths(lengths: ArrayLike) -> Numbers:
    """The lengths as a column. Raises UsageError if there are none, or if one is NaN or negative."""
    column = as_column(lengths, "lengths")
    bad = np.flatnonzero(~(column >= 0))
    if bad.size:
        raise UsageError(f"page {bad[0]} has the length {column[bad[0]]}: a length is a number of slots, 0 or more.")
    return column


def rates_of(lengths: ArrayLike, tau: float = TAU) -> Numbers:
    """The rates that have these confidence intervals: ln(1/tau) / I."""
    column = checked_lengths(lengths)
    if (column == 0).any():
        raise UsageError(
            f"page {int(np.argmin(column))} has the length 0, so no finite rate: give lengths above 0, or rates."
        )
    return math.log(1.0 / checked_tau(tau)) / column
