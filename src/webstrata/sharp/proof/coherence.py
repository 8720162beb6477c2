"""The instant that most pages share: each page has spans in which it is known to have had one content."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from webstrata.errors import UsageError


class UnchangedSpan(Struct, frozen=True, kw_only=True):
    """A span (both ends included) in which a page is assumed to have had the same content."""

    page: int
    """The index of the page in the caller's list. A page may have several spans."""
    start: float
    end: float


class CoveredInstant(Struct, frozen=True, kw_only=True):
    """A period in which the same pages are covered by their spans at all times."""

    start: float
    end: float
    weight: float
    pages: tuple[int, ...]


def best_instant(spans: Sequence[UnchangedSpan], weights: Sequence[float] | None = None) -> CoveredInstant | None:
    """The period that most pages (by weight) share; among equal ones the longest, then the earliest."""
    best = instants(spans, weights, max_instants=1)
    return best[0] if best else None


def instants(
    spans: Sequence[UnchangedSpan], weights: Sequence[float] | None = None, *, max_instants: int = 5
) -> list[CoveredInstant]:
    """The best period, then repeatedly the best period for pages that no earlier one covers."""
    chosen: list[CoveredInstant] = []
    covered: set[int] = set()
    remaining = [span for span in spans if span.start <= span.end]
    while remaining and len(chosen) < max_instants:
        start, end = _heaviest(remaining, weights)
        covering = sorted({span.page for span in spans if span.start <= start and end <= span.end})
        weight = float(sum(weights[page] for page in covering)) if weights is not None else float(len(covering))
        chosen.append(CoveredInstant(start=start, end=end, weight=weight, pages=tuple(covering)))
        covered.update(covering)
        remaining = [span for span in remaining if span.page not in covered]
    return chosen


def _heaviest(spans: Sequence[UnchangedSpan], weights: Sequence[float] | None) -> tuple[float, float]:
    """The period with the largest sum of weights, found by a sweep over the ends of all spans.

    The spans of one page do not overlap, so no page is counted twice.
    """
    starts = np.array([span.start for span in spans])
    ends = np.array([span.end for span in spans])
    span_weights = np.array([1.0 if weights is None else weights[span.page] for span in spans], dtype=float)
    if not np.isfinite(span_weights).all() or (span_weights < 0).any():
        raise UsageError("weights must be finite numbers, 0 or more.")
    # At equal times, starts come before ends: both ends of a span are included.
    times = np.concatenate([starts, ends])
    ending = np.concatenate([np.zeros(len(spans), dtype=bool), np.ones(len(spans), dtype=bool)])
    step = np.concatenate([span_weights, -span_weights])
    order = np.lexsort((ending, times))
    return _longest_top(times[order], np.cumsum(step[order]))


def _longest_top(times: NDArray[np.float64], level: NDArray[np.float64]) -> tuple[float, float]:
    """The two times between which the level is highest; among equal ones, those with the longest distance."""
    top = level.max()
    high = np.flatnonzero(level[:-1] >= top - 1e-9 * max(1.0, top))
    durations = times[high + 1] - times[high]
    at = int(high[np.argmax(durations)])
    return float(times[at]), float(times[at + 1])
