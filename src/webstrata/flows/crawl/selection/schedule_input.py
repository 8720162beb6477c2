"""Reads pages, overrides and announcements from the store into a schedule, and keeps it up to date with the store."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import numpy as np
from msgspec.structs import replace

from webstrata.clock import DAY_S
from webstrata.columns import Rows
from webstrata.flows.crawl.selection.budget_ledger import ALL
from webstrata.ports import Store
from webstrata.predict.importance_weight import DEFAULT_WEIGHT, importance_weight
from webstrata.records import Announcement, Page, PageSummary, VisitTimes
from webstrata.schedule.overrides import Overrides
from webstrata.schedule.page_table import replayed
from webstrata.schedule.policy import ValuePolicy
from webstrata.schedule.schedule import Schedule
from webstrata.schedule.value_schedule import ValueSchedule

RELOAD_S = DAY_S
"""How often all pages are read again, since weights and tags may have been changed."""
_OVERRIDES_S = 5.0
"""How often overrides are read again: claims may follow each other within a second."""
_CHUNK = 5_000
"""Rows read with one query."""


class ScheduleInput:
    """The input of one schedule from one store."""

    def __init__(self, store: Store, schedule: Schedule) -> None:
        self._store = store
        self._schedule = schedule
        self._ranking = schedule.ranking
        self._largest_id = 0
        self._loaded_at = -float("inf")
        self._overrides_read_at = -float("inf")
        self._learned_at: float | None = None

    async def refresh(self, now: float) -> None:
        """Read what other processes changed: pages, overrides, announcements."""
        ranking = self._ranking
        overrides_are_old = not 0 <= now - self._overrides_read_at < _OVERRIDES_S
        if overrides_are_old:
            self._overrides_read_at = now
        if ranking is None:
            if overrides_are_old:
                self._schedule.overrides = await self._read_overrides()
            return
        if overrides_are_old and (learned_at := await self._store.copies.learned_at()) != self._learned_at:
            # Another process has learned from copies in archives, and from all visits together with them.
            self._learned_at = learned_at
            self._loaded_at = -float("inf")
            ranking.clear()
        has_new_pages = False
        if now >= self._loaded_at + RELOAD_S:
            await self._reload(ranking, now)
            self._loaded_at, has_new_pages = now, True
        elif (largest_id := await self._store.queue.largest_id()) > self._largest_id:
            await self._load_pages(ranking, self._largest_id, now)
            self._largest_id, has_new_pages = largest_id, True
        if overrides_are_old or has_new_pages:
            await self._apply_overrides(ranking, now)
        if has_new_pages or ranking.has_new_announcements:
            await self._load_announcements(ranking)
        elif ranking.has_new_checks:
            await self._load_sources(ranking)

    async def load_only(self, ids: Sequence[int], now: float) -> None:
        """Read only these pages, for an estimate from a sample of all pages."""
        ranking = self._ranking
        if ranking is None:
            return
        await self.rows(ids, now)
        ranking.page_table.load_sites(await self._store.budgets.site_states())
        await self._load_sources(ranking, await self._store.signals.announcements(ids))

    def discard(self) -> None:
        """Read everything again before the next round: memory may be ahead of the store."""
        self._overrides_read_at = -float("inf")
        if self._ranking is not None:
            self._loaded_at = -float("inf")
            self._ranking.clear()

    async def save_sites(self) -> None:
        """Store the site events that changed since the last call."""
        if self._ranking is not None and (states := self._ranking.page_table.changed_sites()):
            await self._store.budgets.save_site_states(states)

    async def rows(self, ids: Sequence[int], now: float) -> Rows:
        """The rows of these pages, which are loaded if necessary; -1 for requisites and paused pages."""
        ranking = self._ranking
        if ranking is None:
            return np.full(len(ids), -1, dtype=np.intp)
        rows = ranking.page_table.rows(ids)
        unknown = [id_ for id_, row in zip(ids, rows.tolist(), strict=True) if row < 0]
        if unknown and (pages := await self._weighted(await self._store.budgets.summaries_of(unknown), ranking)):
            ranking.page_table.add(pages, await self._states(pages, ranking.policy), now / DAY_S)
            await self._apply_overrides(ranking, now)
            ranking.has_new_announcements = True
            rows = ranking.page_table.rows(ids)
        return rows

    async def evidence(self, page: Page, now: float) -> dict[str, object]:
        """The evidence for a page's next visit, for `why`; loads only this page."""
        ranking = self._ranking
        if ranking is not None:
            stored = {state.name: state for state in await self._store.budgets.states()}
            if ALL in stored:
                ranking.price = stored[ALL].price
            row = int((await self.rows([page.id], now))[0])
            if row >= 0:
                ranking.page_table.load_sites(await self._store.budgets.site_states([page.host]))
                await self._load_sources(ranking, await self._store.signals.announcements([page.id]))
        return {**self._schedule.evidence(page, now), **await self._importance(page), **await self._copies(page)}

    async def _importance(self, page: Page) -> dict[str, object]:
        """The importance that the page's weight comes from, if it counts."""
        ranking = self._ranking
        if ranking is None or not ranking.importance or page.weight != DEFAULT_WEIGHT:
            return {}
        found = await self._store.facts.importance([page.id])
        return {"importance": round(found[page.id].rank, 6)} if page.id in found else {}

    async def _copies(self, page: Page) -> dict[str, object]:
        """The copies in archives that the belief about a page is also from, if there are any."""
        copies = await self._store.copies.rows([page.id])
        if not copies:
            return {}
        archives = sorted({copy.archive for copy in copies})
        return {"copies": len(copies), "archives": archives, "last_copy_at": copies[-1].at}

    # ── pages ───────────────────────────────────────────────────────────────────────────────────────────────

    async def _reload(self, ranking: ValueSchedule, now: float) -> None:
        await self.save_sites()
        ranking.clear()
        self._largest_id = await self._store.queue.largest_id()
        await self._load_pages(ranking, 0, now)
        ranking.page_table.load_sites(await self._store.budgets.site_states())

    async def _load_pages(self, ranking: ValueSchedule, after: int, now: float) -> None:
        pages: list[PageSummary] = []
        states: list[bytes | None] = []
        async for chunk in page_chunks(self._store, after):
            pages += await self._weighted(chunk, ranking)
            states += await self._states(chunk, ranking.policy)
        ranking.page_table.add(pages, states, now / DAY_S)

    async def _weighted(self, pages: list[PageSummary], ranking: ValueSchedule) -> list[PageSummary]:
        """The pages, with the weight of their importance if they have none of their own."""
        if not ranking.importance:
            return pages
        found = await self._store.facts.importance([page.id for page in pages if page.weight == DEFAULT_WEIGHT])
        return [
            replace(page, weight=importance_weight(found[page.id].rank, ranking.importance))
            if page.id in found
            else page
            for page in pages
        ]

    async def _states(self, pages: Sequence[PageSummary], policy: ValuePolicy) -> list[bytes | None]:
        """The policy's state of each page: as stored, else computed from its visits; None if it was not seen yet."""
        size = policy.dtype.itemsize
        states: list[bytes | None] = [
            page.policy_state if page.policy == policy.name and len(page.policy_state) == size else None
            for page in pages
        ]
        missing = [
            page.id
            for page, state in zip(pages, states, strict=True)
            if state is None and page.last_seen_at is not None
        ]
        if missing:
            computed = replayed(policy, await self._store.visit_log.observations(missing))
            states = [computed.get(page.id, state) for page, state in zip(pages, states, strict=True)]
        return states

    # ── overrides and announcements ─────────────────────────────────────────────────────────────────────────

    async def _apply_overrides(self, ranking: ValueSchedule, now: float) -> None:
        overrides = await self._read_overrides()
        limited = {page.id: url for url in overrides.pages if (page := await self._store.pages.get(url)) is not None}
        ranking.apply_overrides(overrides, limited, now)

    async def _read_overrides(self) -> Overrides:
        limits = await self._store.budgets.interval_limits()
        return Overrides(
            boosts={boost.tag: boost for boost in await self._store.budgets.boosts()},
            pages={limit.name: limit for limit in limits if limit.kind == "page"},
            tags={limit.name: limit for limit in limits if limit.kind == "tag"},
            visit_times={} if self._ranking is None else await self._visit_times(),
        )

    async def _visit_times(self) -> dict[int, VisitTimes]:
        return {times.page_id: times for times in await self._store.pages.visit_times()}

    async def _load_announcements(self, ranking: ValueSchedule) -> None:
        announcements: list[Announcement] = []
        after = 0
        while chunk := await self._store.signals.announcements_after(after, _CHUNK):
            announcements += chunk
            after = chunk[-1].page_id
        await self._load_sources(ranking, announcements)
        ranking.has_new_announcements = False

    async def _load_sources(self, ranking: ValueSchedule, announcements: Sequence[Announcement] | None = None) -> None:
        """Read the counts of all sources; and use these announcements, if they have changed."""
        ranking.has_new_checks = False
        sources = await self._store.signals.sources()
        if sources or announcements:
            ids = await self._store.pages.known([source.url for source in sources])
            ranking.page_table.load_sources(sources, ids, announcements)


async def page_chunks(store: Store, after: int = 0) -> AsyncIterator[list[PageSummary]]:
    """All active pages with larger ids, in chunks."""
    while chunk := await store.budgets.summaries(after, _CHUNK):
        yield chunk
        if len(chunk) < _CHUNK:
            return
        after = chunk[-1].id
