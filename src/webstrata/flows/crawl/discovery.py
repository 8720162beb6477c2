"""`Discovery`: new pages from the links, sitemaps and requisites of visited pages, within the limits of their site."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import islice

from webstrata import urls
from webstrata.flows.crawl.parse import ParsedContent
from webstrata.records import NewPage, Page, PageRole, PageRules, Site

MAX_ENTRIES = 50_000
"""Per feed or sitemap: the limit of the sitemap protocol for one file."""
MAX_REQUISITES = 500
"""Per page; a page with more is taken for a crawler trap."""
MAX_SITEMAPS = 500
"""Per robots.txt or sitemap index."""
MAX_INDEX_DEPTH = 3
"""Of sitemap indexes that list indexes. The protocol allows none, some sites use one level, traps have no end."""


class Discovery:
    """The watched sites and the number of pages that each may still get."""

    def __init__(self, sites: Iterable[Site], sizes: dict[int, int], *, due_at: float) -> None:
        """`due_at`: when new pages are due."""
        self.due_at = due_at
        """Also when known requisites of a changed page are due: within the round that found the change."""
        self._sites = {site.id: site for site in sites}
        self._room = {site.id: site.max_pages - sizes.get(site.id, 0) for site in self._sites.values()}
        self._known: set[str] = set()
        self._sitemaps: list[NewPage] = []

    def wants_links(self, page: Page) -> bool:
        site = self._site(page)
        return site is not None and page.role is not PageRole.REQUISITE and page.depth < site.max_depth

    def wants_requisites(self, page: Page) -> bool:
        return page.requisites and page.role is PageRole.PAGE

    def new_links(self, page: Page, parsed: ParsedContent) -> list[str]:
        """Links of this page within its site that were not found before in this round."""
        site = self._site(page)
        if site is None or self._room[site.id] <= 0:
            return []
        return [link for link, _ in self._site_links(page, site, parsed) if link not in self._known]

    def add_known(self, urls: Iterable[str]) -> None:
        """These are pages already: they do not count against the limit of their site."""
        self._known.update(urls)

    def pages(self, page: Page, parsed: ParsedContent) -> list[NewPage]:
        """New pages of the same site that this one links to (or lists, if it is a sitemap)."""
        site = self._site(page)
        new: list[NewPage] = []
        if site is None:
            return new
        for link, is_sitemap in self._site_links(page, site, parsed):
            if self._room[site.id] <= 0:
                break
            if link in self._known:
                continue
            self._known.add(link)
            self._room[site.id] -= 1
            if is_sitemap:
                new.append(sitemap_page(link, site, self.due_at))
            else:
                new.append(_page(link, site, page.depth + 1, self.due_at))
        return new

    def _site_links(self, page: Page, site: Site, parsed: ParsedContent) -> Iterator[tuple[str, bool]]:
        """Links within the site (false), then its further sitemaps (true), which may have any path of its domain."""
        if page.depth >= site.max_depth:
            return
        for link in parsed.links:
            if belongs(link, site):
                yield link, False
        for link in parsed.sitemaps[:MAX_SITEMAPS]:
            if urls.in_scope(link, site.url, "domain"):
                yield link, True

    def add_sitemaps(self, origin: str, sitemaps: Iterable[str]) -> None:
        """Add the sitemaps that the robots.txt of an origin lists to the sites of that origin."""
        for site in self._sites.values():
            if urls.origin(site.url) == origin:
                absolute = (urls.join(origin, sitemap) for sitemap in islice(sitemaps, MAX_SITEMAPS))
                self._sitemaps += [sitemap_page(url, site, self.due_at) for url in absolute if url is not None]

    def take_sitemaps(self) -> list[NewPage]:
        """The sitemaps added since the last call."""
        taken, self._sitemaps = self._sitemaps, []
        return taken

    def entries(self, page: Page, parsed: ParsedContent) -> list[NewPage]:
        """Pages that a feed, a sitemap or an RDF document lists; they are watched with its tags and weight.

        Sitemaps that an index lists get the rules of the index. All entries of a feed become pages. Of the resources
        that an RDF document names only those in scope do, because RDF may refer to any resource of the web.
        """
        entries = parsed.entries[:MAX_ENTRIES]
        if parsed.fingerprint.data_kind == "graph":
            entries = tuple(url for url in entries if url != page.url and self._is_in_scope(url, page))
        listed: list[tuple[str, PageRules | None]] = [(url, None) for url in entries]
        listed += [(url, page.page_rules) for url in self._further_sitemaps(page, parsed)]
        return [
            NewPage(
                url=url,
                host=urls.host_of(url),
                tags=page.tags,
                weight=page.weight,
                depth=page.depth + 1,
                requisites=page.requisites,
                next_at=self.due_at,
                page_rules=page_rules,
            )
            for url, page_rules in listed
        ]

    def _is_in_scope(self, url: str, page: Page) -> bool:
        """In the scope of the page's site; for a page without a site, on its host."""
        site = self._site(page)
        return belongs(url, site) if site is not None else urls.in_scope(url, page.url, "host")

    def _further_sitemaps(self, page: Page, parsed: ParsedContent) -> list[str]:
        """Sitemaps of the same domain that an index lists, if the rules of the index ask for its entries."""
        if page.page_rules is None or not page.page_rules.entries or page.depth >= MAX_INDEX_DEPTH:
            return []
        return [url for url in parsed.sitemaps[:MAX_SITEMAPS] if urls.in_scope(url, page.url, "domain")]

    def requisites(self, page: Page, parsed: ParsedContent) -> list[NewPage]:
        return [
            NewPage(
                url=url,
                host=urls.host_of(url),
                role=PageRole.REQUISITE,
                depth=page.depth + 1,
                weight=0.0,
                next_at=self.due_at,
            )
            for url in parsed.requisites[:MAX_REQUISITES]
        ]

    def _site(self, page: Page) -> Site | None:
        return self._sites.get(page.site_id) if page.site_id is not None else None


def belongs(link: str, site: Site) -> bool:
    """Whether the link is in scope, matches the patterns of the site, and is not a trap."""
    if not urls.in_scope(link, site.url, site.scope) or urls.looks_like_trap(link):
        return False
    if site.include and not any(fnmatchcase(link, pattern) for pattern in site.include):
        return False
    return not any(fnmatchcase(link, pattern) for pattern in site.exclude)


def seeds(site: Site, sitemaps: Sequence[str] = ()) -> list[NewPage]:
    """The first pages of a newly watched site: its own URL, the sitemap at the usual path, and those that a known
    robots.txt lists."""
    found = [urls.join(site.url, sitemap) for sitemap in ("/sitemap.xml", *sitemaps[:MAX_SITEMAPS])]
    listed = dict.fromkeys(url for url in found if url is not None)
    return [_page(site.url, site, 0), *(sitemap_page(url, site) for url in listed)]


def sitemap_page(url: str, site: Site, due_at: float | None = None) -> NewPage:
    return NewPage(
        url=url,
        host=urls.host_of(url),
        role=PageRole.SITEMAP,
        site_id=site.id,
        depth=0,
        next_at=due_at,
        windows=site.windows,
    )


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
        every_s=None if is_sitemap else site.every_s,
        windows=site.windows,
    )
