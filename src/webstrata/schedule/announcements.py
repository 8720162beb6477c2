"""What sources announce of pages, in columns.

A table holds one kind of source: the feeds and sitemaps, or the reports of visitors. Each page has at most one source
that counts. `predict.source_quality` gives the precision, the recall and the delay of each source.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from webstrata.clock import DAY_S
from webstrata.columns import Column, Days, Flags, Rows, State
from webstrata.predict.source_quality import CountedSources, SourceQuality, read_counts
from webstrata.records import Announcement, SignalSource

FLOOD_MIN, FLOOD_SHARE = 20, 0.9
"""The number of renewed times, and their share of the listed pages, that make a list a flood."""
FLOOD_SAMPLE = 200
"""Announcements that count of a flood: it says nothing about a single page, but visits can check it."""
_NO_SOURCE = -1


def is_flood(renewed: int, listed: int) -> bool:
    """Whether a list renews nearly all of its times at once."""
    return renewed >= max(FLOOD_MIN, FLOOD_SHARE * listed)


def quality_rows(sources: Sequence[SignalSource]) -> State:
    """The stored counts of sources as rows of `SourceQuality`."""
    state = SourceQuality().start(len(sources))
    for name in SourceQuality.dtype.names or ():
        state[name] = [getattr(source, name) for source in sources]
    return state


class SourceTable:
    """Sources, and for each page the source that counts and whether it announced a change since the last visit."""

    def __init__(self, source: NDArray[np.intp], *, now: float, sample_order: NDArray[np.int64] | None = None) -> None:
        """`source`: by page the index of its source; -1: no source lists the page. `sample_order`: which announcements
        of a flood count, lowest first; None: all of them."""
        self.sources = SourceQuality()
        self._sample_order = sample_order
        self.source = source
        self.announced: Flags = np.zeros(len(source), dtype=bool)
        self.urls: list[str] = []
        """By source, where sources have a URL."""
        self.finds_pages: Flags = np.zeros(int(source.max(initial=-1)) + 1, dtype=bool)
        """By source: its entries become pages."""
        self._set_sources(self.sources.start(int(source.max(initial=-1)) + 1), now)

    def __len__(self) -> int:
        """The number of sources."""
        return len(self.read_at) - 1

    def _set_sources(self, quality: State, read_at: float | Days) -> None:
        # The last entry belongs to pages without a source: index -1.
        self.all_quality: State = np.concatenate([quality, self.sources.start(1)])
        self.read_at: Days = np.append(np.zeros(len(quality)) + read_at, -np.inf)
        """By source: until when its statements are known; at first it has made none."""
        self._learned()

    def _learned(self) -> None:
        self._precision, self._recall = self.sources.precision(self.all_quality), self.sources.recall(self.all_quality)
        self._precision[_NO_SOURCE] = self._recall[_NO_SOURCE] = 0.0

    @property
    def quality(self) -> State:
        """One row for each source."""
        return self.all_quality[:-1]

    # ── statements of the sources ───────────────────────────────────────────────────────────────────────────

    def load(
        self, sources: Sequence[SignalSource], announcements: Sequence[tuple[int, Announcement]] | None = None
    ) -> None:
        """Replace all sources by the stored ones, and the announcements by their last ones, each with the row of its
        page; None: no source has announced anything new. Of several sources that list a page the one with an
        announcement counts, else the one with most recall."""
        self.urls = [source.url for source in sources]
        self.finds_pages = np.array([source.finds_pages for source in sources], dtype=bool)
        read_at = np.array([(source.read_at or 0.0) / DAY_S for source in sources])
        self._set_sources(quality_rows(sources), read_at)
        if announcements is None:
            return
        index = {source.id: number for number, source in enumerate(sources)}
        self.source[:] = _NO_SOURCE
        self.announced[:] = False
        for row, announcement in announcements:
            number = index.get(announcement.source_id, _NO_SOURCE)
            if number >= 0 and self._is_better(row, number, announcement.news > 0):
                self.source[row], self.announced[row] = number, announcement.news > 0

    def _is_better(self, row: int, number: int, has_news: bool) -> bool:
        before = int(self.source[row])
        quality = self._precision if has_news else self._recall
        return before < 0 or (has_news, quality[number]) > (bool(self.announced[row]), quality[before])

    def read(self, source: int, now: float, rows: Rows, dated: Days, seen_at: Days) -> None:
        """A source was read: it has new entries that the pages in `rows`, last visited at `seen_at`, changed at
        `dated`."""
        before = float(self.read_at[source])
        # The entries of the first read may be of any age.
        late = before - dated if self.quality["reads"][source] else np.zeros(0)
        pages = int(np.count_nonzero(self.source == source))
        self.sources.read(
            self.quality, source, read_counts(pages=pages, days=now - before, entries=len(rows), late_days=late)
        )
        if self._sample_order is not None and is_flood(len(rows), pages):
            sample = np.argsort(self._sample_order[rows], kind="stable")[:FLOOD_SAMPLE]
            rows, dated, seen_at = rows[sample], dated[sample], seen_at[sample]
        self.announced[rows[dated > seen_at]] = True
        self.read_at[source] = now
        self._learned()

    def visited(self, rows: Rows) -> None:
        """These pages were visited: announcements before the visit no longer count."""
        self.announced[rows] = False

    def checks(
        self, rows: Rows, elapsed: Days, changed: Flags, unchanged: Column, unchanged_covered: Column
    ) -> CountedSources:
        """These pages were visited: what their sources said, compared with the forecast and with the result."""
        return self.sources.visit_counts(
            len(self), self.source[rows], elapsed, self.announced[rows], changed, unchanged, unchanged_covered
        )

    def add(self, counted: CountedSources) -> None:
        """Add checks to the quality of the sources."""
        self.sources.add(self.quality, counted)
        self._learned()

    # ── for the values of pages ─────────────────────────────────────────────────────────────────────────────

    def covered_days(self, rows: Rows, seen_at: Days) -> Days:
        """The part of the time since these pages were seen that their source's statements cover."""
        covered_until = self.read_at - self.sources.delay_days(self.all_quality)
        return np.maximum(covered_until[self.source[rows]] - seen_at, 0.0)

    def quality_of(self, rows: Rows) -> tuple[Column, Column]:
        """(precision, recall) of the source of each page; 0 for pages without a source."""
        source = self.source[rows]
        return self._precision[source], self._recall[source]

    def source_of(self, row: int) -> str | None:
        """The URL of the source that counts for a page; None if no source lists the page."""
        number = int(self.source[row])
        return self.urls[number] if 0 <= number < len(self.urls) else None
