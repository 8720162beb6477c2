"""Counts politeness violations on the server's side: requests too soon, in parallel, disallowed or without robots.txt.

All times are those of the clock. A request ends when its declared latency has passed after its start; two requests
overlap by these times, not by the real times on the socket.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Literal

from msgspec import Struct

from webstrata.clock import DAY_S
from webstrata.lab.livingweb.behaviour import SiteBehaviour

ViolationKind = Literal["host-gap", "address-gap", "overlap", "disallowed", "no-robots", "old-robots"]

_Report = Callable[[ViolationKind, str], None]

_ADDRESS_GAP_S = 0.5
_ROBOTS_AGE_S = DAY_S
_SLACK_S = 0.005  # for rounding and, on a real clock, for network jitter
_MAX_STORED = 1000  # violations stored with details; all are counted


class Violation(Struct, frozen=True, kw_only=True):
    """One impolite request and the rule that it breaks."""

    kind: ViolationKind
    host: str
    address: str
    path: str
    at: float
    detail: str


class _HostActivity(Struct):
    """Start of the latest request, and the time when all requests until then are complete."""

    start_at: float
    end_at: float


class PolitenessMeter:
    """Checks every request against the rules of its host and its address.

    Two request starts at a host must be at least the Crawl-delay of its robots.txt apart, and at least
    `minimum_gap_s`; two at an address at least half a second, also for different hosts. A page may be requested only if
    robots.txt was requested at most a day before.
    """

    def __init__(self, *, minimum_gap_s: float = 1.0) -> None:
        self._minimum_gap_s = minimum_gap_s
        self._by_host: dict[str, _HostActivity] = {}
        self._by_address: dict[str, _HostActivity] = {}
        self._robots_at: dict[str, float] = {}
        self._violations: list[Violation] = []
        self.counts: Counter[ViolationKind] = Counter()
        self.requests: Counter[str] = Counter()
        """Requests by host, robots.txt included."""

    def record(self, host: str, behaviour: SiteBehaviour, path: str, at: float, latency_s: float) -> None:
        """Check and count a request that starts at `at` and is complete `latency_s` later."""
        self.requests[host] += 1

        def report(kind: ViolationKind, detail: str) -> None:
            self.counts[kind] += 1
            if len(self._violations) < _MAX_STORED:
                self._violations.append(
                    Violation(kind=kind, host=host, address=behaviour.address, path=path, at=at, detail=detail)
                )

        self._check_host(host, behaviour, at, report)
        self._check_address(behaviour.address, at, report)
        if path == "/robots.txt":
            self._robots_at[host] = at + latency_s  # the age counts from the response
        else:
            self._check_robots(host, behaviour, path, at, report)
        for table, key in ((self._by_host, host), (self._by_address, behaviour.address)):
            last = table.get(key)
            end_at = max(at + latency_s, last.end_at if last else 0.0)
            table[key] = _HostActivity(start_at=at, end_at=end_at)

    def violations(self) -> list[Violation]:
        """The first thousand violations, in order."""
        return list(self._violations)

    @property
    def count(self) -> int:
        """The number of all violations."""
        return self.counts.total()

    def _check_host(self, host: str, behaviour: SiteBehaviour, at: float, report: _Report) -> None:
        last = self._by_host.get(host)
        if last is None:
            return
        delay_s = behaviour.crawl_delay_s
        required_s = self._minimum_gap_s if delay_s is None else max(delay_s, self._minimum_gap_s)
        gap_s = at - last.start_at
        if gap_s < required_s - _SLACK_S:
            report("host-gap", f"{gap_s:.3f} s after the previous request; required are {required_s:g} s")
        if at < last.end_at - _SLACK_S:
            report("overlap", f"{last.end_at - at:.3f} s before the previous response was complete")

    def _check_address(self, address: str, at: float, report: _Report) -> None:
        last = self._by_address.get(address)
        if last is not None and (gap_s := at - last.start_at) < _ADDRESS_GAP_S - _SLACK_S:
            report("address-gap", f"{gap_s:.3f} s after the previous request; required are {_ADDRESS_GAP_S:g} s")

    def _check_robots(self, host: str, behaviour: SiteBehaviour, path: str, at: float, report: _Report) -> None:
        if not behaviour.allows(path):
            report("disallowed", "robots.txt disallows this path")
        robots_at = self._robots_at.get(host)
        if robots_at is None:
            report("no-robots", "robots.txt was not requested before")
        elif at - robots_at > _ROBOTS_AGE_S + _SLACK_S:
            report("old-robots", f"robots.txt was requested {(at - robots_at) / 3600:.1f} h ago")
