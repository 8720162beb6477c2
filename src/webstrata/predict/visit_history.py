"""Visit histories of many pages as columns: the time between visits, and whether each visit saw a change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from webstrata.columns import Days, Flags
from webstrata.errors import UsageError

Offsets = NDArray[np.int64]

_INSTANT = 1e-9  # days


class VisitHistory(Struct, frozen=True, kw_only=True):
    """The visits of page p are those from `offsets[p]` to before `offsets[p + 1]`, in order of time."""

    offsets: Offsets
    elapsed_days: Days
    """Days since the previous visit, never negative. The first visit of a page is the baseline and has no row."""
    changed: Flags
    at_days: Days
    """Time of the visit in days since 1970 (UTC), for estimators by weekday or hour."""

    @property
    def pages(self) -> int:
        return len(self.offsets) - 1

    @property
    def counts(self) -> Offsets:
        """The number of visits of each page."""
        return np.diff(self.offsets)

    def page_of(self) -> NDArray[np.intp]:
        """The page of each visit."""
        return np.repeat(np.arange(self.pages), self.counts)

    def totals(self, values: NDArray[Any]) -> Days:
        """The sum of a column over each page's visits."""
        sums = np.zeros(self.pages)
        filled = self.counts > 0
        if filled.any():
            sums[filled] = np.add.reduceat(values.astype(np.float64), self.offsets[:-1][filled])
        return sums

    def where(self, kept: Flags) -> VisitHistory:
        """The history with some of the visits; all pages stay."""
        number = np.concatenate([[0], np.cumsum(kept)])
        return VisitHistory(
            offsets=number[self.offsets],
            elapsed_days=self.elapsed_days[kept],
            changed=self.changed[kept],
            at_days=self.at_days[kept],
        )

    def of_pages(self, pages: NDArray[np.bool_]) -> VisitHistory:
        """The history of some of the pages."""
        kept = self.where(np.repeat(pages, self.counts))
        return VisitHistory(
            offsets=np.concatenate([[0], np.cumsum(self.counts[pages])]),
            elapsed_days=kept.elapsed_days,
            changed=kept.changed,
            at_days=kept.at_days,
        )

    def lasting(self) -> VisitHistory:
        """Without visits less than a tenth of a millisecond after the previous one, which say nothing about a rate."""
        kept = self.elapsed_days > _INSTANT
        return self if kept.all() else self.where(kept)

    def previous(self, values: NDArray[Any], first: float = 0.0) -> Days:
        """For each visit the value of the page's previous visit; `first` if there is none."""
        before = np.full(len(values), first, dtype=np.float64)
        before[1:] = values[:-1]
        before[self.offsets[:-1][self.counts > 0]] = first
        return before


def visit_history(offsets: Any, elapsed_days: Any, changed: Any, at_days: Any = None) -> VisitHistory:
    """A checked history from array-like columns. Without `at_days`, the times of every page start at zero."""
    starts = np.asarray(offsets, dtype=np.int64)
    elapsed = np.asarray(elapsed_days, dtype=np.float64)
    flags = np.asarray(changed, dtype=np.bool_)
    if (
        starts.ndim != 1
        or not len(starts)
        or starts[0] != 0
        or (np.diff(starts) < 0).any()
        or starts[-1] != len(elapsed)
    ):
        raise UsageError("offsets of pages must begin with 0, never fall, and end with the number of visits.")
    if elapsed.shape != flags.shape:
        raise UsageError(f"{len(elapsed)} times, but {len(flags)} flags of changes.")
    if not np.isfinite(elapsed).all() or (elapsed < 0).any():
        raise UsageError("days between visits must be numbers and not negative.")
    since = np.cumsum(elapsed)
    begun = np.concatenate([[0.0], since])[starts[:-1]]
    at = since - np.repeat(begun, np.diff(starts)) if at_days is None else np.asarray(at_days, dtype=np.float64)
    if at.shape != elapsed.shape or not np.isfinite(at).all():
        raise UsageError("every visit needs a time that is a number.")
    return VisitHistory(offsets=starts, elapsed_days=elapsed, changed=flags, at_days=at)


def from_times(page: NDArray[np.intp], at_days: Days, changed: Flags, pages: int) -> VisitHistory:
    """A history from one row for each visit, including first visits, sorted by page and time."""
    first = np.ones(len(page), dtype=bool)
    first[1:] = page[1:] != page[:-1]
    elapsed = np.diff(at_days, prepend=at_days[:1])
    offsets = np.concatenate([[0], np.cumsum(np.bincount(page[~first], minlength=pages))])
    return visit_history(offsets, elapsed[~first], changed[~first], at_days[~first])


def joined(parts: Sequence[VisitHistory]) -> VisitHistory:
    """The pages of several histories one after the other."""
    counts = np.concatenate([np.empty(0, dtype=np.int64), *(part.counts for part in parts)])
    return VisitHistory(
        offsets=np.concatenate([[0], np.cumsum(counts)]),
        elapsed_days=np.concatenate([np.empty(0), *(part.elapsed_days for part in parts)]),
        changed=np.concatenate([np.empty(0, dtype=bool), *(part.changed for part in parts)]),
        at_days=np.concatenate([np.empty(0), *(part.at_days for part in parts)]),
    )
