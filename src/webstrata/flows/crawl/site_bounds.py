"""`SiteBounds`: how many pages of a watched site one source, one path and sitemaps may fill, and what was left out.

A site has a limit of pages (`watch --site --max-pages`). Without further bounds an endless set of URLs takes all of
them: sitemaps that list sitemaps, a sitemap of generated pages, links with ever new session ids. The counts are stored
with the site, so that the bounds hold over restarts; `docs/how-to/watch-a-site.md` describes them.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable

from webstrata.records import Page, Site, SiteFind

log = logging.getLogger("webstrata.crawl")

MAX_INDEX_DEPTH = 3
"""Of sitemap indexes that list indexes. The protocol allows none, some sites use one level, traps have no end."""
SOURCE_SHARE = 0.5
"""Of the pages of a site, one sitemap or page may add this share: the other half stays for all other sources."""
SOURCE_LEAST = 1000
"""What one source may add in any case: a small site is often listed by a single sitemap."""
SITEMAP_SHARE = 0.1
"""Sitemaps may be this share of the pages of a site; each may list 50,000 pages."""
SITEMAP_LEAST = 50
PATH_SHARE = 0.1
"""Of the pages of a site, those that differ only in the query may be this share: search forms, calendars."""
PATH_LEAST = 100
VARIANT_SHARE = 0.5
"""All pages that differ from another one only in the query, together: session ids multiply all pages of a site."""

FindKey = tuple[int, str, str]
"""Site, kind and name of a `SiteFind`."""

_REASONS = {
    "limit": "the site has its {limit} pages",
    "source": "one source may add {source} of the site's {limit} pages",
    "sitemaps": "a site of {limit} pages may have {sitemaps} sitemaps",
    "depth": f"sitemap indexes may list indexes over {MAX_INDEX_DEPTH} levels only",
    "path": "of pages that differ only in the query, {path} are added",
    "variants": "of all pages that differ from another one only in the query, {variants} are added",
}


def most(site: Site, why: str) -> int:
    """How many pages of the site a bound allows."""
    limit = site.max_pages
    return {
        "source": max(int(limit * SOURCE_SHARE), SOURCE_LEAST),
        "sitemaps": min(max(int(limit * SITEMAP_SHARE), SITEMAP_LEAST), limit // 2),
        "path": max(int(limit * PATH_SHARE), PATH_LEAST),
        "variants": int(limit * VARIANT_SHARE),
    }.get(why, limit)


def reason(site: Site, why: str) -> str:
    """The bound in words, and what to do to get more pages."""
    allowed = {name: f"{most(site, name):,}" for name in ("limit", "source", "sitemaps", "path", "variants")}
    return _REASONS[why].format(**allowed) + ". Raise --max-pages of the site, or watch single pages by their URL"


def path_key(url: str) -> str:
    """The URL without its query and without the parameters of its path (`;jsessionid=…`)."""
    return url.partition("?")[0].partition(";")[0]


def is_variant(url: str) -> bool:
    return path_key(url) != url


class SiteBounds:
    """The counts of the sites, as far as they were loaded, and what changed since."""

    def __init__(self, said: set[tuple[int, str]] | None = None) -> None:
        """`said`: (site, bound) of what was logged before, for a crawl that makes several of these."""
        self._said = set() if said is None else said
        self._counts: dict[FindKey, SiteFind] = {}
        self._found: Counter[FindKey] = Counter()
        self._left: dict[FindKey, Counter[str]] = {}

    def keys(self, page: Page, site: Site, links: Iterable[str]) -> set[FindKey]:
        """The counts that are needed for the new links of a page."""
        paths = {(site.id, "path", path_key(link)) for link in links if is_variant(link)}
        return paths | {(site.id, "source", page.url), (site.id, "sitemaps", ""), (site.id, "variants", "")}

    def load(self, finds: Iterable[SiteFind]) -> None:
        for find in finds:
            self._counts[find.site_id, find.kind, find.name] = find

    def _count(self, key: FindKey) -> int:
        stored = self._counts.get(key)
        return (0 if stored is None else stored.found) + self._found[key]

    def against(self, site: Site, source: str, link: str, index_depth: int | None) -> str | None:
        """The bound that forbids this link; None if it may be added. `index_depth`: the link is a sitemap, with so many
        indexes above it."""
        if index_depth is not None:
            if index_depth > MAX_INDEX_DEPTH:
                return "depth"
            return "sitemaps" if self._count((site.id, "sitemaps", "")) >= most(site, "sitemaps") else None
        if self._count((site.id, "source", source)) >= most(site, "source"):
            return "source"
        if not is_variant(link) or site.include:  # what a user asked for by a pattern is not bounded by its form
            return None
        same = self._count((site.id, "path", path_key(link)))
        if same >= most(site, "path"):
            return "path"
        return "variants" if same and self._count((site.id, "variants", "")) >= most(site, "variants") else None

    def add(self, site: Site, source: str, link: str, *, is_sitemap: bool) -> None:
        """The link becomes a page."""
        if is_sitemap:
            self._found[site.id, "sitemaps", ""] += 1
            return
        self._found[site.id, "source", source] += 1
        if is_variant(link):
            path = (site.id, "path", path_key(link))
            if self._count(path):
                self._found[site.id, "variants", ""] += 1
            self._found[path] += 1

    def left_out(self, site: Site, source: str, whys: Counter[str]) -> None:
        """What the bounds left out of the links of this source, by bound. Said once for each site and bound: a trap has
        endless sources."""
        key = (site.id, "source", source)
        before = self._counts.get(key)
        if whys:
            why, _ = whys.most_common(1)[0]
            if (before is None or not before.left_out) and (site.id, why) not in self._said:
                self._said.add((site.id, why))
                log.warning("%d links of %s are not watched: %s.", whys.total(), source, reason(site, why))
        if whys or (before is not None and before.left_out):
            self._left[key] = whys

    def take(self) -> tuple[SiteFind, ...]:
        """What changed since the last call: pages to add to the counts, and what was left out at the last visit."""
        changed = []
        for key in sorted(self._found.keys() | self._left.keys()):
            site_id, kind, name = key
            before, whys = self._counts.get(key), self._left.get(key)
            left, why = (0, "") if before is None else (before.left_out, before.why)
            if whys is not None:
                left, why = whys.total(), whys.most_common(1)[0][0] if whys else ""
            find = SiteFind(site_id=site_id, kind=kind, name=name, found=self._found[key], left_out=left, why=why)
            changed.append(find)
            total = find.found + (0 if before is None else before.found)
            self._counts[key] = SiteFind(site_id=site_id, kind=kind, name=name, found=total, left_out=left, why=why)
        self._found.clear()
        self._left.clear()
        return tuple(changed)
