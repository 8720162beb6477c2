"""Signals: hints that a page changed, and how often their sources were right."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct


class Signal(Struct, frozen=True, kw_only=True, gc=False):
    """A hint that a page changed or is new. Signals affect the schedule; they never count as a change."""

    source: str
    """URL of the feed or sitemap."""
    url: str
    """URL of the page."""
    at: float | None
    """When the page changed, according to the source; None if the source lists the page without a time."""
    kind: SignalKind


SignalKind = Literal["feed-entry", "sitemap-lastmod"]


class SignalSource(Struct, frozen=True, kw_only=True, gc=False):
    """A feed or sitemap that gives signals, and how often it was right. The counts decay: recent checks weigh more."""

    id: int
    url: str
    kind: SignalKind
    right: float = 0.0
    """Number of signals that a later visit confirmed: the page had changed."""
    wrong: float = 0.0
    """Number of signals after which a visit found no change."""
    announced: float = 0.0
    """Number of changes found by visits that the source had announced."""
    silent: float = 0.0
    """Number of changes found by visits that the source had not announced although it lists the page."""
    delay_s: float = 0.0
    """Sum of the times from the announced change to the reading of the signal, over confirmed signals."""
    delays: float = 0.0
    """Number of terms in `delay_s`."""
    reads: int = 0
    """How often the source was read and had new signals."""
    floods: int = 0
    """How many of these reads announced a change of nearly all listed pages."""
    read_at: float | None = None
    """When the source was last read."""


class Announcement(Struct, frozen=True, kw_only=True, gc=False):
    """The stored form of a signal: the latest of one source about one watched page."""

    page_id: int
    source_id: int
    at: float | None
    """When the page changed, according to the source."""
    seen_at: float
    """When the signal was read."""
    news: int = 0
    """Number of changes announced since the page was last seen."""


class Listing(Struct, frozen=True, kw_only=True, gc=False):
    """A watched page that a source lists, with what visits found out about it."""

    at: float | None
    """The latest time of change that the source gave."""
    added_at: float
    last_seen_at: float | None = None
    last_change_at: float | None = None


class NewAnnouncements(Struct, frozen=True, kw_only=True, gc=False):
    """The new signals of one reading of a source, to be stored."""

    source: str
    """URL of the source."""
    kind: SignalKind
    seen_at: float
    signals: tuple[tuple[str, float | None, float | None], ...] = ()
    """(page URL, time given, latest time at which the page may have changed), for watched pages.

    The third value is None if the signal announces no change.
    """
    unwatched: tuple[tuple[str, float | None], ...] = ()
    """(URL, time given) of pages that are not watched. The latest are stored, in case the page is watched later."""
    dropped: tuple[str, ...] = ()
    """URLs of pages that the source no longer lists."""
    flood: bool = False
    """The source announced a change of nearly all listed pages."""
    visit_soon: tuple[str, ...] = ()
    """The pages in `signals` whose next visit is moved forward, because the source is trusted."""
    rest_s: float = 0.0
    """Minimum time between the last visit of such a page and this next visit."""
    reason: str = ""
    """The reason shown for this next visit."""


class SourceCheck(Struct, frozen=True, kw_only=True, gc=False):
    """What the visits of one batch found about a source. The counts of `SignalSource` are scaled and increased."""

    source_id: int
    keep: float
    """The old counts are multiplied by this factor, 0 to 1."""
    right: float = 0.0
    wrong: float = 0.0
    announced: float = 0.0
    silent: float = 0.0
    delay_s: float = 0.0
    delays: float = 0.0
    settled: tuple[tuple[int, float], ...] = ()
    """(page id, when the signal was read) of signals that a visit has checked."""
