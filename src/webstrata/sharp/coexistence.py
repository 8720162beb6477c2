"""Which contents provably existed at one instant: each was the same at both ends of a span; spans that share an
instant coexisted then."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from webstrata.errors import UsageError


class UnchangedSpan(Struct, frozen=True, kw_only=True):
    """From `start` to `end` (both included) one content of a page is taken to have stood unchanged."""

    page: int
    """Which page: its place in the caller's list. A page may have several spans."""
    start: float
    end: float


class CoveredInstant(Struct, frozen=True, kw_only=True):
    """A stretch of time at every moment of which the same pages are covered by a span."""

    start: float
    end: float
    weight: float
    pages: tuple[int, ...]


def best_instant(spans: Sequence[UnchangedSpan], weights: Sequence[float] | None = None) -> CoveredInstant | None:
    """The stretch that most pages (by weight) share, the longest such, then the earliest; none without spans."""
    found = instants(spans, weights, most=1)
    return found[0] if found else None


def instants(
    spans: Sequence[UnchangedSpan], weights: Sequence[float] | None = None, *, most: int = 5
) -> list[CoveredInstant]:
    """Stretches for the reader to choose from: the best; then the best for pages that no stretch before serves."""
    chosen: list[CoveredInstant] = []
    served: set[int] = set()
    left = [span for span in spans if span.start <= span.end]
    while left and len(chosen) < most:
        start, end = _heaviest(left, weights)
        covering = sorted({span.page for span in spans if span.start <= start and end <= span.end})
        weight = float(sum(weights[page] for page in covering)) if weights is not None else float(len(covering))
        chosen.append(CoveredInstant(start=start, end=end, weight=weight, pages=tuple(covering)))
        served.update(covering)
        left = [span for span in left if span.page not in served]
    return chosen


def _heaviest(spans: Sequence[UnchangedSpan], weights: Sequence[float] | None) -> tuple[float, float]:
    """The stretch with the largest sum of weights: a sweep over the ends of all spans.

    A page's own spans do not overlap (a content has one beginning), so no page is counted twice.
    """
    starts = np.array([span.start for span in spans])
    ends = np.array([span.end for span in spans])
    heavy = np.ones(len(spans)) if weights is None else np.array([weights[span.page] for span in spans], dtype=float)
    if not np.isfinite(heavy).all() or (heavy < 0).any():
        raise UsageError("weights must be numbers that are not negative.")
    # At one moment spans that begin come before spans that end: both ends are included.
    times = np.concatenate([starts, ends])
    ending = np.concatenate([np.zeros(len(spans), dtype=bool), np.ones(len(spans), dtype=bool)])
    step = np.concatenate([heavy, -heavy])
    order = np.lexsort((ending, times))
    return _longest_top(times[order], np.cumsum(step[order]))


def _longest_top(times: NDArray[np.float64], level: NDArray[np.float64]) -> tuple[float, float]:
    """Between which two ends the level is highest, and of equal ones where it lasts longest."""
    top = level.max()
    high = np.flatnonzero(level[:-1] >= top - 1e-9 * max(1.0, top))
    lasts = times[high + 1] - times[high]
    at = int(high[np.argmax(lasts)])
    return float(times[at]), float(times[at + 1])
