"""Politeness: permits for requests, and the state of hosts, addresses and robots.txt files."""

from __future__ import annotations

from msgspec import Struct


class Permit(Struct, frozen=True, kw_only=True, gc=False):
    """Permission to send one request now. Only `webstrata.permit` grants permits, and `fetch` requires one."""

    url: str
    origin: str
    """Scheme and authority, whose robots.txt applies."""
    host: str
    address: str
    """The resolved IP address; the request must connect to this address."""
    port: int
    agent: str
    """The whole User-Agent header."""
    granted_at: float
    for_robots: bool = False
    """The request is for the origin's robots.txt."""
    from_origin: bool = False
    """Ask caches on the way for the present response of the server, in a coding that every program can remove."""
    large_body: bool = False
    """The body of the response may go to a file (`Exchange.large`). Otherwise it is truncated at the limit of what is
    held in memory."""


class Wait(Struct, frozen=True, kw_only=True, gc=False):
    """No permit now: request it again at `until`."""

    until: float
    why: str


class Refusal(Struct, frozen=True, kw_only=True, gc=False):
    """No permit: robots.txt disallows the URL, at least until `until`."""

    why: str
    until: float | None = None


class NeedRobots(Struct, frozen=True, kw_only=True, gc=False):
    """No permit: the origin's robots.txt is unknown or expired, and must be fetched first."""

    origin: str


class HostState(Struct, frozen=True, kw_only=True, gc=False):
    """The politeness state of a host; it is stored, so that it survives a restart."""

    host: str
    next_at: float = 0.0
    """No request starts before this time."""
    backoff_until: float = 0.0
    backoff_count: int = 0
    """Number of consecutive refusals (429, 503, …)."""
    last_duration_s: float = 0.0


class HostLease(Struct, frozen=True, kw_only=True):
    """Which process may send requests to a host, as the store holds it."""

    host: str
    is_held: bool
    """The process that asked holds the lease; otherwise another one does."""
    until: float
    """The end of the lease, whoever holds it."""
    state: HostState | None = None
    """The stored state, if another process may have changed it since this one last held the lease."""
    robots: tuple[RobotsState, ...] = ()
    """The robots.txt files of the host's origins, in the same case."""


class AddressState(Struct, frozen=True, kw_only=True, gc=False):
    """The politeness state of an IP address, which several hosts may share."""

    address: str
    next_at: float = 0.0
    """No request starts before this time."""


class RobotsState(Struct, frozen=True, kw_only=True, gc=False):
    """The robots.txt of an origin, as last fetched."""

    origin: str
    at: float
    status: int
    """Final status; 0 if it was unreachable."""
    body: bytes = b""
