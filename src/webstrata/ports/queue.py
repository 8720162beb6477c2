"""The store's role for the visit queue: due pages, leases, and the politeness state of hosts."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from webstrata.records import AddressState, DuePage, HostState, Page, RobotsState, UpcomingVisit


class VisitQueue(Protocol):
    """When each page is due, and which process has leased it."""

    async def claim(self, now: float, limit: int, until: float, owner: str) -> list[Page]:
        """Lease up to `limit` due pages, most overdue first. Other owners cannot claim them before `until`."""
        ...

    async def claim_pages(self, ids: Sequence[int], now: float, until: float, owner: str) -> list[Page]:
        """Lease exactly these pages, as far as they are active and not leased, in the given order."""
        ...

    async def release(self, pages: Collection[tuple[int, float | None]]) -> None:
        """End leases without a visit: (page id, new next visit, or None to keep it)."""
        ...

    async def end_leases(self, owner: str) -> int:
        """End every lease of an owner that stopped; returns how many."""
        ...

    async def stale_leases(self, now: float) -> int:
        """The number of expired leases whose pages have not been claimed since."""
        ...

    async def next_due(self) -> float | None:
        """When the next page can be claimed; for a leased page, when its lease expires."""
        ...

    async def due(self, now: float, limit: int) -> list[DuePage]:
        """Pages that may be claimed, most overdue first."""
        ...

    async def upcoming(self, until: float, limit: int) -> list[UpcomingVisit]:
        """Visits due by `until` and not leased, earliest first."""
        ...

    async def due_by_host(self, until: float) -> list[tuple[str, str, int]]:
        """(host, URL of one of these pages, number of pages) of the visits that `upcoming` lists, by host."""
        ...

    async def move(self, moves: Collection[tuple[int, float, str]]) -> None:
        """Set another time for pages that are not leased: (page id, next visit, reason)."""
        ...

    async def largest_id(self) -> int:
        """The largest page id; it grows whenever pages are added."""
        ...

    async def politeness(self) -> tuple[list[HostState], list[AddressState], list[RobotsState]]:
        """The stored politeness state of all hosts, addresses and robots.txt files."""
        ...
