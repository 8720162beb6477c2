"""Politeness as the server sees it: who came too soon, at the same time, where not wanted, or without asking.

All times are the clock's. A request lasts from its start for the latency that was declared for it; that is what
"overlap" means here, whatever the real socket did.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Literal

from msgspec import Struct

from webstrata.clock import DAY_S
from webstrata.lab.livingweb.behaviour import SiteBehaviour

ViolationKind = Literal["host-gap", "address-gap", "overlap", "disallowed", "no-robots", "old-robots"]

_Blame = Callable[[ViolationKind, str], None]

_KEPT = 1000  # violations kept in full; all are counted


class Violation(Struct, frozen=True, kw_only=True):
    """One request that the host's owner would complain about, and why."""

    kind: ViolationKind
    host: str
    address: str
    path: str
    at: float
    detail: str


class _HostActivity(Struct):
    """The latest request, and when all until then are answered."""

    start_at: float
    end_at: float


class PolitenessMeter:
    """Counts every request against what its host and its address allow.

    The gap between two request starts at a host must be the robots.txt's Crawl-delay, or `minimum_gap_s` where it asks
    for none or less; at an address `address_gap_s`, whatever the hosts. Pages need a robots.txt at most a day old
    before them. `slack_s` forgives rounding and, on a real clock, the jitter of the network.
    """

    def __init__(
        self,
        *,
        minimum_gap_s: float = 1.0,
        address_gap_s: float = 0.5,
        robots_age_s: float = DAY_S,
        slack_s: float = 0.005,
    ) -> None:
        self._minimum_gap_s = minimum_gap_s
        self._address_gap_s = address_gap_s
        self._robots_age_s = robots_age_s
        self._slack_s = slack_s
        self._by_host: dict[str, _HostActivity] = {}
        self._by_address: dict[str, _HostActivity] = {}
        self._robots_at: dict[str, float] = {}
        self._violations: list[Violation] = []
        self.counts: Counter[ViolationKind] = Counter()
        self.requests: Counter[str] = Counter()
        """Requests by host, robots.txt included."""

    def record(self, host: str, manners: SiteBehaviour, path: str, at: float, latency_s: float) -> None:
        """One request that began at `at` and is answered `latency_s` later."""
        self.requests[host] += 1

        def blame(kind: ViolationKind, detail: str) -> None:
            self.counts[kind] += 1
            if len(self._violations) < _KEPT:
                self._violations.append(
                    Violation(kind=kind, host=host, address=manners.address, path=path, at=at, detail=detail)
                )

        self._check_host(host, manners, at, blame)
        self._check_address(manners.address, at, blame)
        if path == "/robots.txt":
            self._robots_at[host] = at + latency_s  # it is as old as its answer
        else:
            self._check_robots(host, manners, path, at, blame)
        for table, key in ((self._by_host, host), (self._by_address, manners.address)):
            last = table.get(key)
            end_at = max(at + latency_s, last.end_at if last else 0.0)
            table[key] = _HostActivity(start_at=at, end_at=end_at)

    def violations(self) -> list[Violation]:
        """The first thousand, in order."""
        return list(self._violations)

    @property
    def count(self) -> int:
        """All of them."""
        return self.counts.total()

    def _check_host(self, host: str, manners: SiteBehaviour, at: float, blame: _Blame) -> None:
        last = self._by_host.get(host)
        if last is None:
            return
        asked_s = manners.crawl_delay_s
        allowed_s = self._minimum_gap_s if asked_s is None else max(asked_s, self._minimum_gap_s)
        gap_s = at - last.start_at
        if gap_s < allowed_s - self._slack_s:
            blame("host-gap", f"{gap_s:.3f} s after the last request; {allowed_s:g} s are asked")
        if at < last.end_at - self._slack_s:
            blame("overlap", f"{last.end_at - at:.3f} s before the last answer was complete")

    def _check_address(self, address: str, at: float, blame: _Blame) -> None:
        last = self._by_address.get(address)
        if last is not None and (gap_s := at - last.start_at) < self._address_gap_s - self._slack_s:
            blame("address-gap", f"{gap_s:.3f} s after the last request; {self._address_gap_s:g} s are asked")

    def _check_robots(self, host: str, manners: SiteBehaviour, path: str, at: float, blame: _Blame) -> None:
        if not manners.allows(path):
            blame("disallowed", "robots.txt forbids this path")
        asked_at = self._robots_at.get(host)
        if asked_at is None:
            blame("no-robots", "robots.txt was never asked for")
        elif at - asked_at > self._robots_age_s + self._slack_s:
            blame("old-robots", f"robots.txt was asked for {(at - asked_at) / 3600:.1f} h ago")
