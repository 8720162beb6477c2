"""How things stand, in numbers."""

from __future__ import annotations

from msgspec import Struct


class HostDayTotals(Struct, frozen=True, kw_only=True, gc=False):
    """Aggregate of a host's visits in one UTC day."""

    host: str
    day: int
    """Days since 1970-01-01."""
    visits: int
    changes: int
    errors: int
    bytes: int
    duration_s: float


class StoreTotals(Struct, frozen=True, kw_only=True, gc=False):
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


class EngineCheck(Struct, frozen=True, kw_only=True):
    """What an engine found wrong with its own files, a line each; and what it was not asked."""

    faults: tuple[str, ...] = ()
    unchecked: tuple[str, ...] = ()


class Contradiction(Struct, frozen=True, kw_only=True):
    """Rows that cannot all be true."""

    what: str
    is_derived: bool = False
    """The wrong one follows from others and can be made anew."""
