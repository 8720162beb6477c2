"""Leave to ask, and what is promised to hosts."""

from __future__ import annotations

from msgspec import Struct


class Permit(Struct, frozen=True, kw_only=True, gc=False):
    """Leave to make one request now. Only `webstrata.permit` makes one; `fetch` takes nothing else."""

    url: str
    origin: str
    """Scheme and authority, whose robots.txt was asked."""
    host: str
    address: str
    """The address that was counted; the request goes to this one and no other."""
    port: int
    agent: str
    """Whole User-Agent header."""
    granted_at: float
    for_robots: bool = False
    """This permit is for the origin's robots.txt itself."""


class Wait(Struct, frozen=True, kw_only=True, gc=False):
    """Not yet: ask again at `until`."""

    until: float
    why: str


class Refusal(Struct, frozen=True, kw_only=True, gc=False):
    """No: the host's owner does not want this visited (as far as known until `until`)."""

    why: str
    until: float | None = None


class NeedRobots(Struct, frozen=True, kw_only=True, gc=False):
    """The origin's robots.txt is not known, or too old: fetch it first."""

    origin: str


class HostState(Struct, frozen=True, kw_only=True, gc=False):
    """What politeness must remember of a host across restarts."""

    host: str
    next_at: float = 0.0
    """No request starts before."""
    backoff_until: float = 0.0
    backoff_count: int = 0
    """Refusals (429, 503, …) in a row."""
    last_duration_s: float = 0.0


class AddressState(Struct, frozen=True, kw_only=True, gc=False):
    """The same for an address: many hosts may live on one."""

    address: str
    next_at: float = 0.0


class RobotsState(Struct, frozen=True, kw_only=True, gc=False):
    """An origin's robots.txt as last fetched."""

    origin: str
    at: float
    status: int
    """Final status; 0: unreachable."""
    body: bytes = b""
