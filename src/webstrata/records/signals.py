"""Signals: hints that a page changed, and how often their sources were right."""

from __future__ import annotations

from collections.abc import Mapping
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


VISIT_COUNTS = (
    "announced",
    "announced_changed",
    "announced_expected",
    "silent_changed",
    "silent_expected",
    "changes",
    "days",
    "recent_reads",
)
"""Counts of a source that visits of its pages add to, and that are forgotten as visits are made."""
READ_COUNTS = ("entries", "page_days", "late_days", "dated", "discovered", "read_days")
"""Counts of a source that each read of it adds to, and that are forgotten as reads are made."""


class SignalSource(Struct, frozen=True, kw_only=True, gc=False):
    """A feed or sitemap that gives signals, and how often it was right. The counts decay: recent checks weigh more."""

    id: int
    url: str
    kind: SignalKind
    announced: float = 0.0
    """Visits of pages of which the source had announced a change."""
    announced_changed: float = 0.0
    """How many of these visits found a change."""
    announced_expected: float = 0.0
    """How many of them were expected to find one, whatever the source said."""
    silent_changed: float = 0.0
    """Changes found by other visits, in the time for which the source's statements are known."""
    silent_expected: float = 0.0
    """The expected number of these."""
    changes: float = 0.0
    """All changes found on the pages that the source lists."""
    days: float = 0.0
    """Days between the visits of these pages, summed."""
    recent_reads: float = 0.0
    """Reads of the source, forgotten as fast as the visits."""
    entries: float = 0.0
    """New entries: the source gave a later time than before."""
    page_days: float = 0.0
    """Listed pages times days in which these entries appeared."""
    late_days: float = 0.0
    """Sum of the days by which entries appeared late."""
    dated: float = 0.0
    """Number of terms in `late_days`."""
    discovered: float = 0.0
    """New pages that the source led to."""
    read_days: float = 0.0
    """Days between the reads, summed."""
    reads: int = 0
    """How often the source was read."""
    floods: int = 0
    """How many reads announced a change of nearly all listed pages."""
    listed: int = 0
    """Number of watched pages that the source lists."""
    read_at: float | None = None
    """When the source was last read."""
    finds_pages: bool = False
    """Its entries become watched pages."""


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


class NewAnnouncements(Struct, frozen=True, kw_only=True, gc=False):
    """One read of a source: its new signals, and what the read adds to the counts of the source."""

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
    listed: int = 0
    """Number of watched pages that the source lists now."""
    keep: float = 1.0
    """The old counts of reads are multiplied by this factor, 0 to 1."""
    counted: Mapping[str, float] = {}
    """What the read adds to the counts (`READ_COUNTS`)."""
    finds_pages: bool = False
    """The entries of the source become watched pages."""
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
    """The old counts of visits are multiplied by this factor, 0 to 1."""
    added: Mapping[str, float]
    """What the visits add to the counts (`VISIT_COUNTS`)."""
    settled: tuple[tuple[int, float], ...] = ()
    """(page id, when the signal was read) of signals that a visit has checked."""
