"""Tests of distributions that are fitted to the data itself: exponential gaps, and normal logarithms.

The distance D of Kolmogorov and Smirnov is the largest difference between the shares of the data and of the fitted
distribution. Because the fit follows the data, D is smaller than for a given distribution; the critical values are
those of Lilliefors in the form of Stephens (1974), which hold for every number of values.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import erf, sqrt

import numpy as np
from msgspec import Struct

from webstrata.columns import Days

LEAST_GAPS = 10
"""Pages with fewer gaps are not tested."""
_EXPONENTIAL_5_PERCENT = 1.094
_NORMAL_5_PERCENT = 0.895


class PoissonCheck(Struct, frozen=True, kw_only=True):
    """How many pages contradict a Poisson process at the level of 5 %."""

    times: str
    """`true`, `interpolated` (as the copies show them), or `simulated` (as the same copies show Poisson processes)."""
    pages: int
    """Those with at least ten gaps between updates."""
    rejected: int
    share: float | None
    median_variation: float | None
    """Median of the pages' coefficients of variation; 1 for exponential gaps."""


def poisson_check(times: str, gaps: Sequence[Days]) -> PoissonCheck:
    """Test the gaps of each page."""
    tested = [one for one in gaps if len(one) >= LEAST_GAPS]
    rejected = sum(rejects_exponential(one) for one in tested)
    return PoissonCheck(
        times=times,
        pages=len(tested),
        rejected=rejected,
        share=rejected / len(tested) if tested else None,
        median_variation=float(np.median([one.std(ddof=1) / one.mean() for one in tested])) if tested else None,
    )


def rejects_exponential(gaps: Days) -> bool:
    """Whether positive gaps contradict an exponential distribution of their own mean at the level of 5 %."""
    number = len(gaps)
    found = distance(-np.expm1(-np.sort(gaps) / gaps.mean()))
    return (found - 0.2 / number) * (sqrt(number) + 0.26 + 0.5 / sqrt(number)) > _EXPONENTIAL_5_PERCENT


def normal_distance(values: Days) -> tuple[float, bool]:
    """D of values against the normal distribution of their mean and deviation; whether it is rejected at 5 %."""
    number, deviation = len(values), values.std(ddof=1)
    standard = np.sort(values - values.mean()) / deviation
    found = distance(np.array([(1 + erf(one / sqrt(2))) / 2 for one in standard.tolist()]))
    return found, found * (sqrt(number) - 0.01 + 0.85 / sqrt(number)) > _NORMAL_5_PERCENT


def distance(share: Days) -> float:
    """D from the fitted share below each value, in ascending order."""
    number = len(share)
    return float(max((np.arange(1, number + 1) / number - share).max(), (share - np.arange(number) / number).max()))
