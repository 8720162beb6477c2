"""What the sources of a population have told: lists that are fetched, reports that come by themselves.

One book holds one kind: each site has at most one source in it. What a source is worth (recall, false alarms, delay) is
learned in `predict.lists`; here is only what it said, and how far its word reaches.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webstrata.columns import Column, Days, Flags, Rows
from webstrata.predict.lists import SourceQuality


class SourceTable:
    """One source for each site, and the newest change that it told of each page."""

    def __init__(self, site: NDArray[np.intp], *, now: float, sources: SourceQuality | None = None) -> None:
        self.site = site
        self.sources = sources or SourceQuality()
        self.quality = self.sources.start(int(site.max(initial=-1)) + 1)
        self.looked_at: Days = np.full(len(self.quality), now)
        """Until when each source's word reaches; at first it has said nothing."""
        self.looks: NDArray[np.int64] = np.zeros(len(self.quality), dtype=np.int64)
        self.told_at: Days = np.full(len(site), -np.inf)

    def looked(self, source: int, now: float, rows: Rows, dated: Days) -> None:
        """A source was read: of the pages in `rows` it says that they changed last at `dated`."""
        news = dated > self.told_at[rows]
        if self.looks[source]:  # what the first look shows may be of any age
            self.sources.dated(self.quality, source, np.maximum(self.looked_at[source] - dated[news], 0.0))
        pages = int(np.count_nonzero(self.site == source))
        self.sources.looked(self.quality, source, int(news.sum()), pages * (now - float(self.looked_at[source])))
        self.told_at[rows[news]] = dated[news]
        self.looked_at[source] = now
        self.looks[source] += 1

    def covered_days(self, rows: Rows, seen_at: Days) -> Days:
        """How much of the time since these pages were seen their source has looked at."""
        reach = self.looked_at - self.sources.delay_days(self.quality)
        return np.maximum(reach[self.site[rows]] - seen_at, 0.0)

    def told(self, rows: Rows, seen_at: Days) -> Flags:
        """Whether a change since these pages were seen was told."""
        flags: Flags = self.told_at[rows] > seen_at
        return flags

    def quality_of(self, rows: Rows) -> tuple[Column, Column]:
        """(precision, recall) of the source of each page."""
        source = self.site[rows]
        return self.sources.precision(self.quality)[source], self.sources.recall(self.quality)[source]

    def noise(self, now: float) -> Column:
        """Entries without cause that the list of each page's site may have got since it was read."""
        per_day = self.sources.told_per_day(self.quality) * (1.0 - self.sources.precision(self.quality))
        noise: Column = (per_day * (now - self.looked_at))[self.site]
        return noise
