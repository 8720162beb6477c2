"""Visits: the result of a visit, its row in the log, and the batch that one transaction writes."""

from __future__ import annotations

from msgspec import Struct

from webstrata.records.archived import Original, Position
from webstrata.records.changes import ChangeKind, Outcome, ValueChange
from webstrata.records.exchange import Exchange, Failure, Resource
from webstrata.records.pages import NewPage, Page, SiteFind
from webstrata.records.politeness import AddressState, HostState, RobotsState
from webstrata.records.signals import NewAnnouncements, SourceCheck


class VisitResult(Struct, frozen=True, kw_only=True):
    """The result of a visit, before it is archived and judged."""

    page: Page
    at: float
    """Start of the first request; if there was none, time of the failure."""
    exchanges: tuple[Exchange, ...] = ()
    """All exchanges in order. A visit by the handler `http` has the redirects, then the final response."""
    failure: Failure | None = None
    again_at: float | None = None
    """The earliest time to retry, if the server or robots.txt names one."""
    main: int = -1
    """Index of the exchange with the page's response."""
    content: Resource | None = None
    """If set, the page's content; else the content is the body of the response."""
    extras: tuple[Resource, ...] = ()
    """Further resources to archive."""

    @property
    def answer(self) -> Exchange | None:
        return self.exchanges[self.main] if self.exchanges else None


class Hop(Struct, frozen=True, kw_only=True, gc=False):
    """One exchange of a visit: a redirect or the final response."""

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
    """Size of the body on the wire."""
    headers: dict[str, str] = {}
    """The response headers that the log keeps."""
    raw: str | None = None
    """SHA-256 of the content."""
    text: str | None = None
    """Digest of the useful text."""
    payload: str | None = None
    """Payload digest."""
    truncated: str | None = None
    kind: ChangeKind = ChangeKind.NONE
    significance: float = 0.0
    reasons: tuple[str, ...] = ()
    """Why the significance has this value."""
    product_values: tuple[ValueChange, ...] = ()
    """Values of products that differ."""
    reverted: bool = False
    """The content equals that of an earlier version."""
    new_links: int = 0
    learned: tuple[str, ...] = ()
    """What the visit taught about the page's noise, one phrase each: what does not count from now on, or does again."""
    position: Position | None = None
    hops: tuple[Hop, ...] = ()
    """The redirects before the final response."""
    id: int | None = None


class FinishedVisit(Struct, frozen=True, kw_only=True, gc=False):
    """A finished visit to be stored: the log row, and the page after the visit."""

    visit: Visit
    page: Page


class ContentFacts(Struct, frozen=True, kw_only=True, gc=False):
    """What a first or a changed version of a page says besides the version."""

    page_id: int
    at: float
    features: dict[str, float]
    """Its static features."""
    links: bytes | None = None
    """Its links, as sorted rows of `columns.COPY_LINK`; None if it has no layer of links."""


class Batch(Struct, frozen=True, kw_only=True, gc=False):
    """What one transaction writes, after the archive has been synced."""

    entries: tuple[FinishedVisit, ...] = ()
    originals: tuple[Original, ...] = ()
    contents: tuple[ContentFacts, ...] = ()
    """Of the first and changed versions among the visits."""
    discovered: tuple[NewPage, ...] = ()
    """Newly discovered pages; they are due now."""
    finds: tuple[SiteFind, ...] = ()
    """Pages that were found, to be added to the counts of their sites; and what was left out."""
    wake: tuple[tuple[str, float], ...] = ()
    """(URL, time of the next visit) of known requisites."""
    hosts: tuple[HostState, ...] = ()
    addresses: tuple[AddressState, ...] = ()
    robots: tuple[RobotsState, ...] = ()
    templates: tuple[tuple[str, bytes], ...] = ()
    """(host, template of its pages)."""
    announced: tuple[NewAnnouncements, ...] = ()
    checked: tuple[SourceCheck, ...] = ()
    payer: str = ""
    """Owner of the reservations from which `paid` is taken."""
    paid: tuple[tuple[str, float], ...] = ()
    """(name of a budget, cost of the visits in its unit)."""
