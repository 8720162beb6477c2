"""Confidence intervals by resampling pages (bootstrap).

All policies use the same resamples, so that comparisons are paired by page.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 400
_LOW, _HIGH = 2.5, 97.5


class Resamples:
    """The number of times that each page is drawn in each resample; rows are resamples."""

    def __init__(self, pages: int, resamples: int = RESAMPLES, seed: int = 1) -> None:
        random = np.random.default_rng(seed)
        drawn = random.integers(0, max(pages, 1), (resamples, pages))
        self._times = np.zeros((resamples, pages), dtype=np.float32)
        for row, chosen in enumerate(drawn):
            self._times[row] = np.bincount(chosen, minlength=pages)

    def sums(self, values: NDArray[np.floating] | NDArray[np.integer], pages: NDArray[np.intp]) -> NDArray[np.float64]:
        """The sum over these pages in every resample."""
        total: NDArray[np.float64] = (self._times[:, pages] @ values[pages].astype(np.float32)).astype(np.float64)
        return total

    def weights(self, pages: NDArray[np.intp]) -> NDArray[np.float64]:
        """The number of these pages in each resample."""
        number: NDArray[np.float64] = self._times[:, pages].sum(axis=1).astype(np.float64)
        return number


def interval(values: NDArray[np.float64]) -> tuple[float, float]:
    """The central 95 %; NaN values are ignored."""
    known = values[np.isfinite(values)]
    if not len(known):
        return 0.0, 0.0
    low, high = np.percentile(known, [_LOW, _HIGH])
    return float(low), float(high)


def share(part: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.float64]:
    """Quotients, NaN where the divisor is 0."""
    return np.divide(part, whole, out=np.full_like(part, np.nan), where=whole > 0)
