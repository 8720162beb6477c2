"""The order of a capture, and the events of its journal.

The state of a capture is computed from its events alone, both while it runs and when it is resumed from its journal
(`--resume`). Where an attribute and its key in the journal differ, the key is given as `name`.
"""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import Struct, field

from webstrata.records import Position
from webstrata.sharp.proof.certificate import ObservedUrl
from webstrata.sharp.proof.page_observation import ComparedLayer

JOURNAL_VERSION = 3


class PrecomputedSchedule(Struct, frozen=True, kw_only=True):
    """A schedule computed beforehand by any algorithm, for experiments that compare algorithms."""

    algorithm: str
    visits: tuple[str, ...]
    revisits: tuple[str, ...]
    rates_per_s: dict[str, float]


class CaptureOrder(Struct, frozen=True, kw_only=True):
    """What to capture, and how."""

    url: str
    sharp: bool = True
    """Revisit all pages. Without it the capture is a single pass."""
    scope: Literal["prefix", "host", "domain"] = "prefix"
    layer: ComparedLayer = "visible"
    """The layer that decides whether two observations show the same content."""
    tau: float = 0.9
    """The confidence of the pages' intervals in the certificate. It does not influence the schedule."""
    conditional: bool = False
    """Allow conditional requests at revisits; a 304 response then counts as the same content."""
    render: bool = False
    """Pages are rendered in a browser; their contents are those of the DOM."""
    max_pages: int = 10_000
    max_time_s: float | None = None
    """The time limit of each run."""
    max_requisites: int = 5000
    repair: int = 0
    """The maximum number of further passes while pages are blurred."""
    listed: tuple[str, ...] | None = None
    """The pages, if they are known; links are then not followed."""
    use_sitemap: bool = False
    """Capture the pages that the site's sitemaps list."""
    schedule: PrecomputedSchedule | None = field(default=None, name="ready")
    """Visit and revisit in this order; its pages are those of `listed`."""
    weights: dict[str, float] = {}
    """By URL or pattern (* and ?). Other pages have the weight of the watched page, or 1."""

    @property
    def pages_known(self) -> bool:
        """The pages come from a list or from sitemaps, not from links."""
        return self.listed is not None or self.use_sitemap


class FoundPage(Struct, frozen=True):
    """A page of the capture, with the forecast that the schedule needs."""

    url: str
    rate_per_s: float
    rate_from: str
    weight: float = 1.0
    shape: float | None = None
    """Of the Gamma belief about the rate; None if the rate is known exactly."""
    duration_s: float | None = field(default=None, name="lasts_s")
    """The duration of a download, estimated from earlier visits."""


class CaptureRun(Struct, frozen=True, kw_only=True):
    """How the command was called, besides the order. A resumed run uses the same."""

    settings: tuple[str, ...] = ()
    """Settings of the command line, as `section.name=value`."""
    out: str | None = None
    picture: str | None = None
    report: str | None = None


class CaptureStarted(Struct, frozen=True, kw_only=True, tag="began"):
    """The first event."""

    version: int = 1
    """Of the journal's format."""
    capture: str
    order: CaptureOrder
    run: CaptureRun = CaptureRun()
    at: float
    slot_s: float
    """Seconds between two requests, as required by the host or by our settings."""
    slot_from: str = ""
    """Which of them requires it."""
    reversion: float
    """The share of the site's changes that restore an earlier content."""
    rest_factor: float = 0.0
    """After each response the host is left alone for this multiple of its response time."""
    pages: tuple[FoundPage, ...]
    """The seed, or all pages if they are known."""
    observations: tuple[ObservedUrl, ...] = ()
    """Of the sitemaps that were read."""
    positions: tuple[Position, ...] = ()


class PageDownloaded(Struct, frozen=True, kw_only=True, tag="got"):
    """A page was requested."""

    url: str
    pass_number: int = field(name="turn")
    """0: visits, 1: revisits, 2 and above: further passes."""
    observations: tuple[ObservedUrl, ...] = ()
    """Of the page, and of other URLs that were requested on the way."""
    why: str = ""
    """Why the request failed."""
    permanent: bool = field(default=False, name="lasting")
    """Another attempt would fail in the same way."""
    positions: tuple[Position, ...] = ()
    rules: dict[str, object] | None = None
    """The page's rules in force."""
    requisites: tuple[str, ...] = ()
    """The files that the page loads, without those that the journal names for this page already."""
    frames: tuple[str, ...] = ()
    """Those among the requisites that are shown in a frame."""
    found: tuple[FoundPage, ...] = ()
    left_out: int = 0
    """The number of links in scope that look like crawler traps."""


class PassPlanned(Struct, frozen=True, kw_only=True, tag="planned"):
    """A new pass over the pages was planned; the previous pass has ended."""

    pass_number: int = field(name="turn")
    instant: float
    """The expected instant."""
    order: tuple[str, ...]
    """A page that occurs twice is downloaded before the instant and after it."""
    chances: dict[str, float]
    """By page: the probability to be sharp."""
    failing: tuple[str, ...] = ()
    """Pages whose last request brought no content: requested once, and a second time only if they have content now."""
    only_failing: bool = False
    """The pass is made for these alone: if none of them has content now, the rest of it is left out."""


class RequisiteDownloaded(Struct, frozen=True, kw_only=True, tag="fetched"):
    """A file that a page needs was requested: an image, a style sheet, a script, a frame or another."""

    url: str
    observations: tuple[ObservedUrl, ...] = ()
    positions: tuple[Position, ...] = ()
    why: str = ""
    """Why the request failed."""
    requisites: tuple[str, ...] = ()
    """Files to which this one refers, which are requisites as well."""
    frames: tuple[str, ...] = ()
    """Those among the requisites that are shown in a frame."""


class CaptureEnded(Struct, frozen=True, kw_only=True, tag="ended"):
    """The package was written. Further events follow if the capture is resumed."""

    stopped: str = ""
    """Why the capture ended early; empty if it did not."""


Event = CaptureStarted | PageDownloaded | PassPlanned | RequisiteDownloaded | CaptureEnded

_decoder = msgspec.json.Decoder(Event)


def to_line(event: Event) -> bytes:
    """The event as a line of the journal."""
    return msgspec.json.encode(event)


def from_line(line: bytes) -> Event:
    """Parse a line of the journal. Raises msgspec.DecodeError if it is not an event."""
    event: Event = _decoder.decode(line)
    return event
