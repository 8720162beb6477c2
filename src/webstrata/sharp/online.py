"""The scheduler of the visits of a capture whose pages are found while it runs.

It is pure and deterministic: the caller reports the pages that were found and the times of visits, in seconds on its
own clock. The revisits are planned by `passes.py`.

    scheduler = OnlineScheduler(slot_s=5.0)
    scheduler.discovered([seed], rates=[1e-5])
    while (page := scheduler.next_visit()) is not None:
        …                                          # download it; at most one request in slot_s
        scheduler.visited(page, start, end)
        scheduler.discovered(links, rates, found_on=page)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from webstrata.errors import UsageError
from webstrata.sharp.frontier import Frontier
from webstrata.sharp.rates import checked_rates, checked_weights
from webstrata.sharp.site_size import SiteSize
from webstrata.sharp.survival import survival_of_beliefs


@dataclass
class _KnownPage:
    row: int
    rate: float
    """Changes per second."""
    shape: float
    """Of the Gamma belief about the rate; infinite: the rate is known exactly."""
    weight: float
    depth: int
    """Links from a seed."""
    visit: tuple[float, float] | None = None
    """Start and end, in seconds on the caller's clock."""


class OnlineScheduler:
    """Chooses visits by least regret.

    `count`: the number of pages if it is known (from a sitemap or a list); else it is estimated from what visits find.
    `max_pages`: further pages are not accepted.
    """

    def __init__(self, slot_s: float = 1.0, *, count: int | None = None, max_pages: int | None = None) -> None:
        if not (np.isfinite(slot_s) and slot_s > 0):
            raise UsageError(f"slots of {slot_s} seconds: the time between two requests must be above 0.")
        self._slot_s = slot_s
        self._count = count
        self._max_pages = max_pages
        self._pages: dict[str, _KnownPage] = {}
        self._ids: list[str] = []
        self._site_size = SiteSize()
        self._frontier = Frontier()

    def discovered(
        self,
        ids: Sequence[str],
        rates: ArrayLike,
        weights: ArrayLike | None = None,
        *,
        shapes: Sequence[float | None] | None = None,
        found_on: str | None = None,
    ) -> list[str]:
        """Add pages to the capture and return the ids of the new ones. Pages that are already known do not change.

        `rates`: changes per second. `shapes`: of the Gamma beliefs about the rates; None means that a rate, or all
        rates, are known exactly. `found_on`: the page that links to them; None for seeds. Call this after every visit
        with all pages in scope that the visited page links to, even if there are none: the number of new pages
        determines the estimated size of the site.
        """
        parent = None if found_on is None else self._page(found_on)
        new: list[str] = []
        if len(ids):
            page_rates, page_weights = checked_rates(rates), checked_weights(weights, len(ids))
            if page_rates.size != len(ids):
                raise UsageError(f"{page_rates.size} rates for {len(ids)} pages: give every page one.")
            page_shapes = [None] * len(ids) if shapes is None else shapes
            depth = 0 if parent is None else parent.depth + 1
            columns = zip(ids, page_rates.tolist(), page_weights.tolist(), page_shapes, strict=True)
            for page_id, rate, weight, shape in columns:
                if page_id not in self._pages and not self._full():
                    self._add(page_id, rate, np.inf if shape is None else shape, weight, depth)
                    new.append(page_id)
        if parent is not None:
            self._site_size.learn(parent.depth, len(new))
        return new

    def visited(self, page_id: str, start: float, end: float) -> None:
        """Record that the page was downloaded between these instants."""
        if not (np.isfinite(start) and np.isfinite(end) and start <= end):
            raise UsageError(f"a visit from {start} to {end}: it must end after it starts.")
        page = self._page(page_id)
        page.visit = (start, end)
        self._frontier.remove(page.row)

    def gave_up(self, page_id: str) -> None:
        """Remove a page that cannot be downloaded from the plan."""
        self._frontier.remove(self._page(page_id).row)

    def next_visit(self) -> str | None:
        """The page to visit now; None if all pages found so far were visited or given up."""
        if not self._frontier.waiting().size:
            return None
        row = self._frontier.next(self.unknown(), self._site_size, estimated=self._count is None)
        return self._ids[row]

    def unknown(self) -> int:
        """The expected number of pages not found yet."""
        known = len(self._pages)
        if self._count is not None:
            return max(0, self._count - known)
        estimate = self._site_size.unknown(self._frontier.depths(), known)
        return estimate if self._max_pages is None else max(0, min(estimate, self._max_pages - known))

    def expected(self) -> float:
        """The expected (weighted) number of visited pages that become sharp.

        Assumes one more slot for every waiting page, then revisits that mirror the visits. The instant is the middle of
        the last visit, whose download serves as visit and revisit.
        """
        visits = [(page, page.visit) for page in self._pages.values() if page.visit is not None]
        if not visits:
            return 0.0
        instant = sum(max(visit for _, visit in visits)) / 2 + self._frontier.waiting().size * self._slot_s
        pages = [page for page, _ in visits]
        spans = np.array([2.0 * max(0.0, instant - start) for _, (start, _) in visits])
        survival = survival_of_beliefs([page.rate for page in pages], [page.shape for page in pages])
        return float(np.dot([page.weight for page in pages], survival.unchanged(np.arange(spans.size), spans)))

    def _add(self, page_id: str, rate: float, shape: float, weight: float, depth: int) -> None:
        self._pages[page_id] = _KnownPage(len(self._ids), rate, shape, weight, depth)
        self._ids.append(page_id)
        self._frontier.add(rate * self._slot_s, shape, weight, depth)

    def _page(self, page_id: str) -> _KnownPage:
        if page_id not in self._pages:
            raise UsageError(f"page {page_id} is not known to this capture: report it as discovered first.")
        return self._pages[page_id]

    def _full(self) -> bool:
        return self._max_pages is not None and len(self._pages) >= self._max_pages
