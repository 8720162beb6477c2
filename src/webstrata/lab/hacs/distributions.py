"""How often archives copy pages, and how updates are distributed: what Figures 3 to 6 of the HACS paper show."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from webstrata.columns import Days, Rows
from webstrata.lab.hacs.near_poisson import PoissonCheck, normal_distance, poisson_check
from webstrata.lab.hacs.timeline import PageTimes, UpdateTimeline, shown
from webstrata.predict.interpolated import moved
from webstrata.predict.poisson import irregular_rate
from webstrata.predict.visit_history import VisitHistory, from_times

BINS_DAYS = (7.0, 35.0, 70.0)
"""Centres of the bins of 1/λ whose gaps are shown; the paper shows 35 and 70 days."""
_BIN_WIDTH = 0.1
"""Half the width of a bin, as a share of its centre."""
_EDGES_DAYS = 2.0 ** np.arange(-1, 10)
_LEAST_FOR_FIT = 8
"""With fewer intervals, no distribution is fitted."""


class UpdateIntervals(Struct, frozen=True, kw_only=True):
    """What the copies of each page say, one entry for each page, in days; NaN if unknown."""

    copy_gap: Days
    """Median gap between copies."""
    observed: Days
    """1/λ of the intervals between copies."""
    interpolated: Days
    """1/λ of the intervals with each update moved half-way to the previous copy."""
    median_gap: Days
    """Median gap between interpolated updates."""
    gaps: list[Days]
    """All gaps between interpolated updates."""


class GapBin(Struct, frozen=True, kw_only=True):
    """The gaps between interpolated updates of pages with about the same 1/λ."""

    interval_days: float
    pages: int
    gaps: int
    edges_days: list[float]
    density: list[float]
    """Share of the gaps per day, between neighbouring edges."""
    expected: list[float]
    """The same of exponential gaps with the mean `interval_days`."""
    simulated: list[float]
    """The same of the gaps that copies show of Poisson processes whose 1/λ falls into the bin."""


class UpdateDistribution(Struct, frozen=True, kw_only=True):
    """Figures 3 to 6 of one corpus, in days; null where there are too few pages."""

    corpus: str
    pages: int
    copies: int
    copy_gap_days: list[float] | None
    """10 %, 50 % and 90 % quantile of the pages' median gaps between copies."""
    estimated: int
    """Pages whose copies show an update."""
    median_interval_days: float | None
    """Median of 1/λ (observed updates)."""
    log_mean: float | None
    log_deviation: float | None
    """Mean and standard deviation of ln(1/λ): the fitted log-normal distribution."""
    log_normal_distance: float | None
    log_normal_rejected: bool | None
    """Distance of Kolmogorov and Smirnov, and whether the log-normal distribution is rejected at 5 %."""
    rank_correlation: float | None
    """Of 1/λ and the median gap between interpolated updates (Spearman)."""
    poisson: list[PoissonCheck]
    bins: list[GapBin]


def update_intervals(timeline: UpdateTimeline) -> UpdateIntervals:
    """What all copies of each page say."""
    pages = timeline.pages
    history = from_times(timeline.copies.page, timeline.copies.at_days, timeline.shows, pages)
    interpolated = moved(history)
    gaps = _gaps(interpolated.page_of()[history.changed], interpolated.at_days[history.changed], pages)
    return UpdateIntervals(
        copy_gap=_medians(np.split(history.elapsed_days, history.offsets[1:-1])),
        observed=_inverse_rate(history),
        interpolated=_inverse_rate(interpolated),
        median_gap=_medians(gaps),
        gaps=gaps,
    )


