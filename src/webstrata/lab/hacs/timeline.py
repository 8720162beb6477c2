"""Copies of many pages, whether each shows an update, and the true updates: what the experiments of HACS run on.

Days are counted from the first date of the evaluation; copies before it have negative days.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, TypeAlias

import numpy as np
from msgspec import Struct

from webstrata.clock import DAY_S
from webstrata.columns import Days, Flags, Rows
from webstrata.lab.archive_samples import MEAN_DAYS, archive_copies
from webstrata.lab.policies.histories import Histories

MeanDays: TypeAlias = tuple[float, float]

PAST_DAYS = 84.0
"""Copies are sampled from this long before the first date: the longest window of the paper, twelve weeks."""
MOST_DAYS = 1095.0
"""The evaluation is at most three years long."""


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
    return min(MOST_DAYS, max(1.0, float(np.floor((histories.until - histories.first).max() / DAY_S))))


def sampled_timelines(histories: Histories, seed: int, gap_days: MeanDays = MEAN_DAYS) -> list[UpdateTimeline]:
    """One timeline for each corpus, with the copies that an archive would have taken of its pages.

    The evaluation ends for each page at its own `until`. `gap_days` is the range of the pages' mean gaps between
    copies.
    """
    return [_sampled(histories.take(rows), corpus, seed, gap_days) for corpus, rows in _corpora(histories)]


def site_timeline(histories: Histories, timelines: Sequence[UpdateTimeline], corpus: str) -> UpdateTimeline:
    """The sites of all corpora, from the timelines of their pages."""
    names = [f"{name} {histories.site[row]}" for name, rows in _corpora(histories) for row in rows]
    return merged(joined(timelines, corpus), np.unique(names, return_inverse=True)[1], corpus)


def _corpora(histories: Histories) -> Iterator[tuple[str, Rows]]:
    corpora = np.array(histories.corpus)
    for corpus in dict.fromkeys(histories.corpus):
        yield corpus, np.flatnonzero(corpora == corpus)


def _sampled(histories: Histories, corpus: str, seed: int, gap_days: MeanDays) -> UpdateTimeline:
    days = evaluated_days(histories)
    start_at = histories.until - days * DAY_S
    page = np.repeat(np.arange(len(histories)), np.diff(histories.offsets))
    at_days = (histories.changes - start_at[page]) / DAY_S
    known = at_days > -PAST_DAYS
    updates = PageTimes(page[known], at_days[known], len(histories))
    first = np.maximum((histories.first - start_at) / DAY_S, -PAST_DAYS)
    copies = PageTimes(*archive_copies(first, days, seed, gap_days), len(histories))
    return UpdateTimeline(corpus=corpus, days=days, copies=copies, shows=shown(copies, updates), updates=updates)


def shown(copies: PageTimes, updates: PageTimes) -> Flags:
    """For each copy whether there was an update since the previous copy of the page."""
    number = updates.position(copies.page, copies.at_days)
    flags = np.zeros(len(number), dtype=np.bool_)
    flags[1:] = (number[1:] > number[:-1]) & (copies.page[1:] == copies.page[:-1])
    return flags


def joined(timelines: Sequence[UpdateTimeline], corpus: str) -> UpdateTimeline:
    """The pages of several timelines as one corpus."""
    before = np.cumsum([0, *(timeline.pages for timeline in timelines)]).tolist()
    copies = _one_after_the_other([timeline.copies for timeline in timelines], before)
    return UpdateTimeline(
        corpus=corpus,
        days=max(timeline.days for timeline in timelines),
        copies=copies,
        shows=np.concatenate([timeline.shows for timeline in timelines]),
        updates=_one_after_the_other([timeline.updates for timeline in timelines], before),
    )


def _one_after_the_other(parts: Sequence[PageTimes], before: Sequence[int]) -> PageTimes:
    page = np.concatenate([part.page + first for part, first in zip(parts, before, strict=False)])
    return PageTimes(page, np.concatenate([part.at_days for part in parts]), before[-1])


def merged(timeline: UpdateTimeline, unit: Rows, corpus: str) -> UpdateTimeline:
    """Several pages as one, like the pages of a site: `unit` has the number of the site of each page.

    An update of any page is an update of the site, and a copy of any page is a copy of the site. The first copy of each
    page is left out: it cannot show an update.
    """
    units = int(unit.max()) + 1 if len(unit) else 0
    copies = timeline.copies
    known = np.flatnonzero(np.diff(copies.page, prepend=-1) == 0)
    known = known[np.lexsort((copies.at_days[known], unit[copies.page[known]]))]
    updates = np.stack([unit[timeline.updates.page].astype(np.float64), timeline.updates.at_days])
    site, at_days = np.unique(updates, axis=1)
    return UpdateTimeline(
        corpus=corpus,
        days=timeline.days,
        copies=PageTimes(unit[copies.page[known]], copies.at_days[known], units),
        shows=timeline.shows[known],
        updates=PageTimes(site.astype(np.intp), at_days, units),
    )
