"""Change rates and weights of the pages of a capture.

A rate comes from our own visits of the page, else from the site's sitemap, else from the other pages of the site, else
from the population of all pages (`sharp/belief.py`). Plans use the whole belief, as a Gamma distribution that has the
same survival over the duration of the capture.

Sitemaps state `changefreq` and `lastmod`. A sitemap that gives most of its pages the same `lastmod`, or the time at
which it was generated, says nothing about the changes of pages; such times are ignored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import pairwise
from statistics import median

from msgspec import Struct

from webstrata import urls
from webstrata.clock import DAY_S
from webstrata.flows.capture.events import FoundPage
from webstrata.observe.data.sitemap import SitemapEntry
from webstrata.ports import Store
from webstrata.records import Page, PageRole, Visit
from webstrata.sharp.belief import ANY_PAGE, RateBelief, SiteEvidence, evidence
from webstrata.sharp.rates import Numbers, RatePrior
from webstrata.wording import counted

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
_MAX_VISITS = 500
"""Beliefs are learned from this number of the latest visits of a page."""
_USUAL_PAGES = 100
"""The assumed number of pages of a site about which nothing is known."""
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

    belief: RateBelief = ANY_PAGE
    """The belief about pages of the site without a history."""
    pages: int = 0
    """The number of pages whose visits determine it."""
    changes_at: tuple[float, ...] = ()
    """The times of visits that found changes."""
    reversion: float = _PRIOR_REVERTED / _PRIOR_CHANGES
    """The share of changes that restored an earlier content."""


async def past_changes(store: Store, seed: str, now: float) -> PastChanges:
    """Read the visit log of all pages on the seed's host."""
    site = SiteEvidence()
    changes_at: list[float] = []
    reverted = 0
    async for page in store.pages.stream(host=urls.host_of(seed)):
        if page.role is not PageRole.PAGE or page.visits < 2:
            continue
        visits = await _successful_visits(store, page)
        if len(visits) < 2:
            continue
        site.add(_evidence(visits, now))
        changed = [visit for visit in visits[1:] if visit.counts]
        changes_at += [visit.at for visit in changed]
        reverted += sum(visit.reverted for visit in changed)
    return PastChanges(
        belief=site.belief(),
        pages=site.pages,
        changes_at=tuple(changes_at),
        reversion=(reverted + _PRIOR_REVERTED) / (len(changes_at) + _PRIOR_CHANGES),
    )


def capture_span_s(pages: int | None, past: PastChanges, slot_s: float) -> float:
    """The expected duration of a capture, for which beliefs are approximated. `pages`: their number if it is known."""
    count = pages if pages is not None else past.pages or _USUAL_PAGES
    return 2.0 * max(2, count) * slot_s


class PageRates:
    """Rates and weights of single pages."""

    def __init__(
        self,
        store: Store,
        past: PastChanges,
        weights: Mapping[str, float],
        *,
        now: float,
        span_s: float,
        exact: Mapping[str, float] | None = None,
        hints: Mapping[str, SitemapHints] | None = None,
    ) -> None:
        """`span_s`: the expected duration of the capture. `exact`: rates per second that are known exactly. `hints`:
        the statements of sitemaps. Both by URL."""
        self._store = store
        self._past = past
        self._now = now
        self._span_s = span_s
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
        if url in self._exact:
            return RatePrior(self._exact[url], 1.0), "given"
        belief, origin = self._past.belief, "pages in general"
        if len(visits) > 1:
            belief, origin = belief.after(_evidence(visits, self._now)), counted(len(visits), "visit")
        elif url in self._hints:
            hints = self._hints[url]
            belief, origin = belief.with_sitemap(hints.every_s, hints.unchanged_s), "the site's sitemap"
        elif self._past.pages:
            origin = f"{counted(self._past.pages, 'page')} of the site"
        return belief.as_gamma(self._span_s), origin

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


def _evidence(visits: Sequence[Visit], now: float) -> Numbers:
    """What the latest visits say about the changes of a page."""
    latest = visits[-_MAX_VISITS:]
    return evidence([visit.at for visit in latest], [_differ(*pair) for pair in pairwise(latest)], now)


def _differ(before: Visit, after: Visit) -> bool:
    """Whether a visit found another text than the visit before, or another content for other reasons.

    Learned noise does not count as a change for the crawl loop, but makes the two downloads of a capture differ.
    """
    return after.counts or (before.text or before.raw) != (after.text or after.raw)
