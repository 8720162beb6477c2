"""The histories of sites, collected page by page: an update of a page is an update of its site."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from webstrata.columns import Days, Rows
from webstrata.predict.updates import merged
from webstrata.predict.visit_history import VisitHistory, joined
from webstrata.site_levels import depth_of, site_of


class SiteHistories:
    """Sites in the order in which their first pages are added. All intervals of all pages are kept in memory."""

    def __init__(self, max_depth: int) -> None:
        self._max_depth = max_depth
        self._number: dict[str, int] = {}
        self.urls: list[str] = []
        """By site: the URL of its page at the least depth."""
        self._depth: list[int] = []
        self._seen_at: list[float] = []
        self._site_of_page: list[NDArray[np.intp]] = []
        self._histories: list[VisitHistory] = []

    def add(self, urls: Sequence[str], history: VisitHistory, seen_at: Days) -> None:
        """Add pages with their histories; pages at a greater depth are left out."""
        depths = [depth_of(url) for url in urls]
        chosen = np.array([depth <= self._max_depth for depth in depths], dtype=bool)
        sites = [
            self._add_page(url, depth, at)
            for url, depth, at in zip(urls, depths, seen_at.tolist(), strict=True)
            if depth <= self._max_depth
        ]
        self._site_of_page.append(np.array(sites, dtype=np.intp))
        self._histories.append(history.of_pages(chosen))

    def _add_page(self, url: str, depth: int, seen_at: float) -> int:
        number = self._number.setdefault(site_of(url), len(self.urls))
        if number == len(self.urls):
            self.urls.append(url)
            self._depth.append(depth)
            self._seen_at.append(seen_at)
            return number
        if depth < self._depth[number]:
            self.urls[number], self._depth[number] = url, depth
        self._seen_at[number] = float(np.fmax(self._seen_at[number], seen_at))
        return number

    @property
    def seen_at(self) -> Days:
        """When a page of each site was last seen, in seconds; NaN if never."""
        return np.array(self._seen_at)

    def merged(self) -> VisitHistory:
        """The history of each site."""
        site: Rows = np.concatenate(self._site_of_page)
        return merged(joined(self._histories), site, len(self.urls))
