"""What is known of a capture while it runs, plain: it goes to JSON and comes back."""

from __future__ import annotations

import msgspec

from webstrata.sharp.frontier import FrontierPlan
from webstrata.sharp.site_size import SiteSize


class PageRecord(msgspec.Struct):
    """One page of a capture; times are seconds on the caller's clock."""

    id: str
    rate: float
    """Changes per second."""
    weight: float = 1.0
    depth: int = 0
    """Links from a seed."""
    visit: tuple[float, float] | None = None
    revisit: tuple[float, float] | None = None
    same: bool | None = None
    """Unchanged between visit and revisit; none: not revisited yet."""
    shape: float | None = None
    """Of the Gamma belief about the rate; none: it is known for sure."""
    gone: bool = False
    """Given up: it could not be visited."""


class CaptureRecord(msgspec.Struct):
    """All that a scheduler knows."""

    slot_s: float
    pages: list[PageRecord] = msgspec.field(default_factory=list)
    count: int | None = None
    """Pages of the site, where that is known."""
    most: int | None = None
    """Pages that are captured at most."""
    share_middle: bool = True
    sizes: SiteSize = msgspec.field(default_factory=SiteSize)
    outlook: FrontierPlan = msgspec.field(default_factory=FrontierPlan)
    plan: list[str] | None = None
    """Revisits in their order."""
