"""What sources announce of pages, in columns: `SourceTable` in the lab, `AnnouncementTable` for the live loop.

A table holds one kind of source; each page has at most one source in it. `predict.source_quality` learns precision,
recall and delay of a lab source, `predict.source_trust` those of a live one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from webstrata.clock import DAY_S
from webstrata.columns import Column, Days, Flags, Rows
from webstrata.predict.source_quality import SourceQuality
from webstrata.predict.source_trust import precision, recall
from webstrata.records import Announcement, SignalSource


class SourceTable:
    """One source for each site, and the newest change that it announced of each page."""

    def __init__(self, site: NDArray[np.intp], *, now: float) -> None:
        self.site = site
        self.sources = SourceQuality()
        self.quality = self.sources.start(int(site.max(initial=-1)) + 1)
        self.fetched_at: Days = np.full(len(self.quality), now)
        """By source: until when its statements are known; at first it has made none."""
        self.fetches: NDArray[np.int64] = np.zeros(len(self.quality), dtype=np.int64)
        self.announced_at: Days = np.full(len(site), -np.inf)

    def fetched(self, source: int, now: float, rows: Rows, dated: Days) -> None:
        """A source was fetched: it says of the pages in `rows` that they changed last at `dated`."""
        is_new = dated > self.announced_at[rows]
        if self.fetches[source]:  # entries of the first fetch may be of any age
            self.sources.dated(self.quality, source, np.maximum(self.fetched_at[source] - dated[is_new], 0.0))
        pages = int(np.count_nonzero(self.site == source))
        self.sources.fetched(self.quality, source, int(is_new.sum()), pages * (now - float(self.fetched_at[source])))
        self.announced_at[rows[is_new]] = dated[is_new]
        self.fetched_at[source] = now
        self.fetches[source] += 1

    def covered_days(self, rows: Rows, seen_at: Days) -> Days:
        """The part of the time since these pages were seen that their source's statements cover."""
        covered_until = self.fetched_at - self.sources.delay_days(self.quality)
        return np.maximum(covered_until[self.site[rows]] - seen_at, 0.0)

    def announced(self, rows: Rows, seen_at: Days) -> Flags:
        """Whether a change after the pages were seen has been announced."""
        flags: Flags = self.announced_at[rows] > seen_at
        return flags

    def quality_of(self, rows: Rows) -> tuple[Column, Column]:
        """(precision, recall) of the source of each page."""
        source = self.site[rows]
        return self.sources.precision(self.quality)[source], self.sources.recall(self.quality)[source]

    def false_entries(self, now: float) -> Column:
        """For each page: expected number of false entries that its source has added since it was fetched."""
        per_day = self.sources.entries_per_day(self.quality) * (1.0 - self.sources.precision(self.quality))
        number: Column = (per_day * (now - self.fetched_at))[self.site]
        return number


class AnnouncementTable(SourceTable):
    """One source for each page: of those that list it, the one with an announcement, else the one with most recall.

    `flows.crawl.signals` learns from the visits how far each source is trusted; this table only uses the result.
    """

    def __init__(self, pages: int, now: float) -> None:
        super().__init__(np.zeros(pages, dtype=np.intp), now=now)
        self.urls: list[str] = []
        self.source: NDArray[np.int32] = np.full(pages, -1, dtype=np.int32)
        """By page: index of the source that counts; -1: no source lists the page."""
        self._announced: Flags = np.zeros(pages, dtype=bool)
        # The last entry belongs to pages that no source lists: index -1.
        self._precision = self._recall = np.zeros(1, dtype=np.float32)
        self._read_at: Days = np.zeros(1)

    def load(self, sources: Sequence[SignalSource], announcements: Sequence[tuple[int, Announcement]]) -> None:
        """Replace the contents by the last announcements of all sources, each with the row of its page."""
        index = {source.id: number for number, source in enumerate(sources)}
        self.urls = [source.url for source in sources]
        self._precision = np.array([*(precision(s.right, s.wrong) for s in sources), 0.0], dtype=np.float32)
        self._recall = np.array([*(recall(s.announced, s.silent) for s in sources), 0.0], dtype=np.float32)
        self._read_at = np.array([*((source.read_at or 0.0) / DAY_S for source in sources), -np.inf])
        self.source[:] = -1
        self._announced[:] = False
        for row, announcement in announcements:
            number = index.get(announcement.source_id, -1)
            if number >= 0 and self._is_better(row, number, announcement.news > 0):
                self.source[row], self._announced[row] = number, announcement.news > 0

    def _is_better(self, row: int, number: int, has_news: bool) -> bool:
        before = int(self.source[row])
        quality = self._precision if has_news else self._recall
        return before < 0 or (has_news, quality[number]) > (bool(self._announced[row]), quality[before])

    def source_of(self, row: int) -> str | None:
        """The URL of the source that counts for a page; None if no source lists the page."""
        number = int(self.source[row])
        return self.urls[number] if number >= 0 else None

    def visited(self, rows: Rows) -> None:
        """These pages were visited: announcements before the visit no longer count."""
        self._announced[rows] = False

    def covered_days(self, rows: Rows, seen_at: Days) -> Days:
        return np.maximum(self._read_at[self.source[rows]] - seen_at, 0.0)

    def announced(self, rows: Rows, seen_at: Days) -> Flags:
        return self._announced[rows]

    def quality_of(self, rows: Rows) -> tuple[Column, Column]:
        source = self.source[rows]
        return self._precision[source], self._recall[source]

    def false_entries(self, now: float) -> Column:
        """Zero: the precision already accounts for them."""
        return np.zeros(len(self.source), dtype=np.float32)
