"""Coherence: which pages of a collection of captures provably coexisted at one instant.

A page that was seen twice with the same content, and with no other content in between, is assumed to have had that
content from the first to the last of these sightings. A page that was seen once had its content at that time. Pages
whose spans share an instant coexisted at it. This is the proof of a sharp capture, applied to visits that were not
planned for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from webstrata.errors import UsageError
from webstrata.records import Sighting


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


Standing = Literal["proved", "changed", "open", "later"]


class PageStanding(Struct, frozen=True, kw_only=True):
    """The standing of one page at the instant."""

    url: str
    standing: Standing
    """`proved`: seen with the same content before and after. `changed`: seen before and after with different contents.
    `open`: seen only before; a visit now could prove it. `later`: seen only after."""
    start: float | None = None
    end: float | None = None
    """The span in which its content is proved, or its last span if it is open."""
    sightings: int = 1


class Coherence(Struct, frozen=True, kw_only=True):
    """The coherence of a collection: an instant, and the standing of each page at it."""

    pages: tuple[PageStanding, ...]
    instant: tuple[float, float] | None
    first: float | None
    last: float | None
    others: tuple[CoveredInstant, ...] = ()
    """Further instants, for pages that this one does not cover."""

    @property
    def proved(self) -> int:
        return sum(page.standing == "proved" for page in self.pages)


class _EqualSightings(Struct, frozen=True):
    """Consecutive sightings with the same content."""

    start: float
    end: float
    count: int


def coherence(sightings: Iterable[Sighting], *, at: float | None = None) -> Coherence:
    """The coherence of a collection at the instant `at`; by default at the instant that most pages share.

    Only URLs with at least one successful response count as pages.
    """
    in_order = sorted(sightings, key=lambda sighting: (sighting.url, sighting.at))
    by_page = [(url, list(seen)) for url, seen in groupby(in_order, key=lambda sighting: sighting.url)]
    pages = [(url, _runs(seen)) for url, seen in by_page if any(200 <= one.status < 300 for one in seen)]
    spans = [UnchangedSpan(page=i, start=run.start, end=run.end) for i, (_, runs) in enumerate(pages) for run in runs]
    best = instants(spans)
    chosen = (at, at) if at is not None else (best[0].start, best[0].end) if best else None
    times = [end for _, runs in pages for run in runs for end in (run.start, run.end)]
    return Coherence(
        pages=tuple(_standing(url, runs, chosen) for url, runs in pages),
        instant=chosen,
        first=min(times, default=None),
        last=max(times, default=None),
        others=tuple(best[1:] if at is None else best),
    )


def _runs(seen: Sequence[Sighting]) -> list[_EqualSightings]:
    runs = []
    for _, equal in groupby(seen, key=lambda sighting: (sighting.content, sighting.status)):
        row = list(equal)
        runs.append(_EqualSightings(row[0].at, row[-1].at, len(row)))
    return runs


def _standing(url: str, runs: list[_EqualSightings], instant: tuple[float, float] | None) -> PageStanding:
    seen = sum(run.count for run in runs)
    if instant is None:
        return PageStanding(url=url, standing="open", sightings=seen)
    start, end = instant
    for run in runs:
        if run.start <= start and end <= run.end:
            return PageStanding(url=url, standing="proved", start=run.start, end=run.end, sightings=seen)
    if runs[-1].end < end:
        return PageStanding(url=url, standing="open", start=runs[-1].start, end=runs[-1].end, sightings=seen)
    standing: Standing = "later" if runs[0].start > end else "changed"
    return PageStanding(url=url, standing=standing, sightings=seen)
