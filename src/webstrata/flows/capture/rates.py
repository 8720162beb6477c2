"""How often the pages of a site change, and how sure that is: by our own visits, else by what its sitemap says, else as
its other pages do, else as any page does. Always a belief with a shape: plans are made with all of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from statistics import median

import numpy as np
from msgspec import Struct

from webstrata import urls
from webstrata.clock import DAY_S
from webstrata.flows.capture.events import FoundPage
from webstrata.flows.capture.pages import SitemapHints
from webstrata.ports import Store
from webstrata.predict.gamma import learned
from webstrata.predict.visit_history import VisitHistory
from webstrata.records import Page, PageRole, Visit
from webstrata.sharp.rates import POPULATION, RatePrior, site_prior

_REVERTED, _CHANGES = 1.0, 50.0
"""So many changes in so many bring an earlier content back, where nothing is known; the site's own are added."""
_LATEST = 5
"""So many visits tell how long a download takes."""


class PastChanges(Struct, frozen=True, kw_only=True):
    """What our own visits know of a site."""

    prior: RatePrior = POPULATION
    pages: int = 0
    """Whose visits made the prior."""
    changes_at: tuple[float, ...] = ()
    """When visits found changes."""
    reversion: float = _REVERTED / _CHANGES


async def past_changes(store: Store, seed: str) -> PastChanges:
    """Read the log of all pages on the seed's host."""
    changes: list[int] = []
    observed_s: list[float] = []
    changes_at: list[float] = []
    reverted = 0
    async for page in store.pages.stream(host=urls.host_of(seed)):
        if page.role is not PageRole.PAGE or page.visits < 2:
            continue
        seen = await _sightings(store, page)
        if len(seen) < 2:
            continue
        found = [visit for visit in seen[1:] if visit.counts]
        changes.append(len(found))
        observed_s.append(seen[-1].at - seen[0].at)
        changes_at += [visit.at for visit in found]
        reverted += sum(visit.reverted for visit in found)
    return PastChanges(
        prior=site_prior(changes, observed_s),
        pages=len(changes),
        changes_at=tuple(changes_at),
        reversion=(reverted + _REVERTED) / (sum(changes) + _CHANGES),
    )


class PageRates:
    """Rates and weights of single pages."""

    def __init__(
        self,
        store: Store,
        past: PastChanges,
        weights: Mapping[str, float],
        given: Mapping[str, float] | None = None,
        listed: Mapping[str, SitemapHints] | None = None,
    ) -> None:
        """`given`: rates per second that are known for sure; `listed`: what sitemaps say of pages."""
        self._store = store
        self._past = past
        self._weights = weights
        self._given = given or {}
        self._listed = listed or {}
        self._patterns = [pattern for pattern in weights if "*" in pattern or "?" in pattern]

    async def of(self, pages: Sequence[str]) -> list[FoundPage]:
        return [await self._one(url) for url in pages]

    async def _one(self, url: str) -> FoundPage:
        page = await self._store.pages.get(url)
        seen = await _sightings(self._store, page) if page is not None and page.visits else []
        belief, origin = self._belief(url, seen)
        return FoundPage(
            url,
            belief.rate,
            origin,
            self._weight(url, page),
            shape=None if url in self._given else belief.shape,
            lasts_s=median(visit.duration_s for visit in seen[-_LATEST:]) if seen else None,
        )

    def _belief(self, url: str, seen: Sequence[Visit]) -> tuple[RatePrior, str]:
        """What is held of a page's rate, and by what."""
        prior = self._past.prior
        if url in self._given:
            return RatePrior(self._given[url], 1.0), "given"
        if len(seen) > 1:
            return self._learned(seen), f"{len(seen)} visits"
        if url in self._listed and (told := self._listed[url]).tells:
            return prior.told(told.every_s, told.unchanged_s), "the site's sitemap"
        return prior, f"{self._past.pages} pages of the site" if self._past.pages else "pages in general"

    def _learned(self, seen: Sequence[Visit]) -> RatePrior:
        """The belief that the prior and all visits make."""
        at = np.array([visit.at for visit in seen]) / DAY_S
        history = VisitHistory(
            offsets=np.array([0, len(seen) - 1], dtype=np.int64),
            elapsed_days=np.maximum(np.diff(at), 0.0),
            changed=np.array([visit.counts for visit in seen[1:]], dtype=bool),
            at_days=at[1:],
        )
        prior = self._past.prior
        shape, days = learned(history, np.array([prior.shape]), np.array([prior.exposure_s / DAY_S]))
        return RatePrior(float(shape[0]), float(days[0]) * DAY_S)

    def _weight(self, url: str, page: Page | None) -> float:
        if url in self._weights:
            return self._weights[url]
        for pattern in self._patterns:
            if fnmatchcase(url, pattern):
                return self._weights[pattern]
        return page.weight if page is not None and page.role is PageRole.PAGE else 1.0


async def _sightings(store: Store, page: Page) -> list[Visit]:
    """Visits that saw the page, or that it was gone; oldest first."""
    visits = await store.visit_log.of_page(page.id, order="oldest")
    return [visit for visit in visits if visit.failure is None]
