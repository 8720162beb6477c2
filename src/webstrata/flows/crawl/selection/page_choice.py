"""Which pages a round visits: first those that must be visited, then the most valuable ones, within the budgets.

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
from webstrata.flows.crawl.selection.budget_ledger import ALL, BudgetLedger
from webstrata.flows.crawl.selection.open_pages import Move
from webstrata.permit.gate import PermitGate
from webstrata.records import DuePage
from webstrata.schedule.budget import GroupCap, fill_budget
from webstrata.schedule.value_schedule import ValueSchedule
from webstrata.schedule.visit_times import allowed_at

REVALUE_S = 3600.0
"""Values are computed at least this often, whatever was predicted: the price falls, and announcements arrive."""
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


class PageChoice:
    """Chooses pages by values, permits and the room of the budgets; it reads and writes no store."""

    def __init__(
        self, ranking: ValueSchedule | None, gate: PermitGate, ledger: BudgetLedger, *, busy: Collection[int] = ()
    ) -> None:
        """`busy`: ids of the pages that are visited now, for earlier claims; the caller keeps them up to date."""
        self._busy = busy
        self._ranking = ranking
        self._gate = gate
        self._ledger = ledger
        self.expected_bytes: dict[int, float] = {}
        """Of the pages that were chosen last, by id, if the budget is in bytes."""

    # ── pages that must be visited ──────────────────────────────────────────────────────────────────────────

    def must_visit(
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

    def lists(
        self, request: RoundRequest, room: dict[str, float], taken: Sequence[int], price: float | None = None
    ) -> list[int]:
        """The lists that are worth a read at this price (default: the present one), beside the pages that are taken;
        their hosts have time, and the budgets have room."""
        ranking = self._ranking
        count = int(min(request.max_pages - len(taken), room.get(ALL, _ENDLESS)))
        if ranking is None or count <= 0:
            return []
        rows = self._free(ranking, ranking.sources_to_read(request.now, count, self._ledger.visits_per_day, price), ())
        chosen = fill_budget(rows, count, self._caps(ranking, rows, request, room, taken)) if len(rows) else rows
        return [int(id_) for id_ in ranking.page_table.ids[chosen]]

    def most_valuable(
        self, request: RoundRequest, room: dict[str, float], count: int, must: Sequence[int]
    ) -> list[int]:
        """The most valuable pages for which the budgets have room and the hosts have time."""
        ranking = self._ranking
        self.expected_bytes = {}
        if ranking is not None and ranking.counts_bytes:
            return self._best_for_bytes(ranking, request, room, count, must)
        count = int(min(count, room.get(ALL, _ENDLESS)))
        if ranking is None or count <= 0:
            return []
        ids = ranking.page_table.ids
        limit = 4 * count + 64
        while True:
            ranked = ranking.ranked(request.now, limit)
            others = self._free(ranking, ranked, must)
            chosen = fill_budget(others, count, self._caps(ranking, others, request, room, must))
            if len(chosen) >= count or len(ranked) < limit:
                ranking.chosen(chosen, len(chosen) >= count, len(chosen) / max(self._ledger.visits_per_day, 1e-9))
                self._ledger.visited_at_price(ranking.price)
                pages = [int(id_) for id_ in ids[chosen]]
                if (left := count - len(pages)) > 0:  # what no page needs is spent on lists, which may name new pages
                    pages += self.lists(request, room, [*must, *pages], price=0.0)[:left]
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
        others = self._free(ranking, ranked, must)
        chosen = fill_budget(others, count, self._caps(ranking, others, request, room, must))
        expected = ranking.expected_bytes(chosen, request.now)
        paid = int(np.searchsorted(np.cumsum(expected) - expected, left, side="left"))
        rows = chosen[:paid]
        share = float(expected[:paid].sum()) / max(self._ledger.bytes_per_day, 1e-9)
        ranking.chosen(rows, paid < len(chosen) or paid >= count, share)
        self._ledger.visited_at_price(ranking.price)
        self.expected_bytes = dict(zip(ids[rows].tolist(), expected[:paid].tolist(), strict=True))
        return [int(id_) for id_ in ids[rows]]

    def _free(self, ranking: ValueSchedule, rows: Rows, must: Sequence[int]) -> Rows:
        """Those of the pages that are neither visited now nor chosen already."""
        taken = [*must, *self._busy]
        return rows[~np.isin(ranking.page_table.ids[rows], taken)] if taken else rows

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
        taken = Counter(int(pages.host[row]) for row in pages.rows([*must, *self._busy]).tolist() if row >= 0)
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

    def postponed(
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
