"""What is watched."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from msgspec import Struct

from webstrata.records.changes import Outcome
from webstrata.records.exchange import Validators
from webstrata.records.observing import Fingerprint, PageRules


class PageState(StrEnum):
    ACTIVE = "active"
    PAUSED = "paused"
    """Unwatched: kept with its history, never due."""


class PageRole(StrEnum):
    PAGE = "page"
    REQUISITE = "requisite"
    """An image, style or script of a page: visited when its page is, never on a schedule of its own."""
    SITEMAP = "sitemap"
    """A sitemap of a watched site: visited like a page, read for the addresses that it lists."""


class NewPage(Struct, frozen=True, kw_only=True, gc=False):
    """A page to be watched, before the store gave it an id."""

    url: str
    host: str
    weight: float = 1.0
    tags: tuple[str, ...] = ()
    role: PageRole = PageRole.PAGE
    site_id: int | None = None
    """The watched site that led to it."""
    depth: int = 0
    """Links from the site's seed."""
    requisites: bool = False
    """Archive its images, styles and scripts too."""
    next_at: float | None = None
    """First visit; none: at once."""
    page_rules: PageRules | None = None


class Page(Struct, frozen=True, kw_only=True, gc=False):
    """A watched page with all that the next visit needs to know of the last one."""

    id: int
    url: str
    """Canonical URL: the page's key."""
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
    """Next visit; none for requisites that wait for their page."""
    interval_s: float | None = None
    policy: str | None = None
    policy_state: bytes = b""
    """The policy's row for this page, as the policy packed it."""
    reason: str = ""
    """Why the next visit is when it is, in one line."""

    # what the last visits saw
    visits: int = 0
    changes: int = 0
    failures: int = 0
    """Failed visits in a row."""
    last_visit_at: float | None = None
    last_seen_at: float | None = None
    """Last visit that got an answer (content, or that the page is gone)."""
    last_change_at: float | None = None
    last_outcome: Outcome | None = None
    etag: str | None = None
    last_modified: str | None = None
    payload: str | None = None
    """Payload digest (`sha1:…`) of the last archived content: what a 304 stands for."""
    fingerprint: Fingerprint | None = None
    gone: bool = False
    page_rules: PageRules | None = None
    memory: bytes = b""
    """What detection remembers of earlier versions: links seen, lines that keep changing (`webstrata.detect`)."""
    counted: tuple[int, ...] = ()
    """Places that the user wants counted, whatever was learned of them: by their keys in the memory."""
    edits: int = 0
    """How often the wishes for this page were changed: a visit under way tells by it that it asked by old ones."""

    @property
    def validators(self) -> Validators | None:
        """For a conditional request; only where content is held: a 304 must stand for something."""
        if self.payload is None or self.gone or not (self.etag or self.last_modified):
            return None
        return Validators(etag=self.etag, last_modified=self.last_modified)


class Site(Struct, frozen=True, kw_only=True, gc=False):
    """A whole site to be discovered and watched."""

    id: int
    url: str
    scope: Literal["prefix", "host", "domain"] = "prefix"
    max_depth: int = 5
    max_pages: int = 10_000
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    requisites: bool = False
    tags: tuple[str, ...] = ()
    weight: float = 1.0
