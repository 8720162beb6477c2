"""A visit: what came of it, its row in the log, and what one transaction writes."""

from __future__ import annotations

from msgspec import Struct

from webstrata.records.archived import Original, Position
from webstrata.records.changes import ChangeKind, Outcome
from webstrata.records.exchange import Exchange, Failure, Resource
from webstrata.records.pages import NewPage, Page
from webstrata.records.politeness import AddressState, HostState, RobotsState
from webstrata.records.signals import NewAnnouncements, SourceCheck


class VisitResult(Struct, frozen=True, kw_only=True):
    """What came of a visit, not yet archived or judged."""

    page: Page
    at: float
    """Start of the visit's first request (or of its failure)."""
    exchanges: tuple[Exchange, ...] = ()
    """All of them in order; with a plain visit the redirects, then the answer."""
    failure: Failure | None = None
    again_at: float | None = None
    """When it makes sense to try again, where the host's owner said so."""
    main: int = -1
    """Which of the exchanges is the page's answer."""
    content: Resource | None = None
    """Set: this is the page's content, not the answer's body."""
    extras: tuple[Resource, ...] = ()
    """To be archived as well."""

    @property
    def answer(self) -> Exchange | None:
        return self.exchanges[self.main] if self.exchanges else None


class Hop(Struct, frozen=True, kw_only=True, gc=False):
    """One step of a visit: the redirects, then the answer."""

    url: str
    status: int | None
    position: Position | None = None


class Visit(Struct, frozen=True, kw_only=True, gc=False):
    """One row of the crawl log."""

    page_id: int
    url: str
    at: float
    outcome: Outcome
    status: int | None = None
    failure: Failure | None = None
    raw_changed: bool = False
    counts: bool = False
    duration_s: float = 0.0
    bytes: int = 0
    """Bytes of the body on the wire."""
    headers: dict[str, str] = {}
    """The response headers worth keeping."""
    raw: str | None = None
    """SHA-256 of the content."""
    text: str | None = None
    payload: str | None = None
    truncated: str | None = None
    kind: ChangeKind = ChangeKind.NONE
    significance: float = 0.0
    reasons: tuple[str, ...] = ()
    """Why it is that significant."""
    reverted: bool = False
    """Back to an earlier version."""
    new_links: int = 0
    position: Position | None = None
    hops: tuple[Hop, ...] = ()
    """Redirects before the last answer."""
    id: int | None = None


class FinishedVisit(Struct, frozen=True, kw_only=True, gc=False):
    """A finished visit on its way into the store: the log row and the page as it is now."""

    visit: Visit
    page: Page


class Batch(Struct, frozen=True, kw_only=True, gc=False):
    """What one transaction writes, after the archive was synced."""

    entries: tuple[FinishedVisit, ...] = ()
    originals: tuple[Original, ...] = ()
    discovered: tuple[NewPage, ...] = ()
    """New pages found; due at once."""
    wake: tuple[tuple[str, float], ...] = ()
    """Known pages (requisites) to be visited at a time: (url, at)."""
    hosts: tuple[HostState, ...] = ()
    addresses: tuple[AddressState, ...] = ()
    robots: tuple[RobotsState, ...] = ()
    announced: tuple[NewAnnouncements, ...] = ()
    checked: tuple[SourceCheck, ...] = ()
    payer: str = ""
    """Who takes `paid` from the portions that it holds."""
    paid: tuple[tuple[str, float], ...] = ()
    """What the visits cost each budget, by its name, in the budget's own unit."""
