"""Hints of change, and how far their sources proved right."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct


class Signal(Struct, frozen=True, kw_only=True, gc=False):
    """A hint that a page changed or is new. Signals move the schedule; they never count as a change."""

    source: str
    """URL of the feed or sitemap that said it."""
    url: str
    at: float | None
    """When it says that the page changed; none: it lists the page and says no time."""
    kind: SignalKind


SignalKind = Literal["feed-entry", "sitemap-lastmod"]


class SignalSource(Struct, frozen=True, kw_only=True, gc=False):
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


class NewAnnouncements(Struct, frozen=True, kw_only=True, gc=False):
    """What reading a source brought: the signals that are new, to be kept with their pages."""

    source: str
    kind: SignalKind
    seen_at: float
    said: tuple[tuple[str, float | None, float | None], ...] = ()
    """(page's URL, time given, up to when the page may have changed by it: none where it announces no change)."""
    others: tuple[tuple[str, float | None], ...] = ()
    """(address, time given) of what nobody watches: the latest are kept for whoever watches it later."""
    dropped: tuple[str, ...] = ()
    """Pages that it lists no more."""
    flood: bool = False
    call: tuple[str, ...] = ()
    """Those of the pages to be visited soon, because the source has proved right; all of them are in `said`."""
    rest_s: float = 0.0
    """But not before so long after their last visit."""
    reason: str = ""
    """What is said of their next visit."""


class SourceCheck(Struct, frozen=True, kw_only=True, gc=False):
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
