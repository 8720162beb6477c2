"""The log of a replay, and its evaluation against the true changes: per page and quarter.

A download at t after one at s captures a change if the page changed in (s, t]; several changes between two downloads
count once. Freshness is the share of time in which the newest copy equals the page; the delay of a capture is the time
for which the copy had been outdated. In the terms of the push paper: outdated time is the rest to full freshness, an
unnecessary refresh is a download without a capture, an undetected change is one that no download captured.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from webstrata.columns import Days, Flags, Rows
from webstrata.lab.policies.truth import Counts, Truth

QUARTER_DAYS = 365.0 / 4


class ReplayLog(Struct, frozen=True, kw_only=True):
    """Downloads of one replay, each with the day of the previous copy."""

    page: Rows
    at: Days
    since: Days
    changed: Flags
    lists: Days
    """Days on which lists were fetched, which count as downloads."""
    lists_page: Rows
    """For each fetch of a list one page of its site, to which the download is assigned."""


class ReplayTotals(Struct, frozen=True, kw_only=True):
    """Sums per page (first axis) and quarter (second axis)."""

    downloads: Counts
    captured: Counts
    changes: Counts
    outdated: NDArray[np.float64]
    """Days without an up-to-date copy."""
    delay: NDArray[np.float64]
    """Sum of the delays of all captures, in days."""
    days: float

    def of(self, pages: Rows) -> ReplayTotals:
        """The totals of some of the pages."""
        return ReplayTotals(
            downloads=self.downloads[pages],
            captured=self.captured[pages],
            changes=self.changes[pages],
            outdated=self.outdated[pages],
            delay=self.delay[pages],
            days=self.days,
        )


def joined_logs(parts: Sequence[tuple[Rows, ReplayLog]]) -> ReplayLog:
    """Join the logs of parts of the pages; each part comes with the rows of its pages in the whole."""
    return ReplayLog(
        page=np.concatenate([rows[log.page] for rows, log in parts]),
        at=np.concatenate([log.at for _, log in parts]),
        since=np.concatenate([log.since for _, log in parts]),
        changed=np.concatenate([log.changed for _, log in parts]),
        lists=np.concatenate([log.lists for _, log in parts]),
        lists_page=np.concatenate([rows[log.lists_page] for rows, log in parts]),
    )


def judge(log: ReplayLog, truth: Truth) -> ReplayTotals:
    """Evaluate a log against the true changes."""
    n, quarters = len(truth), max(1, round(truth.days / QUARTER_DAYS))
    edges = np.linspace(0.0, truth.days, quarters + 1)

    def by_quarter(page: Rows, at: Days, weight: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        quarter = np.clip(np.searchsorted(edges, at, side="left") - 1, 0, quarters - 1)
        counted = np.bincount(page * quarters + quarter, weights=weight, minlength=n * quarters)
        return counted.reshape(n, quarters).astype(np.float64)

    downloads = by_quarter(log.page, log.at)
    if len(log.lists):
        downloads += by_quarter(log.lists_page, log.lists)
    hit = log.changed
    delay = truth.outdated(log.page[hit], log.since[hit], log.at[hit])
    changes = truth.events(0.0, truth.days)
    return ReplayTotals(
        downloads=downloads.astype(np.int64),
        captured=by_quarter(log.page[hit], log.at[hit]).astype(np.int64),
        changes=by_quarter(*changes).astype(np.int64),
        outdated=_outdated(log, truth, edges),
        delay=by_quarter(log.page[hit], log.at[hit], delay),
        days=truth.days,
    )


def _outdated(log: ReplayLog, truth: Truth, edges: Days) -> NDArray[np.float64]:
    """Days without an up-to-date copy, per page and quarter."""
    n, quarters = len(truth), len(edges) - 1
    last = np.zeros(n)
    np.maximum.at(last, log.page, log.at)
    page = np.concatenate([log.page, np.arange(n)])
    since = np.concatenate([log.since, last])
    at = np.concatenate([log.at, np.full(n, truth.days)])
    stale = truth.outdated(page, since, at)
    page, at, stale = page[stale > 0], at[stale > 0], stale[stale > 0]
    begin = at - stale
    total = np.empty((n, quarters))
    for quarter in range(quarters):
        inside = np.minimum(at, edges[quarter + 1]) - np.maximum(begin, edges[quarter])
        total[:, quarter] = np.bincount(page, weights=np.maximum(inside, 0.0), minlength=n)
    return total
