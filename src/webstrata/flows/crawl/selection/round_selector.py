"""`RoundSelector`: leases the pages of a round, and settles with the budgets what their visits cost."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Sequence

import numpy as np

from webstrata.flows.crawl.selection.budget_ledger import ALL, BudgetLedger
from webstrata.flows.crawl.selection.open_pages import claim_open, open_pages
from webstrata.flows.crawl.selection.page_choice import REVALUE_S, PageChoice, RoundRequest
from webstrata.flows.crawl.selection.schedule_input import RELOAD_S, ScheduleInput
from webstrata.flows.importance import update_importance
from webstrata.permit.gate import PermitGate
from webstrata.ports import Store
from webstrata.records import Page, Visit
from webstrata.schedule.schedule import Schedule

SAVE_S = 3 * 3600.0
"""How often site events are stored. A crash costs the evidence since then, but no observation."""
_DUE_PER_PAGE = 4
"""Due pages that are read for each page that a round can take."""
_ENDLESS = float("inf")


class RoundSelector:
    """Turns the choice of pages into leases, and visits into costs."""

    def __init__(self, *, store: Store, gate: PermitGate, schedule: Schedule, ledger: BudgetLedger) -> None:
        self._store = store
        self._ranking = schedule.ranking
        self._input = ScheduleInput(store, schedule)
        self._ledger = ledger
        self._leased: dict[int, Page] = {}
        self._choice = PageChoice(schedule.ranking, gate, ledger, busy=self._leased)
        self._is_open = False
        self._saved_at = self._selected_at = -_ENDLESS
        self._ranked_at = -_ENDLESS
        """When the importance of pages was computed, or this loop began."""
        self.lists_read: frozenset[int] = frozenset()
        """The lists of the last round."""
        self._pages = 0
        self._is_full = False
        self.memory = asyncio.Lock()
        """Held while pages are read into the schedule, and while a batch is learned and committed: otherwise a page
        could be read as it was before its visit."""

    @property
    def has_read_lists(self) -> bool:
        """The last round read lists: another round at the same time knows what they announce."""
        return bool(self.lists_read)

    async def claim(self, request: RoundRequest) -> list[Page]:
        """Lease the pages of a round."""
        await self._refresh(request.now, request.owner)
        if request.requested:
            return await self._claim_requested(request)
        if self._ranking is None and not self._ledger.has_budgets:
            pages = await claim_open(self._store, request.now, request.max_pages, request.lease_until, request.owner)
            self._is_full = len(pages) >= request.max_pages
            return pages
        due = await self._store.queue.due(request.now, _DUE_PER_PAGE * request.max_pages)
        due, closed = open_pages(due, request.now)
        ids = [page.id for page in due]
        async with self.memory:
            rows = await self._input.rows(ids, request.now)
        room = await self._room(request)
        must, moves = self._choice.must_visit(due, rows, request, room)
        chosen = [] if request.only_due else self._choice.lists(request, room, must)
        # Lists are read in a round of their own: the next one, which starts at once, knows what they announce.
        self.lists_read = frozenset(chosen)
        if not chosen and not request.only_due:
            chosen = self._choice.most_valuable(request, room, request.max_pages - len(must), must)
        selected = {*must, *chosen}
        self._is_full = len(selected) >= request.max_pages
        queue = self._store.queue
        leased = await queue.claim_pages([*must, *chosen], request.now, request.lease_until, request.owner)
        if leased:
            leased = await self._reserve(leased, request)
        self._keep(leased, selected)
        moves += self._choice.postponed(due, rows, {*selected, *(id_ for id_, _, _ in moves)}, request)
        if moves or closed:
            await queue.move([*moves, *closed])
        return leased

    async def _claim_requested(self, request: RoundRequest) -> list[Page]:
        """Lease the pages that a user requested; the budgets pay for them even if nothing is left."""
        leased = await self._store.queue.claim_pages(request.requested, request.now, request.lease_until, request.owner)
        if leased and (self._ranking is not None or self._ledger.has_budgets):
            await self._room(request)
            leased = await self._reserve(leased, request)
            self._leased |= {page.id: page for page in leased}
        return leased

    async def _room(self, request: RoundRequest) -> dict[str, float]:
        """The visits that each budget pays for."""
        # A single pass is often started by cron at long intervals: it may spend the budget of a whole day.
        saved_days = 1.0 if request.ends_at == _ENDLESS else 0.0
        room = self._ledger.rooms(request.now, self._page_count, saved_days)
        if min(room.values(), default=1.0) < 1.0 and await self._ledger.recheck(self._store, request.now):
            room = self._ledger.rooms(request.now, self._page_count, saved_days)
        if self._ranking is not None:
            self._ranking.counts_bytes = self._ledger.counts_bytes
            if self._ledger.counts_bytes and self._ledger.bytes_left > 0:
                room[ALL] = max(room[ALL], 1.0)  # a first copy does not wait until its unknown size is saved
            ledger = self._ledger
            self._ranking.price_forecast.budget(
                ledger.visits_per_day, ledger.saved_visits, request.now, pays_rhythms=ledger.pays_rhythms
            )
        return room

    async def _reserve(self, leased: list[Page], request: RoundRequest) -> list[Page]:
        """The pages that the budgets, shared with other processes, pay for; the others are released."""
        paid = await self._ledger.reserve(
            self._store,
            leased,
            request.now,
            request.lease_until,
            count=self._page_count,
            required={*request.requested, *(page.id for page in leased if page.every_s is not None)},
            expected_bytes=self._choice.expected_bytes,
        )
        if len(paid) < len(leased):
            kept = {page.id for page in paid}
            await self._store.queue.release([(page.id, None) for page in leased if page.id not in kept])
        return paid

    # ── while the round runs ────────────────────────────────────────────────────────────────────────────────

    def paid(self, visits: Sequence[Visit]) -> tuple[str, tuple[tuple[str, float], ...]]:
        """Who pays for visits that are about to be committed, and what they take from each budget."""
        sums: dict[str, float] = {}
        for visit in visits:
            page = self._leased.get(visit.page_id)
            for name, cost in self._ledger.costs(page, visit) if page is not None else ():
                sums[name] = sums.get(name, 0.0) + cost
        return self._ledger.owner, tuple(sums.items())

    def visited(self, visits: Sequence[Visit]) -> None:
        """These visits of leased pages are committed."""
        for visit in visits:
            page = self._leased.pop(visit.page_id, None)
            if page is not None:
                self._ledger.settle(page, visit)

    def released(self, ids: Iterable[int]) -> None:
        """These pages were not visited: they cost nothing."""
        for id_ in ids:
            page = self._leased.pop(id_, None)
            if page is not None:
                self._ledger.refund(page)

    def ended(self) -> None:
        """All visits are over: leased pages that were not visited cost nothing."""
        self.released(list(self._leased))

    def failed(self) -> None:
        """The crawl failed: memory may be ahead of the store."""
        self.ended()
        self._input.discard()

    def stepped(self, seconds: float) -> None:
        """The clock was set by so much: all pages are read again, since the store has moved their times."""
        self._input.discard()
        self._ledger.shift(seconds)
        self._saved_at += seconds
        self._ranked_at += seconds
        self._selected_at += seconds

    async def has_more(self, now: float) -> bool:
        """Whether pages are left for which the last round had no room: it was full, or pages are due."""
        due = None if self._is_full else await self._store.queue.next_due()
        return self._is_full or (due is not None and due <= now)

    async def next_round_at(self) -> float:
        """When a page must be visited, or may be worth a visit that the budget pays for."""
        due = await self._store.queue.next_due()
        at = _ENDLESS if due is None else due
        if self._ranking is not None and len(self._ranking.page_table):
            at = min(at, max(self._selected_at + (0.0 if self.has_read_lists else REVALUE_S), self._ledger.next_at()))
        return at

    async def save(self) -> None:
        """Store what is only in memory; called at the end."""
        if self._is_open:
            await self._ledger.save(self._store, self._selected_at)
            await self._input.save_sites()

    async def _refresh(self, now: float, owner: str) -> None:
        """Read what other processes changed, and store site events from time to time. Once a day, before all pages are
        read again, their importance is computed if it counts."""
        self._selected_at = now
        if not self._is_open:
            await self._ledger.load(self._store, now, owner)
            if self._ranking is not None:
                self._ranking.price = self._ledger.price or self._ranking.price
            self._is_open, self._saved_at = True, now
            self._ranked_at = now
        if self._ranking is not None and self._ranking.importance and not 0 <= now - self._ranked_at < RELOAD_S:
            self._ranked_at = now
            await update_importance(self._store)
        async with self.memory:
            await self._input.refresh(now)
        if self._ranking is None and self._ledger.has_budgets:
            self._pages = (await self._store.maintenance.totals(now)).pages
        if now >= self._saved_at + SAVE_S:
            self._saved_at = now
            await self._input.save_sites()

    def _page_count(self, name: str) -> int:
        """The number of pages of a budget, for budgets per page."""
        kind, _, of = name.partition(":")
        if self._ranking is None:
            return self._pages if name == ALL else 0
        pages = self._ranking.page_table
        if kind == "tag":
            return sum(of in tags for tags in pages.tags)
        if kind == "host":
            return int(np.count_nonzero(pages.host == pages.hosts.index(of))) if of in pages.hosts else 0
        return len(pages)

    def _keep(self, leased: Sequence[Page], selected: Collection[int]) -> None:
        self._leased |= {page.id: page for page in leased}
        if self._ranking is not None and len(leased) < len(selected):
            # Paused meanwhile, or leased by another process: not chosen again before all pages are reloaded.
            pages = self._ranking.page_table
            rows = pages.rows(set(selected) - {page.id for page in leased})
            pages.ready[rows[rows >= 0]] = False
