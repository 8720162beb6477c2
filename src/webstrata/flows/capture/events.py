"""What is asked of a capture, and everything that happens in it, as its journal keeps it.

A capture is what its events say: the state of a run is made from them one by one, whether they happen now or were read
back (`--resume`).
"""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import Struct

from webstrata.records import Position
from webstrata.sharp.proof.certificate import Download


class PrecomputedSchedule(Struct, frozen=True, kw_only=True):
    """A schedule that was made beforehand, by whatever algorithm: experiments compare them so."""

    algorithm: str
    visits: tuple[str, ...]
    revisits: tuple[str, ...]
    rates_per_s: dict[str, float]


class CaptureOrder(Struct, frozen=True, kw_only=True):
    """What is asked of one site's capture."""

    url: str
    sharp: bool = True
    scope: Literal["prefix", "host", "domain"] = "prefix"
    layer: str = "auto"
    tau: float = 0.9
    conditional: bool = False
    max_pages: int = 10_000
    max_time_s: float | None = None
    """Of one run; a run that resumes has as much again."""
    max_requisites: int = 5000
    repair: int = 0
    """Further passes at most, while pages are blurred."""
    listed: tuple[str, ...] | None = None
    """The pages, where they are known: no links are followed then."""
    use_sitemap: bool = False
    """The pages are those that the site's sitemaps list."""
    ready: PrecomputedSchedule | None = None
    """Visits and revisits in this order; its pages are those of `listed`."""
    weights: dict[str, float] = {}
    """By URL or pattern (* and ?); else the watched page's own, else 1."""

    @property
    def follows(self) -> bool:
        """Pages are found by links."""
        return self.listed is None and not self.use_sitemap


class FoundPage(Struct, frozen=True):
    """A page that belongs to the capture."""

    url: str
    rate_per_s: float
    rate_from: str
    weight: float = 1.0
    shape: float | None = None
    """Of the Gamma belief about the rate; none: the rate is sure."""
    lasts_s: float | None = None
    """How long its download takes, where earlier visits tell."""


class CaptureStarted(Struct, frozen=True, kw_only=True, tag="began"):
    """The first event."""

    capture: str
    order: CaptureOrder
    at: float
    slot_s: float
    """Seconds from request to request, as the site asks."""
    reversion: float
    """Share of the site's changes that bring an earlier content back."""
    rest_factor: float = 0.0
    """A host rests this many times its response time after each answer."""
    pages: tuple[FoundPage, ...]
    """Seeds, or all pages where they are known."""


class PageDownloaded(Struct, frozen=True, kw_only=True, tag="got"):
    """A page was asked for, with this download or none."""

    url: str
    turn: int
    """0: visits, 1: revisits, 2 and on: further passes."""
    download: Download | None = None
    why: str = ""
    lasting: bool = False
    """It makes no sense to ask again."""
    positions: tuple[Position, ...] = ()
    requisites: tuple[str, ...] = ()
    found: tuple[FoundPage, ...] = ()
    left_out: int = 0
    """Links in scope that look like traps."""


class PassPlanned(Struct, frozen=True, kw_only=True, tag="planned"):
    """The order of a pass over the pages; the turn before is over."""

    turn: int
    instant: float
    """Where the instant is expected."""
    order: tuple[str, ...]
    """A page that stands here twice is looked at before the instant and after it."""
    chances: dict[str, float]


class RequisiteDownloaded(Struct, frozen=True, kw_only=True, tag="fetched"):
    """An image, style or script was asked for."""

    url: str
    positions: tuple[Position, ...] = ()
    why: str = ""
    requisites: tuple[str, ...] = ()
    """What a style sheet names: they are requisites as well."""


Event = CaptureStarted | PageDownloaded | PassPlanned | RequisiteDownloaded

_decoder = msgspec.json.Decoder(Event)


def to_line(event: Event) -> bytes:
    return msgspec.json.encode(event)


def from_line(line: bytes) -> Event:
    """Raises msgspec.DecodeError (or ValidationError) where it is none."""
    event: Event = _decoder.decode(line)
    return event
