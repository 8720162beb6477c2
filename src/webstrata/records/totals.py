"""Totals of the store, for `status`, and results of its integrity checks, for `check`."""

from __future__ import annotations

from msgspec import Struct


class HostDayTotals(Struct, frozen=True, kw_only=True, gc=False):
    """Totals of the visits to a host on one UTC day."""

    host: str
    day: int
    """Days since 1970-01-01."""
    visits: int
    changes: int
    errors: int
    bytes: int
    duration_s: float


class StoreTotals(Struct, frozen=True, kw_only=True, gc=False):
    """Totals of the whole store."""

    pages: int
    """Number of active pages, without requisites."""
    paused: int
    requisites: int
    sites: int
    due: int
    in_flight: int
    """Number of pages with a lease that has not expired."""
    visits: int
    changes: int
    errors: int
    bytes: int
    hosts: int
    next_at: float | None
    """Time of the next visit."""
    expected_per_day: float
    """Expected number of visits per day at the current intervals."""
    last_visit_at: float | None
    """The time of the visit that was logged last; in the future if the clock was ahead then."""
    cut: int = 0
    """Number of pages whose last visit brought an incomplete body."""


class EngineCheck(Struct, frozen=True, kw_only=True):
    """Result of the database engine's own integrity check."""

    faults: tuple[str, ...] = ()
    """What the engine reports, one line each."""
    unchecked: tuple[str, ...] = ()
    """What could not be checked, and why."""


class Contradiction(Struct, frozen=True, kw_only=True):
    """Rows of the database that contradict each other."""

    what: str
    is_derived: bool = False
    """The wrong value is derived from other rows and can be rebuilt."""
