"""`Discovery`: new pages from the links, sitemaps and requisites of visited pages, within the limits of their site."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import islice

from webstrata import urls
from webstrata.flows.crawl.parse import ParsedContent
from webstrata.flows.crawl.site_bounds import MAX_INDEX_DEPTH, FindKey, SiteBounds
from webstrata.records import NewPage, Page, PageRole, PageRules, Site, SiteFind

MAX_ENTRIES = 50_000
"""Per feed or sitemap: the limit of the sitemap protocol for one file."""
MAX_REQUISITES = 500
"""Per page; a page with more is taken for a crawler trap."""
MAX_SITEMAPS = 500
"""Per robots.txt or sitemap index."""


class Discovery:
    """The watched sites and the number of pages that each may still get."""

    def __init__(
        self,
        sites: Iterable[Site],
        sizes: dict[int, int],
        *,
        due_at: float,
        said: set[tuple[int, str]] | None = None,
    ) -> None:
        """`due_at`: when new pages are due; `said`: see `SiteBounds`."""
        self.due_at = due_at
        """Also when known requisites of a changed page are due: within the round that found the change."""
        self._sites = {site.id: site for site in sites}
        self._room = {site.id: site.max_pages - sizes.get(site.id, 0) for site in self._sites.values()}
        self._known: set[str] = set()
        self._bounds = SiteBounds(said)
        self._listed: list[tuple[str, Site, str]] = []
        """Sitemaps that robots.txt files list: URL, site, robots.txt."""

    def wants_links(self, page: Page) -> bool:
        site = self._site(page)
        return site is not None and page.role is not PageRole.REQUISITE and _link_depth(page) <= site.max_depth

    def wants_requisites(self, page: Page) -> bool:
        return page.requisites and page.role is PageRole.PAGE

    def wants_layers(self, page: Page) -> bool:
        """Whether the layers by which captures compare contents are computed."""
        return False

    def new_links(self, page: Page, parsed: ParsedContent) -> list[str]:
        """Links of this page within its site that were not found before in this round."""
        site = self._site(page)
        if site is None:
            return []
        return [link for link, _ in self._site_links(page, site, parsed) if link not in self._known]

    def new_sitemaps(self) -> list[str]:
        """Sitemaps that robots.txt files list and that were not found before in this round."""
        return [url for url, _, _ in self._listed if url not in self._known]

    def add_known(self, urls: Iterable[str]) -> None:
        """These are pages already: they do not count against the limit of their site."""
        self._known.update(urls)

    def keys(self, page: Page, parsed: ParsedContent) -> set[FindKey]:
        """The stored counts that decide which links of this page become pages; call it after `add_known`."""
        site = self._site(page)
        return set() if site is None else self._bounds.keys(page, site, self.new_links(page, parsed))

    def robots_keys(self) -> set[FindKey]:
        """The same for the sitemaps that robots.txt files list."""
        keys = {(site.id, "source", source) for _, site, source in self._listed}
        return keys | {(site.id, "sitemaps", "") for _, site, _ in self._listed}

    def add_finds(self, finds: Iterable[SiteFind]) -> None:
        self._bounds.load(finds)

    def take_finds(self) -> tuple[SiteFind, ...]:
        """What was found and left out since the last call."""
        return self._bounds.take()

    def pages(self, page: Page, parsed: ParsedContent) -> list[NewPage]:
        """New pages of the same site that this one links to (or lists, if it is a sitemap), within the bounds."""
        site = self._site(page)
        new: list[NewPage] = []
        if site is None:
            return new
        left: Counter[str] = Counter()
        if (more := len(parsed.sitemaps) - MAX_SITEMAPS) > 0:
            left["sitemaps"] = more
        for link, is_sitemap in self._site_links(page, site, parsed):
            if link in self._known:
                continue
            above = page.depth + 1 if page.role is PageRole.SITEMAP else 0
            if is_sitemap or _is_sitemap(link):
                found = sitemap_page(link, site, self.due_at, depth=above)
            else:
                found = _page(link, site, _link_depth(page), self.due_at)
            if (why := self._add(found, site, page.url)) is None:
                new.append(found)
            else:
                left[why] += 1
        self._bounds.left_out(site, page.url, left)
        return new

    def _add(self, page: NewPage, site: Site, source: str) -> str | None:
        """Count a page that was found; or the bound that forbids it."""
        is_sitemap = page.role is PageRole.SITEMAP
        if self._room[site.id] <= 0:
            return "limit"
        why = self._bounds.against(site, source, page.url, page.depth if is_sitemap else None)
        if why is None:
            self._known.add(page.url)
            self._room[site.id] -= 1
            self._bounds.add(site, source, page.url, is_sitemap=is_sitemap)
        return why

    def _site_links(self, page: Page, site: Site, parsed: ParsedContent) -> Iterator[tuple[str, bool]]:
        """Links within the site (false), then its further sitemaps (true), which may have any path of its domain."""
        if _link_depth(page) > site.max_depth:
            return
        for link in parsed.links:
            if belongs(link, site, self.due_at):
                yield link, False
        for link in parsed.sitemaps[:MAX_SITEMAPS]:
            if urls.in_scope(link, site.url, "domain"):
                yield link, True

    def add_sitemaps(self, origin: str, sitemaps: Iterable[str]) -> None:
        """Add the sitemaps that the robots.txt of an origin lists to the sites of that origin."""
        for site in self._sites.values():
            if urls.origin(site.url) == origin:
                absolute = (urls.join(origin, sitemap) for sitemap in islice(sitemaps, MAX_SITEMAPS))
                self._listed += [(url, site, f"{origin}/robots.txt") for url in absolute if url is not None]

    def take_sitemaps(self) -> list[NewPage]:
        """The sitemaps added since the last call, within the bounds."""
        left: dict[str, Counter[str]] = {}
        new: list[NewPage] = []
        for url, site, source in self._listed:
            if url in self._known:
                continue
            found = sitemap_page(url, site, self.due_at)
            if (why := self._add(found, site, source)) is None:
                new.append(found)
            else:
                left.setdefault(source, Counter())[why] += 1
        for source, whys in left.items():
            self._bounds.left_out(next(site for _, site, by in self._listed if by == source), source, whys)
        self._listed = []
        return new

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
        return belongs(url, site, self.due_at) if site is not None else urls.in_scope(url, page.url, "host")

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
            for url in parsed.requisites.files[:MAX_REQUISITES]
        ]

    def _site(self, page: Page) -> Site | None:
        return self._sites.get(page.site_id) if page.site_id is not None else None


def _link_depth(page: Page) -> int:
    """The depth of the pages that this one links to. Of a sitemap, `depth` counts the indexes above it."""
    return 1 if page.role is PageRole.SITEMAP else page.depth + 1


def belongs(link: str, site: Site, now: float) -> bool:
    """Whether the link is in scope, matches the patterns of the site, and is not a trap."""
    if not urls.in_scope(link, site.url, site.scope) or urls.looks_like_trap(link, now):
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


def sitemap_page(url: str, site: Site, due_at: float | None = None, *, depth: int = 0) -> NewPage:
    """`depth`: the number of sitemap indexes above it."""
    return NewPage(
        url=url,
        host=urls.host_of(url),
        role=PageRole.SITEMAP,
        site_id=site.id,
        depth=depth,
        next_at=due_at,
        windows=site.windows,
    )


def _is_sitemap(url: str) -> bool:
    return url.endswith((".xml", ".xml.gz")) and "sitemap" in url


def _page(url: str, site: Site, depth: int, due_at: float | None = None) -> NewPage:
    return NewPage(
        url=url,
        host=urls.host_of(url),
        site_id=site.id,
        depth=depth,
        tags=site.tags,
        weight=site.weight,
        requisites=site.requisites,
        next_at=due_at,
        every_s=site.every_s,
        windows=site.windows,
    )
