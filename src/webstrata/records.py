"""Rows that travel between the stages: frozen, keyword-only, data without behaviour.

Instants are floats, seconds since 1970-01-01 UTC (`at`, `..._at`); spans end in `_s`. A record is made once and
never changed: the next stage makes its own (`msgspec.structs.replace`).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from msgspec import Struct

# ── pages: what is watched ──────────────────────────────────────────────────────────────────────────────────


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
    looking: Looking | None = None


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
    looking: Looking | None = None
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


# ── politeness ──────────────────────────────────────────────────────────────────────────────────────────────


class Permit(Struct, frozen=True, kw_only=True, gc=False):
    """Leave to make one request now. Only `webstrata.permit` makes one; `fetch` takes nothing else."""

    url: str
    origin: str
    """Scheme and authority, whose robots.txt was asked."""
    host: str
    address: str
    """The address that was counted; the request goes to this one and no other."""
    port: int
    agent: str
    """Whole User-Agent header."""
    granted_at: float
    for_robots: bool = False
    """This permit is for the origin's robots.txt itself."""


class Wait(Struct, frozen=True, kw_only=True, gc=False):
    """Not yet: ask again at `until`."""

    until: float
    why: str


class Refusal(Struct, frozen=True, kw_only=True, gc=False):
    """No: the host's owner does not want this visited (as far as known until `until`)."""

    why: str
    until: float | None = None


class NeedRobots(Struct, frozen=True, kw_only=True, gc=False):
    """The origin's robots.txt is not known, or too old: fetch it first."""

    origin: str


class HostState(Struct, frozen=True, kw_only=True, gc=False):
    """What politeness must remember of a host across restarts."""

    host: str
    next_at: float = 0.0
    """No request starts before."""
    backoff_until: float = 0.0
    backoff_count: int = 0
    """Refusals (429, 503, …) in a row."""
    last_duration_s: float = 0.0


class AddressState(Struct, frozen=True, kw_only=True, gc=False):
    """The same for an address: many hosts may live on one."""

    address: str
    next_at: float = 0.0


class RobotsState(Struct, frozen=True, kw_only=True, gc=False):
    """An origin's robots.txt as last fetched."""

    origin: str
    at: float
    status: int
    """Final status; 0: unreachable."""
    body: bytes = b""


# ── the exchange with a server ──────────────────────────────────────────────────────────────────────────────


class FailureKind(StrEnum):
    DNS = "dns"
    BLOCKED = "blocked"
    """The address guard said no."""
    REFUSED = "refused"
    CONNECT = "connect"
    TLS = "tls"
    RESET = "reset"
    TIMEOUT_CONNECT = "timeout-connect"
    TIMEOUT_FIRST_BYTE = "timeout-first-byte"
    TIMEOUT_TOTAL = "timeout-total"
    MALFORMED = "malformed"
    """Not HTTP as we know it."""
    HEADERS_TOO_LARGE = "headers-too-large"
    REDIRECTS = "redirects"
    """Too many, a loop, or one to an address that is not http(s)."""
    BAD_URL = "bad-url"
    ROBOTS = "robots"
    """robots.txt forbids it, or could not be reached."""
    BACKOFF = "backoff"
    """The server asked us to come back later (429, 503)."""
    SERVER = "server-error"
    """Any other 5xx."""
    DENIED = "denied"
    """401, 403 and other 4xx that say nothing of the page itself."""
    SOFT_404 = "soft-404"
    """Status 200, but the body says that there is no such page."""
    BLOCK_PAGE = "block-page"
    """A captcha, a challenge or a notice that we are not welcome, in place of the page."""
    LOGIN_WALL = "login-wall"
    PLACEHOLDER = "placeholder"
    """Maintenance, an error of the application or a parked domain, in place of the page."""
    EMPTY = "empty"
    """No content where there was some."""
    NO_ORIGINAL = "not-modified-without-copy"
    UNEXPECTED = "unexpected-content"
    """Not what the page's handler asked for: HTML where data was due, a query that the endpoint does not take."""
    PARTIAL = "partial-answer"
    """The answer says, or shows, that it is not all of it."""
    HANDLER = "handler"
    """The page's handler cannot work here: a program is missing, broke, or was used up."""
    INTERNAL = "internal"
    """Our own fault: the log has the details."""


