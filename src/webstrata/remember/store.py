"""The `Store` port on SQLite or PostgreSQL: each method one transaction in the writer's or the reader's thread."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Literal

from webstrata.ports import Clock, ReservationPlan
from webstrata.records import (
    AddressState,
    Announcement,
    Batch,
    Boost,
    BudgetState,
    DuePage,
    HostDayTotals,
    HostState,
    IntervalLimit,
    Listing,
    NewPage,
    Original,
    Page,
    PageRules,
    PageSummary,
    Position,
    RobotsState,
    SignalSource,
    Site,
    StoreTotals,
    UpcomingVisit,
    Visit,
)
from webstrata.remember import commits, log, politeness, queue, reservations, signals, spending, totals
from webstrata.remember import page_rules as page_rules_rows
from webstrata.remember import pages as page_rows
from webstrata.remember import planning as plan_rows
from webstrata.remember.db_thread import DbThread
from webstrata.remember.engine_check import EngineCheck, check_engine
from webstrata.remember.invariants import Contradiction, contradictions, make_anew

_STREAM = 1_000
_SLOTS = 16


class SqlStore:
    """Opened by `webstrata.remember.engine.open_store`. Writes go one after the other; reads never wait for them."""

    def __init__(self, clock: Clock, writer: DbThread, reader: DbThread) -> None:
        self._clock = clock
        self._writer = writer
        self._reader = reader
        self._slot = os.getpid() % _SLOTS

    # watching

    async def add_pages(self, pages: Iterable[NewPage], now: float) -> tuple[int, int]:
        """(new, known already). Known pages get the new weight, also the new tags, and are active again."""
        found = list(pages)
        return await self._writer.run(lambda on: page_rows.add_pages(on, found, now, self._slot))

    async def add_site(self, site: Site, now: float) -> Site:
        return await self._writer.run(lambda on: page_rows.add_site(on, site, now))

    async def sites(self) -> list[Site]:
        return await self._reader.run(page_rows.all_sites)

    async def site_sizes(self) -> dict[int, int]:
        """Pages that each site led to, by the site's id."""
        return await self._reader.run(totals.site_sizes)

    async def pause(self, urls: Sequence[str]) -> int:
        return await self._writer.run(lambda on: page_rows.pause(on, urls, self._slot))

    async def set_page_rules(self, page_id: int, page_rules: PageRules | None) -> None:
        await self._writer.run(lambda on: page_rules_rows.set_for_page(on, page_id, page_rules))

    async def set_tag_rules(self, tag: str, page_rules: PageRules | None) -> None:
        await self._writer.run(lambda on: page_rules_rows.set_for_tag(on, tag, page_rules))

    async def tag_rules(self) -> dict[str, PageRules]:
        return await self._reader.run(page_rules_rows.by_tag)

    async def set_counted(self, page_id: int, keys: Sequence[int]) -> None:
        await self._writer.run(lambda on: page_rules_rows.set_counted(on, page_id, keys))

    async def page(self, url: str) -> Page | None:
        return await self._reader.run(lambda on: page_rows.page(on, url))

    async def known(self, urls: Sequence[str]) -> set[str]:
        return await self._reader.run(lambda on: page_rows.known(on, urls))

    async def pages(
        self,
        *,
        tag: str | None = None,
        state: str | None = None,
        host: str | None = None,
        order: page_rows.Order = "added",
        limit: int | None = None,
    ) -> AsyncIterator[Page]:
        """Page by page, oldest first; `order="next"`: those with a next visit, soonest first."""
        query = page_rows.listing(tag, state, host)
        last: tuple[float | None, int] | None = None
        left = limit
        while left is None or left > 0:
            size = _STREAM if left is None else min(left, _STREAM)
            chunk = await self._reader.run(
                lambda on, last=last, size=size: page_rows.pages_after(on, query, order, last, size)  # type: ignore[misc]
            )
            for _, page in chunk:
                yield page
            if len(chunk) < size:
                return
            last = (chunk[-1][0], chunk[-1][1].id)
            left = None if left is None else left - len(chunk)

    # the loop

    async def claim(self, now: float, limit: int, until: float, owner: str) -> list[Page]:
        return await self._writer.run(lambda on: queue.claim(on, now, limit, until, owner))

    async def release(self, pages: Iterable[tuple[int, float | None]]) -> None:
        given_back = list(pages)
        await self._writer.run(lambda on: queue.release(on, given_back))

    async def end_leases(self, owner: str) -> int:
        """Give back what an owner held when it died; how many pages. For that same owner, at its next start."""
        return await self._writer.run(lambda on: queue.end_leases(on, owner))

    async def next_due(self) -> float | None:
        """When the next page can be claimed; one that is leased, when its lease ends."""
        return await self._reader.run(totals.next_due)

    async def upcoming(self, until: float, limit: int) -> list[UpcomingVisit]:
        return await self._reader.run(lambda on: plan_rows.upcoming(on, until, limit))

    async def move(self, moves: Iterable[tuple[int, float, str]]) -> None:
        found = list(moves)
        await self._writer.run(lambda on: plan_rows.move(on, found))

    async def download_times(self, limit: int) -> list[tuple[str, float, int]]:
        return await self._reader.run(lambda on: plan_rows.download_times(on, limit))

    async def download_sums(self) -> dict[str, tuple[int, float]]:
        """(visits, seconds) of every host."""
        return await self._reader.run(plan_rows.download_sums)

    async def demand(self) -> list[tuple[str, str, int, float]]:
        """(host, one of its pages, pages, visits a day that their intervals amount to)."""
        return await self._reader.run(plan_rows.demand)

    async def commit(self, batch: Batch) -> None:
        now = self._clock.now()
        await self._writer.run(lambda on: commits.commit(on, batch, now, self._slot))

    # the budget

    async def outlines(self, after: int, limit: int) -> list[PageSummary]:
        return await self._reader.run(lambda on: spending.outlines(on, after, limit))

    async def outlines_of(self, ids: Sequence[int]) -> list[PageSummary]:
        return await self._reader.run(lambda on: spending.outlines_of(on, ids))

    async def largest_id(self) -> int:
        return await self._reader.run(queue.newest)

    async def due_pages(self, now: float, limit: int) -> list[DuePage]:
        return await self._reader.run(lambda on: spending.due_pages(on, now, limit))

    async def claim_pages(self, ids: Sequence[int], now: float, until: float, owner: str) -> list[Page]:
        return await self._writer.run(lambda on: queue.claim_pages(on, ids, now, until, owner))

    async def logged(self, ids: Sequence[int]) -> list[tuple[int, float, bool]]:
        return await self._reader.run(lambda on: spending.logged(on, ids))

    async def announcements_after(self, after: int, limit: int) -> list[Announcement]:
        return await self._reader.run(lambda on: spending.announcements_after(on, after, limit))

    async def paces(self) -> list[BudgetState]:
        return await self._reader.run(reservations.standing)

    async def save_paces(self, states: Sequence[BudgetState]) -> None:
        await self._writer.run(lambda on: reservations.save(on, states))

    async def purse(self, owner: str, now: float) -> tuple[dict[str, BudgetState], dict[str, float]]:
        return await self._reader.run(lambda on: reservations.purse(on, owner, now))

    async def trade(self, owner: str, now: float, until: float, deal: ReservationPlan) -> None:
        await self._writer.run(lambda on: reservations.trade(on, owner, now, until, deal))

    async def site_states(self, hosts: Sequence[str] | None = None) -> dict[str, bytes]:
        return await self._reader.run(lambda on: spending.all_site_states(on, hosts))

    async def save_site_states(self, states: Sequence[tuple[str, bytes]]) -> None:
        await self._writer.run(lambda on: spending.save_site_states(on, states))

    async def boosts(self) -> list[Boost]:
        return await self._reader.run(spending.all_boosts)

    async def set_boost(self, boost: Boost) -> None:
        await self._writer.run(lambda on: spending.set_boost(on, boost))

    async def end_boost(self, tag: str) -> int:
        return await self._writer.run(lambda on: spending.end_boost(on, tag))

    async def limits(self) -> list[IntervalLimit]:
        return await self._reader.run(spending.all_limits)

    async def set_limit(self, limit: IntervalLimit) -> None:
        await self._writer.run(lambda on: spending.set_limit(on, limit))

    # signals

    async def sources(self, urls: Sequence[str] | None = None) -> list[SignalSource]:
        return await self._reader.run(lambda on: signals.sources_of(on, urls))

    async def announcements(self, page_ids: Sequence[int]) -> list[Announcement]:
        return await self._reader.run(lambda on: signals.announcements(on, page_ids))

    async def listed_by(self, source: str) -> dict[str, Listing]:
        return await self._reader.run(lambda on: signals.listed_by(on, source))

    async def originals(self, payloads: Sequence[str]) -> dict[str, Original]:
        return await self._reader.run(lambda on: log.known_originals(on, payloads))

    async def politeness(self) -> tuple[list[HostState], list[AddressState], list[RobotsState]]:
        return await self._reader.run(politeness.everything)

    # showing

    async def visits(
        self,
        page_id: int,
        *,
        changes_only: bool = False,
        since: float | None = None,
        until: float | None = None,
        limit: int | None = None,
        order: Literal["oldest", "newest"] = "newest",
    ) -> list[Visit]:
        return await self._reader.run(
            lambda on: log.of_page(
                on, page_id, changes_only=changes_only, since=since, until=until, limit=limit, order=order
            )
        )

    async def positions(self) -> AsyncIterator[tuple[Position, str | None]]:
        last: int | None = 0
        while last is not None:
            last, places = await self._reader.run(
                lambda on, last=last: log.places_after(on, last, _STREAM)  # type: ignore[misc]
            )
            for place in places:
                yield place

    async def host_days(self, *, since_day: int = 0, host: str | None = None) -> list[HostDayTotals]:
        return await self._reader.run(lambda on: totals.by_host_and_day(on, since_day, host))

    async def days(self, *, since_day: int = 0) -> list[HostDayTotals]:
        """All hosts together, day by day (their `host` is empty)."""
        return await self._reader.run(lambda on: totals.by_day(on, since_day))

    async def census(self, now: float) -> StoreTotals:
        return await self._reader.run(lambda on: totals.census(on, now))

    async def tag_counts(self) -> dict[str, int]:
        """How many pages carry each tag."""
        return await self._reader.run(totals.tag_counts)

    async def size_bytes(self) -> int:
        """What the database takes on the disk."""
        return await self._reader.run(totals.size_bytes)

    # checking

    async def soundness(self) -> EngineCheck:
        """What the engine finds wrong with its own files."""
        return await self._reader.run(check_engine)

    async def contradictions(self) -> list[Contradiction]:
        """What does not fit together in a database that is sound."""
        return await self._reader.run(contradictions)

    async def stale_leases(self, now: float) -> int:
        """Pages whose holder let its time run out, and that nobody has claimed since."""
        return await self._reader.run(lambda on: queue.stale(on, now))

    async def recount(self) -> None:
        """Make counts and places in the queue anew from the rows."""
        await self._writer.run(make_anew)

    async def close(self) -> None:
        await self._reader.close()
        await self._writer.close()
