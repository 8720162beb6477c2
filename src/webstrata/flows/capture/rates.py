"""Change rates and weights of the pages of a capture.

A rate comes from our own visits of the page, else from the site's sitemap, else from the other pages of the site, else
from the population of all pages. It is a Gamma belief with a shape; plans use the whole belief.

Sitemaps state `changefreq` and `lastmod`. A sitemap that gives most of its pages the same `lastmod`, or the time at
which it was generated, says nothing about the changes of pages; such times are ignored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from statistics import median

import numpy as np
from msgspec import Struct

from webstrata import urls
from webstrata.clock import DAY_S
from webstrata.flows.capture.events import FoundPage
from webstrata.observe.data.sitemap import SitemapEntry
from webstrata.ports import Store
from webstrata.predict.gamma import learned
from webstrata.predict.visit_history import VisitHistory
from webstrata.records import Page, PageRole, Visit
from webstrata.sharp.rates import POPULATION, RatePrior, site_prior

_EVERY_S = {
    "always": 3600.0,
    "hourly": 3600.0,
    "daily": DAY_S,
    "weekly": 7 * DAY_S,
    "monthly": 30 * DAY_S,
    "yearly": 365 * DAY_S,
    "never": 10 * 365 * DAY_S,
}
_MIN_AGE_S = 60.0
"""A younger `lastmod` is assumed to be the time at which the sitemap was generated."""
_MAX_EQUAL_SHARE = 0.5
"""If more than this share of the pages have the same `lastmod`, all times of the sitemap are ignored."""
_MIN_DATED = 4
"""Sitemaps with fewer dated pages are not checked for equal times."""
_PRIOR_REVERTED, _PRIOR_CHANGES = 1.0, 50.0
"""The assumed number of changes that restored an earlier content, and of all changes; the site's own are added."""
_LATEST_VISITS = 5
"""The number of visits from which the duration of a download is estimated."""


class SitemapHints(Struct, frozen=True, kw_only=True):
    """What a sitemap states about one page."""

    every_s: float | None = None
    """The page changes once in this time (`changefreq`)."""
    unchanged_s: float | None = None
    """The time since the page's last change (`lastmod`)."""


def sitemap_hints(entries: Sequence[SitemapEntry], now: float) -> dict[str, SitemapHints]:
    """The statements of a sitemap, by page."""
    every_s = {entry.url: _EVERY_S[entry.changefreq] for entry in entries if entry.changefreq in _EVERY_S}
    unchanged_s = _unchanged_s({entry.url: entry.lastmod for entry in entries}, now)
    pages = {*every_s, *unchanged_s}
    return {page: SitemapHints(every_s=every_s.get(page), unchanged_s=unchanged_s.get(page)) for page in pages}


def _unchanged_s(lastmods: Mapping[str, float | None], now: float) -> dict[str, float]:
    """Seconds since each page's last change, where the sitemap is credible."""
    dated = {page: at for page, at in lastmods.items() if at is not None and at < now - _MIN_AGE_S}
    counts = Counter(dated.values())
    if len(dated) >= _MIN_DATED and counts.most_common(1)[0][1] > _MAX_EQUAL_SHARE * len(dated):
        return {}
    return {page: now - at for page, at in dated.items()}


class PastChanges(Struct, frozen=True, kw_only=True):
    """What our own visits show about a site."""

    prior: RatePrior = POPULATION
    """The prior for pages of the site without a history."""
    pages: int = 0
    """The number of pages whose visits determine the prior."""
    changes_at: tuple[float, ...] = ()
    """The times of visits that found changes."""
    reversion: float = _PRIOR_REVERTED / _PRIOR_CHANGES
    """The share of changes that restored an earlier content."""


async def past_changes(store: Store, seed: str) -> PastChanges:
    """Read the visit log of all pages on the seed's host."""
    changes: list[int] = []
    observed_s: list[float] = []
    changes_at: list[float] = []
    reverted = 0
    async for page in store.pages.stream(host=urls.host_of(seed)):
        if page.role is not PageRole.PAGE or page.visits < 2:
            continue
        visits = await _successful_visits(store, page)
        if len(visits) < 2:
            continue
        changed = [visit for visit in visits[1:] if visit.counts]
        changes.append(len(changed))
        observed_s.append(visits[-1].at - visits[0].at)
        changes_at += [visit.at for visit in changed]
        reverted += sum(visit.reverted for visit in changed)
    return PastChanges(
        prior=site_prior(changes, observed_s),
        pages=len(changes),
        changes_at=tuple(changes_at),
        reversion=(reverted + _PRIOR_REVERTED) / (sum(changes) + _PRIOR_CHANGES),
    )


class PageRates:
    """Rates and weights of single pages."""

    def __init__(
        self,
        store: Store,
        past: PastChanges,
        weights: Mapping[str, float],
        exact: Mapping[str, float] | None = None,
        hints: Mapping[str, SitemapHints] | None = None,
    ) -> None:
        """`exact`: rates per second that are known exactly. `hints`: the statements of sitemaps. Both by URL."""
        self._store = store
        self._past = past
        self._weights = weights
        self._exact = exact or {}
        self._hints = hints or {}
        self._patterns = [pattern for pattern in weights if "*" in pattern or "?" in pattern]

    async def of(self, pages: Sequence[str]) -> list[FoundPage]:
        return [await self._found_page(url) for url in pages]

    async def _found_page(self, url: str) -> FoundPage:
        page = await self._store.pages.get(url)
        visits = await _successful_visits(self._store, page) if page is not None and page.visits else []
        belief, origin = self._belief(url, visits)
        return FoundPage(
            url,
            belief.rate,
            origin,
            self._weight(url, page),
            shape=None if url in self._exact else belief.shape,
            duration_s=median(visit.duration_s for visit in visits[-_LATEST_VISITS:]) if visits else None,
        )

    def _belief(self, url: str, visits: Sequence[Visit]) -> tuple[RatePrior, str]:
        """The belief about a page's rate, and where it comes from."""
        prior = self._past.prior
        if url in self._exact:
            return RatePrior(self._exact[url], 1.0), "given"
        if len(visits) > 1:
            return self._posterior(visits), f"{len(visits)} visits"
        if url in self._hints:
            hints = self._hints[url]
            return prior.with_sitemap(hints.every_s, hints.unchanged_s), "the site's sitemap"
        return prior, f"{self._past.pages} pages of the site" if self._past.pages else "pages in general"

    def _posterior(self, visits: Sequence[Visit]) -> RatePrior:
        """The belief after all visits, starting from the prior of the site."""
        at = np.array([visit.at for visit in visits]) / DAY_S
        history = VisitHistory(
            offsets=np.array([0, len(visits) - 1], dtype=np.int64),
            elapsed_days=np.maximum(np.diff(at), 0.0),
            changed=np.array([visit.counts for visit in visits[1:]], dtype=bool),
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


async def _successful_visits(store: Store, page: Page) -> list[Visit]:
    """Visits without a failure, oldest first."""
    visits = await store.visit_log.of_page(page.id, order="oldest")
    return [visit for visit in visits if visit.failure is None]