class Failure(Struct, frozen=True, kw_only=True, gc=False):
    kind: FailureKind
    detail: str = ""


class Validators(Struct, frozen=True, kw_only=True, gc=False):
    """What a conditional request sends."""

    etag: str | None = None
    last_modified: str | None = None


class Exchange(Struct, frozen=True, kw_only=True, gc=False):
    """One request and its answer, as they were on the wire (transfer coding removed, content coding kept)."""

    url: str
    at: float
    """Start of the request."""
    duration_s: float
    request_head: bytes
    """Request line and headers as sent, with the closing empty line."""
    request_body: bytes = b""
    address: str | None = None
    """Address connected to."""
    status: int | None = None
    response_head: bytes = b""
    """Status line and headers as received, with the closing empty line."""
    headers: tuple[tuple[str, str], ...] = ()
    """The same, parsed: names in lower case."""
    body: bytes = b""
    truncated: Literal["length", "time", "disconnect"] | None = None
    failure: Failure | None = None
    """Set: there is no answer worth reading (status may still be known)."""

    def header(self, name: str) -> str | None:
        """First value of a header, by lower-case name."""
        for key, value in self.headers:
            if key == name:
                return value
        return None


class Posted(Struct, frozen=True, kw_only=True, gc=False):
    """What a POST carries. Only for questions: nothing that we send may change anything."""

    body: bytes
    content_type: str


class Followed(Struct, frozen=True, kw_only=True):
    """What came of asking for one URL and wherever its redirects lead."""

    exchanges: tuple[Exchange, ...] = ()
    """Redirects in order, then the answer."""
    failure: Failure | None = None
    again_at: float | None = None
    """When it makes sense to try again, where the host's owner said so."""

    @property
    def answer(self) -> Exchange | None:
        return self.exchanges[-1] if self.exchanges else None


class Resource(Struct, frozen=True, kw_only=True, gc=False):
    """Content that was made of what servers sent, to be archived beside it."""

    url: str
    """`urn:` names as the field uses them: `urn:view:URL` (screenshot), `urn:dom:URL`, `urn:data:URL`."""
    at: float
    content_type: str
    body: bytes


class Visited(Struct, frozen=True, kw_only=True):
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


# ── the archive ─────────────────────────────────────────────────────────────────────────────────────────────


class Original(Struct, frozen=True, kw_only=True, gc=False):
    """The record that first held a payload; revisit records refer to it."""

    payload: str
    """`sha1:` and base32 of the payload (before content decoding), the field's common key."""
    record_id: str
    at: float
    url: str
    file: str
    offset: int


class Capture(Struct, frozen=True, kw_only=True, gc=False):
    """An exchange on its way into the archive."""

    exchange: Exchange
    payload: str
    """Payload digest; of a 304, the original's."""
    original: Original | None = None
    """Set: write a revisit record that refers to it."""


class ResourceCapture(Struct, frozen=True, kw_only=True, gc=False):
    """Made content on its way into the archive."""

    resource: Resource
    payload: str
    original: Original | None = None
    """Set: write a revisit record that refers to it."""


class Position(Struct, frozen=True, kw_only=True, gc=False):
    """Where a capture's response (or revisit, or resource) record stands."""

    file: str
    """Name of the WARC file below the archive folder, without `.open`."""
    offset: int
    length: int
    record_id: str
    kind: Literal["response", "revisit", "resource"] = "response"


# ── seeing ──────────────────────────────────────────────────────────────────────────────────────────────────


