"""Copies of many pages, whether each shows an update, and the true updates: what the experiments of HACS run on.

Days are counted from the first date of the evaluation; copies before it have negative days.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from webstrata.clock import DAY_S
from webstrata.columns import Days, Flags, Rows
from webstrata.lab.archive_samples import archive_copies
from webstrata.lab.policies.histories import Histories

PAST_DAYS = 84.0
"""Copies are sampled from this long before the first date: the longest window of the paper, twelve weeks."""
_MOST_DAYS = 1095.0


class PageTimes:
    """Times of many pages, in the order of pages and times, with one binary search for all pages."""

    def __init__(self, page: Rows, at_days: Days, pages: int) -> None:
        self.page, self.at_days, self.pages = page, at_days, pages
        low, high = (float(at_days.min()), float(at_days.max())) if len(at_days) else (0.0, 0.0)
        self._low, self._span = low - 1, high - low + 3
        self._keys = page * self._span + (at_days - self._low)

    def position(self, page: Rows, at_days: float | Days, side: Literal["left", "right"] = "right") -> Rows:
        """The index after the times of each page up to (`left`: before) a day."""
        inside = np.clip(np.asarray(at_days) - self._low, 0.0, self._span - 1)
        found: Rows = np.searchsorted(self._keys, page * self._span + inside, side=side)
        return found

    def next_after(self, page: Rows, at_days: float) -> Days:
        """The first time of each page after a day; infinite if there is none."""
        found = self.position(page, at_days)
        here = np.append(self.page, -1)[found] == page
        return np.where(here, np.append(self.at_days, np.inf)[found], np.inf)


class UpdateTimeline(Struct, frozen=True, kw_only=True):
    """The pages (or sites) of one corpus."""

    corpus: str
    days: float
    """Length of the evaluation."""
    copies: PageTimes
    shows: Flags
    """For each copy whether it shows an update since the previous one. The first copy of a page shows none."""
    updates: PageTimes
    """The true updates. Only the judgement reads them, never a model."""

    @property
    def pages(self) -> int:
        return self.copies.pages


def evaluated_days(histories: Histories) -> float:
    """Three years, or as many whole days as the longest history has."""
    return min(_MOST_DAYS, max(1.0, float(np.floor((histories.until - histories.first).max() / DAY_S))))


def sampled_timelines(histories: Histories, seed: int) -> list[UpdateTimeline]:
    """One timeline for each corpus, with the copies that an archive would have taken of its pages.

    The evaluation ends for each page at its own `until`.
    """
    corpora = np.array(histories.corpus)
    return [
        _sampled(histories.take(np.flatnonzero(corpora == corpus)), corpus, seed)
        for corpus in dict.fromkeys(histories.corpus)
    ]


def _sampled(histories: Histories, corpus: str, seed: int) -> UpdateTimeline:
    days = evaluated_days(histories)
    start_at = histories.until - days * DAY_S
    page = np.repeat(np.arange(len(histories)), np.diff(histories.offsets))
    at_days = (histories.changes - start_at[page]) / DAY_S
    known = at_days > -PAST_DAYS
    updates = PageTimes(page[known], at_days[known], len(histories))
    first = np.maximum((histories.first - start_at) / DAY_S, -PAST_DAYS)
    copies = PageTimes(*archive_copies(first, days, seed), len(histories))
    return UpdateTimeline(corpus=corpus, days=days, copies=copies, shows=shown(copies, updates), updates=updates)


def shown(copies: PageTimes, updates: PageTimes) -> Flags:
    """For each copy whether there was an update since the previous copy of the page."""
    number = updates.position(copies.page, copies.at_days)
    flags = np.zeros(len(number), dtype=np.bool_)
    flags[1:] = (number[1:] > number[:-1]) & (copies.page[1:] == copies.page[:-1])
    return flags
