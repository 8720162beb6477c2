"""New pages from the links, sitemaps and requisites of a visited one, within the limits of its site."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from itertools import islice

from webstrata import urls
from webstrata.flows.crawl.parse import ParsedContent
from webstrata.records import NewPage, Page, PageRole, PageRules, Site

MAX_ENTRIES = 50_000
"""Per feed or sitemap; the standard allows no more in one file."""
MAX_REQUISITES = 500
"""Per page: more is a trap, not a page."""
MAX_SITEMAPS = 500
"""Per robots.txt or sitemap index."""
MAX_INDEX_DEPTH = 3
"""Of indexes that list indexes: the standard allows none, some sites do it once, traps for ever."""


class Discovery:
    """Knows the watched sites and how many pages each may still get."""

    def __init__(self, sites: Iterable[Site], sizes: dict[int, int], *, due_at: float) -> None:
        self._due_at = due_at
        self._sites = {site.id: site for site in sites}
        self._room = {site.id: site.max_pages - sizes.get(site.id, 0) for site in self._sites.values()}
        self._known: set[str] = set()
        self._sitemaps: list[NewPage] = []

    def wants_links(self, page: Page) -> bool:
        site = self._site(page)
        return site is not None and page.role is not PageRole.REQUISITE and page.depth < site.max_depth

    def wants_requisites(self, page: Page) -> bool:
        return page.requisites and page.role is PageRole.PAGE

    def met(self, page: Page, look: ParsedContent) -> list[str]:
        """What this page leads to within its site and was not met in this round yet."""
        site = self._site(page)
        if site is None or self._room[site.id] <= 0:
            return []
        return [link for link, _ in self._leads(page, site, look) if link not in self._known]

    def known(self, urls: Iterable[str]) -> None:
        """These are pages already: they take up no more room."""
        self._known.update(urls)

    def pages(self, page: Page, look: ParsedContent) -> list[NewPage]:
        """New pages of the same site that this one links to (or lists, if it is a sitemap)."""
        site = self._site(page)
        found: list[NewPage] = []
        if site is None:
            return found
        for link, is_sitemap in self._leads(page, site, look):
            if self._room[site.id] <= 0:
                break
            if link in self._known:
                continue
            self._known.add(link)
            self._room[site.id] -= 1
            if is_sitemap:
                found.append(sitemap_page(link, site, self._due_at))
            else:
                found.append(_page(link, site, page.depth + 1, self._due_at))
        return found

    def _leads(self, page: Page, site: Site, look: ParsedContent) -> Iterator[tuple[str, bool]]:
        """Links that belong to the site, then further sitemaps of it (true), which may lie anywhere on its host."""
        if page.depth >= site.max_depth:
            return
        for link in look.links:
            if belongs(link, site):
                yield link, False
        for link in look.sitemaps[:MAX_SITEMAPS]:
            if urls.in_scope(link, site.url, "domain"):
                yield link, True

    def sitemaps_listed(self, origin: str, sitemaps: Iterable[str]) -> None:
        """An origin's robots.txt names sitemaps: they are pages of the sites that live there."""
        for site in self._sites.values():
            if urls.origin(site.url) == origin:
                found = (urls.join(origin, sitemap) for sitemap in islice(sitemaps, MAX_SITEMAPS))
                self._sitemaps += [sitemap_page(url, site, self._due_at) for url in found if url is not None]

    def take_sitemaps(self) -> list[NewPage]:
        """Sitemaps named since the last call."""
        taken, self._sitemaps = self._sitemaps, []
        return taken

    def entries(self, page: Page, look: ParsedContent) -> list[NewPage]:
        """Pages that a feed, a sitemap or an RDF document lists: watched like it, for their own sake.

        The sitemaps that an index lists are read for their entries as the index is. A feed chose its entries for its
        readers; RDF says of anything in the world what it is the same as, so that only what is in scope becomes a page.
        """
        wanted = look.entries[:MAX_ENTRIES]
        if look.fingerprint.data_kind == "graph":
            wanted = tuple(url for url in wanted if url != page.url and self._near(url, page))
        listed: list[tuple[str, PageRules | None]] = [(url, None) for url in wanted]
        listed += [(url, page.page_rules) for url in self._further(page, look)]
        return [
            NewPage(
                url=url,
                host=urls.host_of(url),
                tags=page.tags,
                weight=page.weight,
                depth=page.depth + 1,
                requisites=page.requisites,
                next_at=self._due_at,
                page_rules=page_rules,
            )
            for url, page_rules in listed
        ]

    def _near(self, url: str, page: Page) -> bool:
        """In the scope of the page's site; of a page that is watched alone, on its host."""
        site = self._site(page)
        return belongs(url, site) if site is not None else urls.in_scope(url, page.url, "host")

    def _further(self, page: Page, look: ParsedContent) -> list[str]:
        """Sitemaps of the same domain that an index lists whose watcher wants its entries."""
        if page.page_rules is None or not page.page_rules.entries or page.depth >= MAX_INDEX_DEPTH:
            return []
        return [url for url in look.sitemaps[:MAX_SITEMAPS] if urls.in_scope(url, page.url, "domain")]

    def requisites(self, page: Page, look: ParsedContent) -> list[NewPage]:
        return [
            NewPage(
                url=url,
                host=urls.host_of(url),
                role=PageRole.REQUISITE,
                depth=page.depth + 1,
                weight=0.0,
                next_at=self._due_at,
            )
            for url in look.requisites[:MAX_REQUISITES]
        ]

    @property
    def wake_at(self) -> float:
        """When known requisites of a changed page are due: within the round that saw the change."""
        return self._due_at

    def _site(self, page: Page) -> Site | None:
        return self._sites.get(page.site_id) if page.site_id is not None else None


def belongs(link: str, site: Site) -> bool:
    """In scope, wanted by the patterns, and not a trap."""
    if not urls.in_scope(link, site.url, site.scope) or urls.looks_like_trap(link):
        return False
    if site.include and not any(fnmatchcase(link, pattern) for pattern in site.include):
        return False
    return not any(fnmatchcase(link, pattern) for pattern in site.exclude)


def seeds(site: Site) -> list[NewPage]:
    """What a newly watched site starts from: its own address and its usual sitemap."""
    sitemap = urls.join(site.url, "/sitemap.xml")
    found = [_page(site.url, site, 0)]
    if sitemap is not None:
        found.append(sitemap_page(sitemap, site))
    return found


def sitemap_page(url: str, site: Site, due_at: float | None = None) -> NewPage:
    return NewPage(url=url, host=urls.host_of(url), role=PageRole.SITEMAP, site_id=site.id, depth=0, next_at=due_at)


def _page(url: str, site: Site, depth: int, due_at: float | None = None) -> NewPage:
    is_sitemap = url.endswith((".xml", ".xml.gz")) and "sitemap" in url
    return NewPage(
        url=url,
        host=urls.host_of(url),
        role=PageRole.SITEMAP if is_sitemap else PageRole.PAGE,
        site_id=site.id,
        depth=depth,
        tags=site.tags,
        weight=site.weight,
        requisites=site.requisites,
        next_at=due_at,
    )