class Fingerprint(Struct, frozen=True, kw_only=True, gc=False):
    """What was seen of one content, layer by layer. Later layers are added behind, with defaults."""

    raw: str
    """SHA-256 (hex) of the body after content decoding."""
    size: int
    """Bytes of that body."""
    media_type: str = ""
    charset: str | None = None
    title: str | None = None
    text: str | None = None
    """Digest of the useful text; none where the media type has no text layer."""
    links: str | None = None
    """Digest of the set of links."""
    link_count: int = 0
    noise: tuple[str, ...] = ()
    """Parts recognised as noise and left out of the digests."""
    version: int = 1
    """Of the rules by which the layers below were made; digests of different versions are never compared."""
    parts: tuple[str, str, str, str] | None = None
    """MD5 (hex) of title, header, body and footer (docs/reference/fingerprint.md)."""
    simhash: int | None = None
    """64 bits over the word shingles of the whole useful text."""
    main_links: str | None = None
    """Digest of the links inside the body part."""
    internal_links: int = 0
    external_links: int = 0
    document_links: int = 0
    """Links to PDF and other documents."""
    data: str | None = None
    """Digest of the canonical data (graph, JSON, table, XML, feed, sitemap)."""
    data_kind: str | None = None
    data_note: str | None = None
    """Why there is no data digest though the media type is one of data: too large, too hard, broken."""
    selected: str | None = None
    """Digest of what the page's own include and ignore rules leave; none without such rules."""


