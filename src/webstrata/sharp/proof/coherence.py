"""Which contents provably existed at one instant: each was the same at both ends of a span; spans that share an
instant coexisted then.

How far a collection of captures, made by whomever, shows a site as of one instant.

A page that was seen twice with the same content (and not otherwise in between) is taken to have stood so from the first
to the last of these sightings; one that was seen once, at that moment. Pages whose stretches share an instant coexisted
then. This is the proof of a sharp capture, read out of visits that nobody planned for it.
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


Standing = Literal["proved", "changed", "open", "later"]


class PageStanding(Struct, frozen=True, kw_only=True):
    """What is known of one page at the instant."""

    url: str
    standing: Standing
    """`proved`: seen the same before and after. `changed`: seen before and after, but not the same. `open`: seen before
    only; a visit now could prove it. `later`: seen after only."""
    start: float | None = None
    end: float | None = None
    """Of the stretch in which its content is proved, or since when it is open."""
    sightings: int = 1


class Coherence(Struct, frozen=True, kw_only=True):
    """The answer: an instant, and where each page stands then."""

    pages: tuple[PageStanding, ...]
    instant: tuple[float, float] | None
    first: float | None
    last: float | None
    others: tuple[CoveredInstant, ...] = ()
    """Further instants, for the pages that this one does not serve."""

    @property
    def proved(self) -> int:
        return sum(page.standing == "proved" for page in self.pages)


class _EqualSightings(Struct, frozen=True):
    """Sightings in a row that saw the same."""

    start: float
    end: float
    count: int


def coherence(sightings: Iterable[Sighting], *, at: float | None = None, most: int = 5) -> Coherence:
    """Judge a collection; `at` asks for an instant, else the one that most pages share is taken.

    Only addresses that ever answered with success are pages.
    """
    by_page = {url: list(seen) for url, seen in groupby(sorted(sightings, key=_order), key=lambda one: one.url)}
    pages = [(url, _runs(seen)) for url, seen in by_page.items() if any(200 <= one.status < 300 for one in seen)]
    spans = [UnchangedSpan(page=i, start=run.start, end=run.end) for i, (_, runs) in enumerate(pages) for run in runs]
    found = instants(spans, most=most)
    chosen = (at, at) if at is not None else (found[0].start, found[0].end) if found else None
    times = [end for _, runs in pages for run in runs for end in (run.start, run.end)]
    return Coherence(
        pages=tuple(_standing(url, runs, chosen) for url, runs in pages),
        instant=chosen,
        first=min(times, default=None),
        last=max(times, default=None),
        others=tuple(found[1:] if at is None else found),
    )


def _order(one: Sighting) -> tuple[str, float]:
    return one.url, one.at


def _runs(seen: Sequence[Sighting]) -> list[_EqualSightings]:
    runs = []
    for _, same in groupby(seen, key=lambda one: (one.content, one.status)):
        row = list(same)
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
