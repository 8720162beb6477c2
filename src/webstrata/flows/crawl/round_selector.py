"""Selects the pages of a round: first those that must be visited, then the most valuable ones, within the budgets.

New pages, retries after failures, requisites and, under a timer policy, all due pages must be visited; the pages of a
value policy compete. Pages for which a budget has no room are moved to a later time, with a reason (`why URL`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

import numpy as np
from msgspec import Struct

from webstrata.clock import DAY_S, span
from webstrata.columns import Rows
from webstrata.flows.crawl.budget_ledger import ALL, BudgetLedger
from webstrata.flows.crawl.open_pages import Move, claim_open, open_pages
from webstrata.flows.crawl.schedule_input import ScheduleInput
from webstrata.permit.gate import PermitGate
from webstrata.ports import Store
from webstrata.records import DuePage, Page, Visit
from webstrata.schedule.budget import GroupCap, fill_budget
from webstrata.schedule.schedule import Schedule
from webstrata.schedule.value_schedule import ValueSchedule
from webstrata.schedule.visit_times import allowed_at

REVALUE_S = 3600.0
"""Values are computed at least this often, whatever was predicted: the price falls, and announcements arrive."""
SAVE_S = 3 * 3600.0
"""How often site events are stored. A crash costs the evidence since then, but no observation."""
_DUE_PER_PAGE = 4
"""Due pages that are read for each page that a round can take."""
_ENDLESS = float("inf")


class RoundRequest(Struct, frozen=True, kw_only=True):
    """The round for which pages are selected."""

    now: float
    """Pages that are due until then are due."""
    ends_at: float
    lease_until: float
    owner: str
    max_pages: int
    only_due: bool = False
    """Select only pages that must be visited: for later passes of a crawl."""
    requested: Sequence[int] = ()
    """Ids of pages that a user requested: only these are selected, whatever their value and the budget."""


class RoundSelector:
    """Turns values, budgets and permits into leases of pages."""

    def __init__(self, *, store: Store, gate: PermitGate, schedule: Schedule, ledger: BudgetLedger) -> None:
        self._store = store
        self._gate = gate
        self._ranking = schedule.ranking
        self._input = ScheduleInput(store, schedule)
        self._ledger = ledger
        self._is_open = False
        self._saved_at = self._selected_at = -_ENDLESS
        self._leased: dict[int, Page] = {}
        self._expected_bytes: dict[int, float] = {}
        self.has_read_lists = False
        """The last round read lists: another round at the same time knows what they announce."""
        self._pages = 0
        self._is_full = False

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
        rows = await self._input.rows(ids, request.now)
        room = await self._room(request)
        must, moves = self._must_visit(due, rows, request, room)
        chosen = [] if request.only_due else self._lists(request, room, must)
        # Lists are read in a round of their own: the next one, which starts at once, knows what they announce.
        self.has_read_lists = bool(chosen)
        if not chosen and not request.only_due:
            chosen = self._most_valuable(request, room, request.max_pages - len(must), must)
        selected = {*must, *chosen}
        self._is_full = len(selected) >= request.max_pages
        queue = self._store.queue
        leased = await queue.claim_pages([*must, *chosen], request.now, request.lease_until, request.owner)
        if leased:
            leased = await self._reserve(leased, request)
        self._keep(leased, selected)
        moves += self._postponed(due, rows, {*selected, *(id_ for id_, _, _ in moves)}, request)
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
            expected_bytes=self._expected_bytes,
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

    def ended(self) -> None:
        """The round is over: leased pages that were not visited cost nothing."""
        for page in self._leased.values():
            self._ledger.refund(page)
        self._leased.clear()

    def failed(self) -> None:
        """The round ended with an error: memory may be ahead of the store."""
        self.ended()
        self._input.discard()

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
        """Read what other processes changed, and store site events from time to time."""
        self._selected_at = now
        if not self._is_open:
            await self._ledger.load(self._store, now, owner)
            if self._ranking is not None:
                self._ranking.price = self._ledger.price or self._ranking.price
            self._is_open, self._saved_at = True, now
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

    # ── pages that must be visited ──────────────────────────────────────────────────────────────────────────

    def _must_visit(
        self, due: Sequence[DuePage], rows: Rows, request: RoundRequest, room: dict[str, float]
    ) -> tuple[list[int], list[Move]]:
        """Due pages that do not compete, as far as the budgets go; and moves of those without budget."""
        must: list[int] = []
        moves: list[Move] = []
        for page, row in zip(due, rows.tolist(), strict=True):
            if row >= 0 and self._competes(row) and not page.is_unscheduled and not page.is_fixed:
                continue
            if len(must) >= request.max_pages:
                break
            spent = self._pay(page, room)
            if spent is None:
                must.append(page.id)
            else:
                moves.append((page.id, *self._when_refilled(spent, request.now)))
        return must, moves

    def _competes(self, row: int) -> bool:
        return self._ranking is not None and bool(self._ranking.page_table.ready[row])

    def _pay(self, page: DuePage, room: dict[str, float]) -> str | None:
        """Take a visit from every budget of the page; or the name of a budget that is spent.

        A page with a fixed rhythm is paid for in any case: other pages then get less.
        """
        names = self._ledger.names_of(page.host, page.tags, free=page.is_extra, fixed=page.is_fixed)
        spent = None if page.is_fixed else next((name for name in names if room[name] < 1.0), None)
        if spent is None:
            for name in names:
                room[name] -= 1.0
        return spent

    def _when_refilled(self, name: str, now: float) -> tuple[float, str]:
        wait_s = min(max(self._ledger.next_at(name) - now, 1.0), REVALUE_S)
        what = "the budget" if name == ALL else f"the budget of {name.partition(':')[2]}"
        return now + wait_s, f"{what} is spent; tried again after {span(wait_s)}"

    # ── lists and the most valuable pages ─────────────────────────────────────────────────────────────────────────────

    def _lists(
        self, request: RoundRequest, room: dict[str, float], taken: Sequence[int], price: float | None = None
    ) -> list[int]:
        """The lists that are worth a read at this price (default: the present one), beside the pages that are taken;
        their hosts have time, and the budgets have room."""
        ranking = self._ranking
        count = int(min(request.max_pages - len(taken), room.get(ALL, _ENDLESS)))
        if ranking is None or count <= 0:
            return []
        rows = ranking.sources_to_read(request.now, count, price)
        chosen = fill_budget(rows, count, self._caps(ranking, rows, request, room, taken)) if len(rows) else rows
        return [int(id_) for id_ in ranking.page_table.ids[chosen]]

    def _most_valuable(
        self, request: RoundRequest, room: dict[str, float], count: int, must: Sequence[int]
    ) -> list[int]:
        """The most valuable pages for which the budgets have room and the hosts have time."""
        ranking = self._ranking
        self._expected_bytes = {}
        if ranking is not None and ranking.counts_bytes:
            return self._best_for_bytes(ranking, request, room, count, must)
        count = int(min(count, room.get(ALL, _ENDLESS)))
        if ranking is None or count <= 0:
            return []
        ids = ranking.page_table.ids
        limit = 4 * count + 64
        while True:
            ranked = ranking.ranked(request.now, limit)
            others = ranked[~np.isin(ids[ranked], list(must))] if must else ranked
            chosen = fill_budget(others, count, self._caps(ranking, others, request, room, must))
            if len(chosen) >= count or len(ranked) < limit:
                ranking.chosen(chosen, len(chosen) >= count, len(chosen) / max(self._ledger.visits_per_day, 1e-9))
                self._ledger.visited_at_price(ranking.price)
                pages = [int(id_) for id_ in ids[chosen]]
                if (left := count - len(pages)) > 0:  # what no page needs is spent on lists, which may name new pages
                    pages += self._lists(request, room, [*must, *pages], price=0.0)[:left]
                return pages
            limit *= 4

    def _best_for_bytes(
        self, ranking: ValueSchedule, request: RoundRequest, room: dict[str, float], count: int, must: Sequence[int]
    ) -> list[int]:
        """The pages with the best value for their cost, until their expected bytes use up the budget. The last of them
        may cost more than is left, so that no page is too large to be visited at all."""
        left = self._ledger.bytes_left - len(must) * self._ledger.visit_bytes
        if left <= 0 or count <= 0:
            return []
        ids = ranking.page_table.ids
        ranked = ranking.ranked(request.now, 4 * count + 64)
        others = ranked[~np.isin(ids[ranked], list(must))] if must else ranked
        chosen = fill_budget(others, count, self._caps(ranking, others, request, room, must))
        expected = ranking.expected_bytes(chosen, request.now)
        paid = int(np.searchsorted(np.cumsum(expected) - expected, left, side="left"))
        rows = chosen[:paid]
        share = float(expected[:paid].sum()) / max(self._ledger.bytes_per_day, 1e-9)
        ranking.chosen(rows, paid < len(chosen) or paid >= count, share)
        self._ledger.visited_at_price(ranking.price)
        self._expected_bytes = dict(zip(ids[rows].tolist(), expected[:paid].tolist(), strict=True))
        return [int(id_) for id_ in ids[rows]]

    def _caps(
        self,
        ranking: ValueSchedule,
        ranked: Rows,
        request: RoundRequest,
        room: dict[str, float],
        must: Sequence[int],
    ) -> list[GroupCap]:
        pages = ranking.page_table
        hosts = np.unique(pages.host[ranked]).tolist()
        taken = Counter(int(pages.host[row]) for row in pages.rows(must).tolist() if row >= 0)
        host_room = {
            host: self._host_room(pages.hosts[host], pages.host_urls[host], request) - taken[host] for host in hosts
        }
        caps = [GroupCap(group=pages.host, room=host_room)]
        budgets = {host: room[f"host:{pages.hosts[host]}"] for host in hosts if f"host:{pages.hosts[host]}" in room}
        if budgets:
            caps.append(GroupCap(group=pages.host, room=budgets))
        for name, left in room.items():
            kind, _, tag = name.partition(":")
            if kind == "tag":
                group = np.full(len(pages), -1, dtype=np.intp)
                group[[row for row in ranked.tolist() if tag in pages.tags[row]]] = 0
                caps.append(GroupCap(group=group, room={0: left}))
        return caps

    def _host_room(self, host: str, url: str, request: RoundRequest) -> float:
        """Visits for which a host has time before the round ends; 0 while the host has asked for a pause."""
        free_at = self._gate.free_at(host, request.now)
        if free_at >= request.ends_at:
            return 0.0
        gap_s = self._gate.gap_s(url)
        if request.ends_at == _ENDLESS or gap_s <= 0:
            return _ENDLESS
        return float((request.ends_at - free_at) // gap_s + 1)

    def _postponed(
        self, due: Sequence[DuePage], rows: Rows, selected: Collection[int], request: RoundRequest
    ) -> list[Move]:
        """Moves of due pages that are not worth a visit yet, or that the budget does not pay for."""
        ranking = self._ranking
        if ranking is None:
            return []
        left = [
            (page, row)
            for page, row in zip(due, rows.tolist(), strict=True)
            if row >= 0 and self._competes(row) and page.id not in selected
        ]
        if not left:
            return []
        now = request.now
        soonest = max(now + 60.0, min(request.ends_at, now + REVALUE_S), self._ledger.next_at())
        crossing = ranking.crossing(np.array([row for _, row in left], dtype=np.intp), now)
        at = np.maximum(crossing, min(soonest, now + DAY_S))
        reason = f"not yet worth a visit at the price of {ranking.price:.2g}, or the budget is spent for now"
        return [(page.id, allowed_at(page, float(then)), reason) for (page, _), then in zip(left, at, strict=True)]

    def _keep(self, leased: Sequence[Page], selected: Collection[int]) -> None:
        self._leased |= {page.id: page for page in leased}
        if self._ranking is not None and len(leased) < len(selected):
            # Paused meanwhile, or leased by another process: not chosen again before all pages are reloaded.
            pages = self._ranking.page_table
            rows = pages.rows(set(selected) - {page.id for page in leased})
            pages.ready[rows[rows >= 0]] = False
