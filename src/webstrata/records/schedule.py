"""Visits to come, and what they may cost."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct


class UpcomingVisit(Struct, frozen=True, kw_only=True, gc=False):
    """A visit to come, as much of it as planning needs."""

    page_id: int
    url: str
    host: str
    at: float
    interval_s: float | None = None
    weight: float = 1.0


class PageSummary(Struct, frozen=True, kw_only=True, gc=False):
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


class DuePage(Struct, frozen=True, kw_only=True, gc=False):
    """A page that may be claimed."""

    id: int
    host: str
    tags: tuple[str, ...] = ()
    is_extra: bool = False
    """Its first copy, or a part of another page: not what a budget by the page counts."""


class BudgetState(Struct, frozen=True, kw_only=True, gc=False):
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


class IntervalLimit(Struct, frozen=True, kw_only=True, gc=False):
    """Shortest and longest interval of a page (by its URL) or of a tag's pages; none: as the settings say."""

    kind: Literal["page", "tag"]
    name: str
    min_s: float | None = None
    max_s: float | None = None
