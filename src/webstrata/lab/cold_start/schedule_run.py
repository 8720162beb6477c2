"""The policy `value` on pages that it begins to visit on one day, with different beliefs about them at the start.

`population`   all pages start with the same belief.
`first-sight`  each starts with the belief about pages that look like it.
`true group`   each starts with the belief about its true group, which no crawler knows: the most that a classifier of
               these groups could bring.

All spend the downloads of the same timer policy on the same days.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from webstrata.clock import DAY_S
from webstrata.lab.cold_start.watched_sites import WatchedSites
from webstrata.lab.policies.bootstrap import Resamples, interval, share
from webstrata.lab.policies.histories import Histories
from webstrata.lab.policies.replay_budget import replay_budget
from webstrata.lab.policies.replay_log import ReplayLog, judge
from webstrata.lab.policies.replay_timer import replay_timer
from webstrata.lab.policies.truth import Truth
from webstrata.predict.activity import Belief
from webstrata.schedule.policy import Bounds
from webstrata.schedule.registry import policy, policy_state
from webstrata.schedule.value import Value

POPULATION, FIRST_SIGHT, TRUE_GROUP = "population", "first-sight", "true group"

Starts = Mapping[str, Belief]
"""By name: the belief about each page at its first visit."""


class ScheduleRow(Struct, frozen=True, kw_only=True):
    """One replay, and its captures divided by those of the start `population`."""

    split: str
    days: int
    match: str
    """The timer policy whose downloads were spent."""
    start: str
    pages: int
    sites: int
    downloads: int
    captured: int
    changes: int
    freshness: float
    ratio: float
    low: float
    high: float
    """95 % interval of the ratio, by resampling sites."""
    pages_low: float
    pages_high: float
    """The same by resampling pages."""


def schedule_rows(watched: WatchedSites, starts: Starts, days: float, match: str, split: str) -> Iterator[ScheduleRow]:
    """A row for each start; the first one is the one that the others are divided by. Pages whose site was not recorded
    for so long are left out."""
    truth, kept = first_days(watched.histories, days)
    site = np.unique(np.array(truth.histories.site), return_inverse=True)[1].astype(np.intp)
    downloads = len(replay_timer(policy(match, Bounds(min_days=1.0)), truth).page)
    base: NDArray[np.int64] | None = None
    for name, start in starts.items():
        totals = judge(_replayed(truth, site, start[kept], downloads), truth)
        captured = totals.captured.sum(axis=1)
        base = captured if base is None else base
        by_page = _ratio_interval(captured, base, np.arange(len(truth), dtype=np.intp))
        by_site = _ratio_interval(captured, base, site)
        yield ScheduleRow(
            split=split,
            days=round(days),
            match=match,
            start=name,
            pages=len(truth),
            sites=int(site.max()) + 1,
            downloads=int(totals.downloads.sum()),
            captured=int(captured.sum()),
            changes=int(totals.changes.sum()),
            freshness=1.0 - float(totals.outdated.sum()) / (days * len(truth)),
            ratio=float(captured.sum() / max(base.sum(), 1)),
            low=by_site[0],
            high=by_site[1],
            pages_low=by_page[0],
            pages_high=by_page[1],
        )


def first_days(histories: Histories, days: float) -> tuple[Truth, NDArray[np.intp]]:
    """The window from `first` on, and the pages that were recorded for all of it."""
    until = histories.first + days * DAY_S
    kept = np.flatnonzero(until <= histories.until + 1.0)
    some = histories.take(kept)
    page = np.repeat(np.arange(len(some)), np.diff(some.offsets))
    inside = some.changes <= until[kept][page]
    offsets = np.concatenate([[0], np.cumsum(np.bincount(page[inside], minlength=len(some)))]).astype(np.int64)
    # The start of the window is computed from its end, as `Truth` does, so that rounding leaves no page out.
    first = until[kept] - days * DAY_S
    return Truth(
        replace(some, first=first, until=until[kept], offsets=offsets, changes=some.changes[inside]), days
    ), kept


def _replayed(truth: Truth, site: NDArray[np.intp], start: Belief, downloads: int) -> ReplayLog:
    pages = policy_state(Value.name, site, bounds=Bounds(min_days=1.0 - 1e-9))
    pages.state["levels"] = start
    return replay_budget(pages, truth, downloads)


def _ratio_interval(own: NDArray[np.int64], other: NDArray[np.int64], unit: NDArray[np.intp]) -> tuple[float, float]:
    """95 % interval of the ratio of two sums over pages, by resampling units."""
    ours, theirs = np.bincount(unit, own), np.bincount(unit, other)
    resamples, every = Resamples(len(ours)), np.arange(len(ours))
    return interval(share(resamples.sums(ours, every), resamples.sums(theirs, every)))