class StaticFeatures(Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """What a page's first content tells of how often it may change (`observe/features.py`)."""

    media_type: str = ""
    size: int = 0
    """Bytes of the body."""
    text_size: int = 0
    """The same without tags."""
    links: int = 0
    internal_links: int = 0
    external_links: int = 0
    document_links: int = 0
    mail_addresses: int = 0
    images: int = 0
    scripts: int = 0
    tables: int = 0
    forms: int = 0
    has_last_modified: bool = False
    has_etag: bool = False
    cache_seconds: int | None = None
    """How long caches may keep it; none: the server does not say."""
    has_feed: bool = False
    level: int = 1
    """Folders from the server's root, which is 1."""
    depth: int = 0
    """Links from the site's seed."""
    system: str = ""
    """Content management system or generator, by its traces."""
    site_kind: str = ""
    """`scholarly`, `government`, `news`, `blog`, `wiki`, `code` or nothing, by the site's name."""


class Looking(Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """How a page is to be looked at: its handler, the layer that counts, and what to compare. Per page or per tag."""

    handler: str = "auto"
    """`auto`, `http`, `rdf`, `sparql`, `feed`, `sitemap`, `browser`."""
    layer: str = "auto"
    """What counts as a change: `auto`, `raw`, `text`, `main`, `links`, `data`."""
    include: tuple[str, ...] = ()
    """`css:…`, `xpath:…` or `jsonpath:…`: only this is compared."""
    ignore: tuple[str, ...] = ()
    """The same: this is left out."""
    ignore_text: tuple[str, ...] = ()
    """Regular expressions; what they match is left out."""
    min_size: float = 0.0
    """Changes of a smaller share of the text (0 to 1) do not count."""
    unordered: bool = False
    """Tables: the order of the rows does not count."""
    ordered: bool = False
    """Tables: it does, even where the first column names the rows."""
    accept: str = ""
    """Accept header; empty: the handler's own."""
    query: str = ""
    """SPARQL query; empty: everything."""
    entries: bool = False
    """Feeds and sitemaps: each entry becomes a page."""


class Outcome(StrEnum):
    NEW = "new"
    SAME = "same"
    CHANGED = "changed"
    GONE = "gone"
    BACK = "back"
    ERROR = "error"


class Observation(Struct, frozen=True, kw_only=True, gc=False):
    """A fact: this content (or its absence) was seen at this time."""

    url: str
    at: float
    status: int
    fingerprint: Fingerprint | None
    """None: the page was gone."""
    source: Literal["visit", "archive", "agent"] = "visit"
    lines: bytes = b""
    """The compared text run by run, hashed (`observe/lines.py`); empty where there is none."""
    link_hashes: bytes = b""
    """64-bit hashes of the page's links (`observe/lines.py`)."""
    excerpts: dict[int, str] = {}
    """Beginnings of the runs that the version before did not have, by their hash."""
    address: str = ""
    """Where the answer came from after all redirects; empty: from `url`, or not known."""
    negotiated: bool = False
    """The server chose among several representations, or our handler made one: another media type is another form."""


class Signal(Struct, frozen=True, kw_only=True, gc=False):
    """A hint that a page changed or is new. Signals move the schedule; they never count as a change."""

    source: str
    """URL of the feed or sitemap that said it."""
    url: str
    at: float | None
    """When it says that the page changed; none: it lists the page and says no time."""
    kind: SignalKind


SignalKind = Literal["feed-entry", "sitemap-lastmod"]


class Source(Struct, frozen=True, kw_only=True, gc=False):
    """Who gives signals (a feed, a sitemap), and how right it was. The counts fade, so that old ones weigh less."""

    id: int
    url: str
    kind: SignalKind
    right: float = 0.0
    """Signals that a later visit proved right: the page had changed."""
    wrong: float = 0.0
    """Signals after which a visit found no change."""
    announced: float = 0.0
    """Changes found that it had announced."""
    silent: float = 0.0
    """Changes found of pages that it lists, and had not announced."""
    delay_s: float = 0.0
    """From the time that it gave to the time at which its word was read, summed over those proved right."""
    delays: float = 0.0
    """How many these are."""
    reads: int = 0
    """Times that it said something new."""
    floods: int = 0
    """Among them, times that it announced nearly all that it lists to have changed."""
    read_at: float | None = None


class Announcement(Struct, frozen=True, kw_only=True, gc=False):
    """A signal at rest: the last that a source said of a watched page."""

    page_id: int
    source_id: int
    at: float | None
    """The time that it gives."""
    seen_at: float
    """When that was read."""
    news: int = 0
    """Changes that it announced since the page was last seen."""


class Listing(Struct, frozen=True, kw_only=True, gc=False):
    """A watched page as a source lists it, with what our own visits know of it."""

    at: float | None
    """The time that the source gave last."""
    added_at: float
    last_seen_at: float | None = None
    last_change_at: float | None = None


class Announced(Struct, frozen=True, kw_only=True, gc=False):
    """What reading a source brought: the signals that are new, to be kept with their pages."""

    source: str
    kind: SignalKind
    seen_at: float
    said: tuple[tuple[str, float | None, float | None], ...] = ()
    """(page's URL, time given, up to when the page may have changed by it: none where it announces no change)."""
    dropped: tuple[str, ...] = ()
    """Pages that it lists no more."""
    flood: bool = False
    call: tuple[str, ...] = ()
    """Those of the pages to be visited soon, because the source has proved right; all of them are in `said`."""
    rest_s: float = 0.0
    """But not before so long after their last visit."""
    reason: str = ""
    """What is said of their next visit."""


class Checked(Struct, frozen=True, kw_only=True, gc=False):
    """What the visits of one batch say of a source: added to its counts, which fade to `keep` of what they were."""

    source_id: int
    keep: float
    right: float = 0.0
    wrong: float = 0.0
    announced: float = 0.0
    silent: float = 0.0
    delay_s: float = 0.0
    delays: float = 0.0
    settled: tuple[tuple[int, float], ...] = ()
    """(page, when the signal was read) of signals that are news no more."""


class ChangeKind(StrEnum):
    NONE = "none"
    NEW = "new"
    CONTENT = "content"
    LINKS = "links"
    MARKUP = "markup"
    """The bytes differ, nothing that a reader or a program reads does."""
    DATA = "data"
    FORM = "form"
    """The same page in another representation (another format of those on offer): there is nothing to compare."""
    GONE = "gone"
    BACK = "back"
    MOVED = "moved"
    ERROR = "error"


class Change(Struct, frozen=True, kw_only=True, gc=False):
    """The verdict on two observations in a row."""

    outcome: Outcome
    kind: ChangeKind = ChangeKind.NONE
    size: float = 0.0
    """Share of the content that differs, 0 to 1."""
    significance: float = 0.0
    """How much it matters, 0 to 1."""
    reasons: tuple[str, ...] = ()
    layers: dict[str, bool] = {}
    """Layer -> differs; only layers that both sides have."""
    new_links: int = 0
    """Links never seen in any earlier version of the page."""
    reverted: bool = False
    """Back to an earlier version."""
    raw: bool = False
    """The bytes differ."""
    text: bool = False
    links: bool = False
    counts: bool = False
    """It counts as a change for the schedule and for telling people."""
    layer: str = "raw"
    """The layer that decided."""
    distance: int | None = None
    """Bits in which the simhashes differ, 0 to 64; none where a side has no simhash."""
    noise: int = 0
    """Places that differ but have been learned to be noise, and so did not count."""


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


class Entry(Struct, frozen=True, kw_only=True, gc=False):
    """A finished visit on its way into the store: the log row and the page as it is now."""

    visit: Visit
    page: Page


class Batch(Struct, frozen=True, kw_only=True, gc=False):
    """What one transaction writes, after the archive was synced."""

    entries: tuple[Entry, ...] = ()
    originals: tuple[Original, ...] = ()
    discovered: tuple[NewPage, ...] = ()
    """New pages found; due at once."""
    wake: tuple[tuple[str, float], ...] = ()
    """Known pages (requisites) to be visited at a time: (url, at)."""
    hosts: tuple[HostState, ...] = ()
    addresses: tuple[AddressState, ...] = ()
    robots: tuple[RobotsState, ...] = ()
    announced: tuple[Announced, ...] = ()
    checked: tuple[Checked, ...] = ()


class Upcoming(Struct, frozen=True, kw_only=True, gc=False):
    """A visit to come, as much of it as planning needs."""

    page_id: int
    url: str
    host: str
    at: float
    interval_s: float | None = None
    weight: float = 1.0


class Outline(Struct, frozen=True, kw_only=True, gc=False):
    """A watched page, as much of it as the allocator of the budget needs."""

    id: int
    url: str
    host: str
    weight: float = 1.0
    tags: tuple[str, ...] = ()
    policy: str | None = None
    policy_state: bytes = b""
    last_seen_at: float | None = None
    failures: int = 0
    next_at: float | None = None
    visits: int = 0
    changes: int = 0
    added_at: float = 0.0


class Due(Struct, frozen=True, kw_only=True, gc=False):
    """A page that may be claimed."""

    id: int
    host: str
    tags: tuple[str, ...] = ()
    is_extra: bool = False
    """Its first copy, or a part of another page: not what a budget by the page counts."""


class PaceState(Struct, frozen=True, kw_only=True, gc=False):
    """How a budget stands: what is saved of it (in its own unit), and from which value on pages are visited."""

    name: str
    """`all`, `tag:NAME` or `host:NAME`."""
    price: float
    credit: float
    at: float


class Boost(Struct, frozen=True, kw_only=True, gc=False):
    """Pages with this tag are worth more for a time."""

    tag: str
    factor: float
    since: float
    until: float


class Limit(Struct, frozen=True, kw_only=True, gc=False):
    """Shortest and longest interval of a page (by its URL) or of a tag's pages; none: as the settings say."""

    kind: Literal["page", "tag"]
    name: str
    min_s: float | None = None
    max_s: float | None = None


class HostDay(Struct, frozen=True, kw_only=True, gc=False):
    """Aggregate of a host's visits in one UTC day."""

    host: str
    day: int
    """Days since 1970-01-01."""
    visits: int
    changes: int
    errors: int
    bytes: int
    duration_s: float


class Census(Struct, frozen=True, kw_only=True, gc=False):
    """The store's counts, for `status`."""

    pages: int
    """Active pages (requisites apart)."""
    paused: int
    requisites: int
    sites: int
    due: int
    in_flight: int
    """Leased and not expired."""
    visits: int
    changes: int
    errors: int
    bytes: int
    hosts: int
    next_at: float | None
    expected_per_day: float
    """Visits a day that the present intervals amount to."""


class KeptRecord(Struct, frozen=True, kw_only=True):
    """A record of an archive, as far as a certificate speaks of it."""

    record: str
    sha256: str
    """Of all its bytes, without compression."""
    kind: str
    url: str
    payload: str
    """The digest that its header names; `faults` has a line if the payload is not that."""
    refers_to: str = ""
    """Of a revisit: the record whose payload this one stands for."""
    faults: tuple[str, ...] = ()


class Sighting(Struct, frozen=True, kw_only=True):
    """A page was seen with this content at this time, by whomever."""

    url: str
    at: float
    content: str
    """A digest; what is the same has the same."""
    status: int = 200
