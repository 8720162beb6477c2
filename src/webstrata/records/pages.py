"""Watched pages and sites."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from msgspec import Struct

from webstrata.records.changes import Outcome
from webstrata.records.exchange import Validators
from webstrata.records.observing import Fingerprint, PageRules


class PageState(StrEnum):
    """Whether a page is visited."""

    ACTIVE = "active"
    PAUSED = "paused"
    """No longer watched: the page and its history are kept, but it is never due."""
    CAPTURED = "captured"
    """Only known from a site capture or from copies in archives, and never due. It becomes active when it is watched or
    discovered."""


class PageRole(StrEnum):
    """Why a page is visited."""

    PAGE = "page"
    REQUISITE = "requisite"
    """An image, style sheet or script of a page: visited together with the page, without a schedule of its own."""
    SITEMAP = "sitemap"
    """A sitemap of a watched site: visited like a page, and parsed for the URLs that it lists."""


class NewPage(Struct, frozen=True, kw_only=True, gc=False):
    """A page to be added to the store."""

    url: str
    host: str
    weight: float | None = None
    """None: the weight that a known page has, else 1."""
    tags: tuple[str, ...] = ()
    role: PageRole = PageRole.PAGE
    state: PageState = PageState.ACTIVE
    """Active, or captured; a known page never becomes captured."""
    site_id: int | None = None
    """The watched site on which it was discovered."""
    depth: int = 0
    """Number of links from the site's start page."""
    requisites: bool = False
    """Also archive the images, style sheets and scripts of the page."""
    next_at: float | None = None
    """Time of the first visit; None: due now."""
    page_rules: PageRules | None = None
    every_s: float | None = None
    """Fixed rhythm; None: what a known page has, else none."""
    windows: str | None = None
    """Visit windows (`webstrata.schedule.visit_windows`); None: what a known page has, else none."""


class Page(Struct, frozen=True, kw_only=True, gc=False):
    """A watched page: its settings, its schedule, and what the next visit needs from the last one."""

    id: int
    url: str
    """Canonical URL; unique."""
    host: str
    weight: float = 1.0
    tags: tuple[str, ...] = ()
    role: PageRole = PageRole.PAGE
    site_id: int | None = None
    depth: int = 0
    requisites: bool = False
    state: PageState = PageState.ACTIVE
    added_at: float = 0.0

    # the schedule
    next_at: float | None = None
    """Time of the next visit; None for requisites, which wait for their page."""
    interval_s: float | None = None
    policy: str | None = None
    """Name of the policy that wrote `policy_state`."""
    policy_state: bytes = b""
    """The policy's state of this page, packed by `webstrata.columns`."""
    reason: str = ""
    """Why the next visit is at this time, in one line."""
    every_s: float | None = None
    """Fixed rhythm that the user set; None: the policy decides."""
    windows: str | None = None
    """When the page may be visited (`webstrata.schedule.visit_windows`); None: at any time."""
    snoozed_until: float | None = None
    """No visits before this time."""

    # results of earlier visits
    visits: int = 0
    changes: int = 0
    failures: int = 0
    """Number of consecutive failed visits."""
    last_visit_at: float | None = None
    last_seen_at: float | None = None
    """Time of the last visit with a result: content, or that the page is gone."""
    last_change_at: float | None = None
    last_outcome: Outcome | None = None
    etag: str | None = None
    last_modified: str | None = None
    payload: str | None = None
    """Payload digest (`sha1:…`) of the last archived content, to which a 304 refers."""
    fingerprint: Fingerprint | None = None
    """Fingerprint of the last content."""
    gone: bool = False
    full_bytes: int | None = None
    """Bytes of the last visit that downloaded the content."""
    answers_304: bool = False
    """The last conditional request for unchanged content was answered with 304."""
    page_rules: PageRules | None = None
    memory: bytes = b""
    """What `webstrata.detect` stores about earlier versions: links, and runs that keep changing."""
    counted: tuple[int, ...] = ()
    """Keys (in `memory`) of places that always count, even if they are learned as noise. Set by the user."""
    edits: int = 0
    """Number of edits of the page's rules. A visit that began before the last edit used outdated rules."""

    @property
    def validators(self) -> Validators | None:
        """The validators for a conditional request; None without archived content, to which a 304 could refer."""
        if self.payload is None or self.gone or not (self.etag or self.last_modified):
            return None
        return Validators(etag=self.etag, last_modified=self.last_modified)


class Site(Struct, frozen=True, kw_only=True, gc=False):
    """A site whose pages are discovered and watched."""

    id: int
    url: str
    """URL of the start page."""
    scope: Literal["prefix", "host", "domain"] = "prefix"
    """Which URLs belong to the site (`webstrata.urls.in_scope`)."""
    max_depth: int = 5
    """Maximum number of links from the start page."""
    max_pages: int = 10_000
    include: tuple[str, ...] = ()
    """Patterns (`*`, `?`): only URLs that match one of them are watched."""
    exclude: tuple[str, ...] = ()
    """Patterns: URLs that match one of them are not watched."""
    requisites: bool = False
    """Also archive the images, style sheets and scripts of the pages."""
    tags: tuple[str, ...] = ()
    weight: float = 1.0
    every_s: float | None = None
    """Fixed rhythm of its pages."""
    windows: str | None = None
    """Visit windows of its pages."""


class SiteFind(Struct, frozen=True, kw_only=True, gc=False):
    """How many pages of a site were found, counted by one criterion, and what was left out."""

    site_id: int
    kind: str
    """`source`: by the sitemap or page `name`; `path`: with the path `name`, which differ only in the query; `sitemaps`
    and `variants`: sitemaps, and pages that differ from another one only in the query, of the whole site."""
    name: str
    found: int = 0
    left_out: int = 0
    """Links at the last visit of a source that were not added."""
    why: str = ""
    """The bound that left them out (`webstrata.flows.crawl.site_bounds`)."""
