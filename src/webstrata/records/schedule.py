"""The schedule: future visits, budgets, boosts and interval limits."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct


class UpcomingVisit(Struct, frozen=True, kw_only=True, gc=False):
    """A future visit, with the fields that planning needs."""

    page_id: int
    url: str
    host: str
    at: float
    interval_s: float | None = None
    weight: float = 1.0
    is_timed: bool = False
    """The user set a rhythm or windows: planning does not move the visit."""


class VisitTimes(Struct, frozen=True, kw_only=True, gc=False):
    """What a user set about the times of a page's visits."""

    page_id: int
    every_s: float | None = None
    """Fixed rhythm."""
    windows: str | None = None
    """Visit windows."""
    snoozed_until: float | None = None


class RoundTiming(Struct, frozen=True, kw_only=True, gc=False):
    """How long a round of the loop took."""

    at: float
    """Its end."""
    visits: int
    seconds: float
    limited_s: float
    """Part of `seconds` in which the loop itself, not the hosts, limited the number of visits."""


class PageSummary(Struct, frozen=True, kw_only=True, gc=False):
    """A watched page, with the fields that the allocator of the budget needs."""

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
    interval_s: float | None = None
    visits: int = 0
    changes: int = 0
    added_at: float = 0.0
    full_bytes: int | None = None
    answers_304: bool = False


class DuePage(Struct, frozen=True, kw_only=True, gc=False):
    """A page that is due and can be claimed."""

    id: int
    host: str
    tags: tuple[str, ...] = ()
    is_extra: bool = False
    """A first visit since the page is watched, or a requisite: budgets per page do not count it."""
    is_fixed: bool = False
    """It has a fixed rhythm: it is visited when it is due, whatever its value and the budget."""
    windows: str | None = None
    snoozed_until: float | None = None
    is_unscheduled: bool = False
    """Not visited since it is watched, or since it belongs to a site: it does not compete with other pages."""


class BudgetState(Struct, frozen=True, kw_only=True, gc=False):
    """The state of a budget: what is left of it, and the value that a visit must have."""

    name: str
    """`all`, `tag:NAME` or `host:NAME`."""
    price: float
    """Pages are visited if the value of a visit is at least this."""
    credit: float
    """The unspent amount, in the budget's unit; negative if more was spent."""
    at: float
    """When `credit` was last updated."""


class Boost(Struct, frozen=True, kw_only=True, gc=False):
    """The value of visits to pages with this tag is multiplied by a factor, for a limited time."""

    tag: str
    factor: float
    since: float
    until: float


class IntervalLimit(Struct, frozen=True, kw_only=True, gc=False):
    """The minimum and maximum interval of a page or of all pages with a tag. None: the settings apply."""

    kind: Literal["page", "tag"]
    name: str
    """URL of the page, or the tag."""
    min_s: float | None = None
    max_s: float | None = None


class ClockReading(Struct, frozen=True, kw_only=True):
    """The system time together with a clock that nobody can set: two readings tell whether it was set in between."""

    machine: str
    """The start of a machine; only readings of the same one can be compared."""
    uptime_s: float
    at: float
    """The system time."""

    @property
    def offset_s(self) -> float:
        return self.at - self.uptime_s


class TimesMoved(Struct, frozen=True, kw_only=True):
    """What the store did about a system clock that was set."""

    by_s: float = 0.0
    """All stored times of schedules and politeness were moved by this; 0: they were right."""
    ahead_pages: int = 0
    """The pages whose last visit, or whose addition, was still in the future after that."""