def distribution(timeline: UpdateTimeline, intervals: UpdateIntervals, seed: int) -> UpdateDistribution:
    """The figures of one corpus. The simulated Poisson processes are drawn from the seed."""
    gap = intervals.copy_gap[np.isfinite(intervals.copy_gap)]
    logs = np.log(intervals.observed[np.isfinite(intervals.observed)])
    fitted = len(logs) >= _LEAST_FOR_FIT and logs.std() > 0
    found, rejected = normal_distance(logs) if fitted else (None, None)
    both = np.isfinite(intervals.median_gap) & np.isfinite(intervals.interpolated)
    updates = timeline.updates
    of_poisson = update_intervals(simulated(timeline, seed))
    return UpdateDistribution(
        corpus=timeline.corpus,
        pages=timeline.pages,
        copies=len(timeline.copies.page),
        copy_gap_days=np.quantile(gap, [0.1, 0.5, 0.9]).tolist() if len(gap) else None,
        estimated=len(logs),
        median_interval_days=float(np.exp(np.median(logs))) if len(logs) else None,
        log_mean=float(logs.mean()) if fitted else None,
        log_deviation=float(logs.std(ddof=1)) if fitted else None,
        log_normal_distance=found,
        log_normal_rejected=rejected,
        rank_correlation=rank_correlation(intervals.interpolated[both], intervals.median_gap[both]),
        poisson=[
            poisson_check("true", _gaps(updates.page, updates.at_days, timeline.pages)),
            poisson_check("interpolated", intervals.gaps),
            poisson_check("simulated", of_poisson.gaps),
        ],
        bins=[gap_bin(intervals, of_poisson, centre) for centre in BINS_DAYS],
    )


def simulated(timeline: UpdateTimeline, seed: int) -> UpdateTimeline:
    """The same copies of pages whose updates are Poisson processes with the true number of updates on average."""
    random = np.random.default_rng(seed)
    begin = float(timeline.copies.at_days.min(initial=0.0))
    number = random.poisson(np.bincount(timeline.updates.page, minlength=timeline.pages))
    page = np.repeat(np.arange(timeline.pages), number)
    at_days = random.uniform(begin, timeline.days, len(page))
    order = np.lexsort((at_days, page))
    updates = PageTimes(page, at_days[order], timeline.pages)
    return UpdateTimeline(
        corpus=timeline.corpus,
        days=timeline.days,
        copies=timeline.copies,
        shows=shown(timeline.copies, updates),
        updates=updates,
    )


def gap_bin(intervals: UpdateIntervals, of_poisson: UpdateIntervals, centre_days: float) -> GapBin:
    """The gaps of the pages whose 1/λ is within 10 % of a number of days, real and simulated."""
    pages, gaps = _in_bin(intervals, centre_days)
    expected = -np.diff(np.exp(-_EDGES_DAYS / centre_days)) / np.diff(_EDGES_DAYS)
    return GapBin(
        interval_days=centre_days,
        pages=pages,
        gaps=len(gaps),
        edges_days=_EDGES_DAYS.tolist(),
        density=_density(gaps),
        expected=expected.tolist(),
        simulated=_density(_in_bin(of_poisson, centre_days)[1]),
    )


def _in_bin(intervals: UpdateIntervals, centre_days: float) -> tuple[int, Days]:
    pages = np.flatnonzero(np.abs(intervals.interpolated / centre_days - 1) <= _BIN_WIDTH)
    return len(pages), np.concatenate([*(intervals.gaps[page] for page in pages), np.empty(0)])


def _density(gaps: Days) -> list[float]:
    shares = np.histogram(gaps, _EDGES_DAYS)[0] / max(len(gaps), 1) / np.diff(_EDGES_DAYS)
    return [float(share) for share in shares]


def rank_correlation(one: Days, other: Days) -> float | None:
    """Spearman's: the correlation of the ranks, equal values with their mean rank. None if a side has no two values."""
    ranks = [_mean_ranks(one), _mean_ranks(other)]
    if len(one) < 2 or min(side.std() for side in ranks) == 0:
        return None
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])


def _mean_ranks(values: Days) -> Days:
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    means: Days = np.cumsum(counts) - (counts - 1) / 2
    return means[inverse]


def _inverse_rate(history: VisitHistory) -> Days:
    rate = irregular_rate(history)
    found = np.full(len(rate), np.nan)
    np.divide(1.0, rate, out=found, where=rate > 0)
    return found


def _gaps(page: Rows, at_days: Days, pages: int) -> list[Days]:
    """The gaps between the times of each page."""
    ends = np.searchsorted(page, np.arange(1, pages))
    return [np.diff(one) for one in np.split(at_days, ends)] if pages else []


def _medians(values: Sequence[Days]) -> Days:
    return np.array([np.median(one) if len(one) else np.nan for one in values])
