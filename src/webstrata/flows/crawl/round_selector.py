"""What a round visits: within the budgets first what must be visited, then what is worth most.

New pages, tries after failures, requisites and, under a timer policy, all that is due must be visited; the pages of a
budgeted policy compete. What a budget has no room for is moved to when it has, and says so (`why URL`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from msgspec import Struct

from webstrata.clock import DAY_S, span
from webstrata.columns import Rows
from webstrata.flows.crawl.budget_ledger import ALL, BudgetLedger
from webstrata.flows.crawl.value_schedule import ValueSchedule
from webstrata.permit.gate import PermitGate
from webstrata.ports import Store
from webstrata.records import DuePage, Page, Visit
from webstrata.schedule.budget import GroupCap, fill_budget
from webstrata.schedule.overrides import read_overrides
from webstrata.schedule.timer_schedule import TimerSchedule

LOOK_S = 3600.0
"""At least so often values are looked at, whatever was predicted: prices fall, and others may have been heard."""
SAVE_S = 3 * 3600.0
"""How often it is written down what sites do together; a crash costs the evidence since then, and no fact."""
_AHEAD = 4
"""Due pages looked at, for each that a round can take."""
_ENDLESS = float("inf")


class RoundRequest(Struct, frozen=True, kw_only=True):
    """The round that pages are wanted for."""

    now: float
    """When its pages are due."""
    ends_at: float
    lease_until: float
    owner: str
    most: int
    only_due: bool = False
    """Nothing but what must be visited: later passes of a crawl."""
    wanted: Collection[int] = ()
    """Pages that somebody asked for."""


class RoundSelector:
    """The one place where values, budgets and permits become visits."""

    def __init__(
        self, *, store: Store, gate: PermitGate, timetable: TimerSchedule | ValueSchedule, purses: BudgetLedger
    ) -> None:
        self._store = store
        self._gate = gate
        self._timetable = timetable
        self._values = timetable if isinstance(timetable, ValueSchedule) else None
        self._purses = purses
        self._is_open = False
        self._saved_at = self._looked_at = -_ENDLESS
        self._held: dict[int, Page] = {}
        self._counts: dict[str, int] = {}

    async def claim(self, wanted: RoundRequest) -> list[Page]:
        """Lease the pages of a round."""
        await self._look_around(wanted.now, wanted.owner)
        if self._values is None and not self._purses.are_set:
            return await self._store.queue.claim(wanted.now, wanted.most, wanted.lease_until, wanted.owner)
        due = await self._store.queue.due(wanted.now, _AHEAD * wanted.most)
        ids = [one.id for one in due]
        rows = await self._values.meet(ids, self._store, wanted.now) if self._values is not None else None
        # A single pass comes at long intervals, from cron: it may spend what a day gave.
        saved_days = 1.0 if wanted.ends_at == _ENDLESS else 0.0
        room = self._purses.rooms(wanted.now, self._pages_of, saved_days)
        if min(room.values(), default=1.0) < 1.0 and await self._purses.look(self._store, wanted.now):
            room = self._purses.rooms(wanted.now, self._pages_of, saved_days)
        if self._values is not None:
            self._values.price = self._purses.price
        musts, late = self._musts(due, rows, wanted, room)
        chosen = [] if wanted.only_due else self._chosen(wanted, room, wanted.most - len(musts), musts)
        claimed = await self._store.queue.claim_pages([*musts, *chosen], wanted.now, wanted.lease_until, wanted.owner)
        if claimed:
            claimed = await self._paid(claimed, wanted)
        self._hold(claimed, {*musts, *chosen})
        moves = [*late, *self._deferred(ids, rows, {*musts, *chosen}, wanted)]
        if moves:
            await self._store.queue.move(moves)
        return claimed

    async def _paid(self, claimed: list[Page], wanted: RoundRequest) -> list[Page]:
        """Those that the budgets pay for, with all who spend them; the others are given back."""
        until, now = wanted.lease_until, wanted.now
        paid = await self._purses.pay(
            self._store, claimed, now, until, count=self._pages_of, wanted=wanted.wanted, threshold=self._threshold
        )
        if len(paid) < len(claimed):
            kept = {page.id for page in paid}
            await self._store.queue.release([(page.id, None) for page in claimed if page.id not in kept])
        return paid

    def paid(self, visits: Sequence[Visit]) -> tuple[str, tuple[tuple[str, float], ...]]:
        """Who pays for visits that are about to become permanent, and what they take from each budget."""
        sums: dict[str, float] = {}
        for visit in visits:
            page = self._held.get(visit.page_id)
            for name, cost in self._purses.costs(page, visit) if page is not None else ():
                sums[name] = sums.get(name, 0.0) + cost
        return self._purses.owner, tuple(sums.items())

    def visited(self, visits: Sequence[Visit]) -> None:
        """These visits of claimed pages are permanent."""
        for visit in visits:
            page = self._held.pop(visit.page_id, None)
            if page is not None:
                self._purses.settle(page, visit)

    def ended(self) -> None:
        """The round is over: what was claimed and not visited costs nothing."""
        for page in self._held.values():
            self._purses.refund(page)
        self._held.clear()

    def failed(self) -> None:
        """A round broke: memory may be ahead of the store."""
        self.ended()
        if self._values is not None:
            self._values.forget()

    async def next_look(self) -> float:
        """When the next round makes sense: something must be visited, or may be worth it and can be paid for."""
        due = await self._store.queue.next_due()
        at = _ENDLESS if due is None else due
        if self._values is not None and len(self._values.crowd):
            at = min(at, max(self._looked_at + LOOK_S, self._purses.next_at()))
        return at

    async def save(self) -> None:
        """Write down what only memory knows: at times, and at the end."""
        if self._is_open:
            await self._purses.save(self._store, self._threshold, self._looked_at)
            await self._save_sites()

    @property
    def _threshold(self) -> float | None:
        return self._values.threshold if self._values is not None else None

    async def _save_sites(self) -> None:
        if self._values is not None and (states := self._values.crowd.changed_sites()):
            await self._store.budgets.save_site_states(states)

    async def _look_around(self, now: float, owner: str) -> None:
        """Take in what other processes changed."""
        self._looked_at = now
        if not self._is_open:
            threshold = await self._purses.load(self._store, now, owner)
            if self._values is not None:
                self._values.threshold = threshold or self._purses.price or self._values.threshold
            self._is_open, self._saved_at = True, now
        if self._values is not None:
            await self._values.refresh(self._store, now)
        else:
            self._timetable.wishes = await read_overrides(self._store)
            if self._purses.are_set:
                self._counts = {ALL: (await self._store.maintenance.totals(now)).pages}
        if now >= self._saved_at + SAVE_S:
            self._saved_at = now
            await self._save_sites()

    def _pages_of(self, name: str) -> int:
        """How many pages a budget by the page is for."""
        if self._values is None:
            return self._counts.get(name, 0)
        crowd = self._values.crowd
        kind, _, of = name.partition(":")
        if kind == "tag":
            return sum(of in tags for tags in crowd.tags)
        if kind == "host":
            return int(np.count_nonzero(crowd.host == crowd.hosts.index(of))) if of in crowd.hosts else 0
        return len(crowd)

    # ── what must be visited ────────────────────────────────────────────────────────────────────────────────

    def _musts(
        self, due: Sequence[DuePage], rows: Rows | None, wanted: RoundRequest, room: dict[str, float]
    ) -> tuple[list[int], list[tuple[int, float, str]]]:
        """Pages that compete with none, as far as budgets go; and moves of those that they have no room for."""
        taken: list[int] = []
        late: list[tuple[int, float, str]] = []
        for place, one in enumerate(due):
            row = -1 if rows is None else int(rows[place])
            if row >= 0 and self._values is not None and self._values.crowd.ready[row] and one.id not in wanted.wanted:
                continue
            if len(taken) >= wanted.most:
                break
            short = None if one.id in wanted.wanted else self._pay(one, room)
            if short is None:
                taken.append(one.id)
            else:
                late.append((one.id, *self._later(short, wanted.now)))
        return taken, late

    def _pay(self, one: DuePage, room: dict[str, float]) -> str | None:
        """Take a visit from every budget that it counts for; or the name of the one that has nothing left."""
        names = self._purses.names_of(one.host, one.tags, free=one.is_extra)
        for name in names:
            if room[name] < 1.0:
                return name
        for name in names:
            room[name] -= 1.0
        return None

    def _later(self, name: str, now: float) -> tuple[float, str]:
        wait_s = min(max(self._purses.next_at(name) - now, 1.0), LOOK_S)
        what = "the budget" if name == ALL else f"the budget of {name.partition(':')[2]}"
        return now + wait_s, f"{what} is spent; looked at again after {span(wait_s)}"

    # ── what is worth most ──────────────────────────────────────────────────────────────────────────────────

    def _chosen(self, wanted: RoundRequest, room: dict[str, float], count: int, taken: Sequence[int]) -> list[int]:
        """The most valuable pages that budgets pay for and hosts have time for."""
        if self._values is None:
            return []
        count = int(min(count, room.get(ALL, _ENDLESS)))
        if count <= 0:
            return []
        asked, crowd = 4 * count + 64, self._values.crowd
        already = set(taken)
        while True:
            ranked = self._values.ranked(wanted.now, asked)
            free = ranked[~np.isin(crowd.ids[ranked], list(already))] if already else ranked
            found = fill_budget(free, count, self._caps(free, wanted, room, taken))
            if len(found) >= count or len(ranked) < asked:
                self._values.chosen(found, used_up=len(found) >= count)
                return [int(id_) for id_ in crowd.ids[found]]
            asked *= 4

    def _caps(self, ranked: Rows, wanted: RoundRequest, room: dict[str, float], taken: Sequence[int]) -> list[GroupCap]:
        assert self._values is not None
        crowd = self._values.crowd
        hosts = np.unique(crowd.host[ranked]).tolist()
        busy: dict[int, int] = {}
        for row in crowd.rows(taken).tolist():
            if row >= 0:
                busy[int(crowd.host[row])] = busy.get(int(crowd.host[row]), 0) + 1
        caps = [
            GroupCap(group=crowd.host, room={host: self._host_room(host, wanted) - busy.get(host, 0) for host in hosts})
        ]
        budgets = {place: room[f"host:{crowd.hosts[place]}"] for place in hosts if f"host:{crowd.hosts[place]}" in room}
        if budgets:
            caps.append(GroupCap(group=crowd.host, room=budgets))
        for name, left in room.items():
            kind, _, tag = name.partition(":")
            if kind == "tag":
                group = np.full(len(crowd), -1, dtype=np.intp)
                group[[row for row in ranked.tolist() if tag in crowd.tags[row]]] = 0
                caps.append(GroupCap(group=group, room={0: left}))
        return caps

    def _host_room(self, host: int, wanted: RoundRequest) -> float:
        """Visits that a host has time for before the round ends; none while it rests."""
        assert self._values is not None
        free_at = self._gate.free_at(self._values.crowd.hosts[host], wanted.now)
        if free_at >= wanted.ends_at:
            return 0.0
        gap_s = self._gate.gap_s(self._values.crowd.host_urls[host])
        if wanted.ends_at == _ENDLESS or gap_s <= 0:
            return _ENDLESS
        return float((wanted.ends_at - free_at) // gap_s + 1)

    def _deferred(
        self, ids: Sequence[int], rows: Rows | None, taken: Collection[int], wanted: RoundRequest
    ) -> list[tuple[int, float, str]]:
        """Moves of pages that were predicted for now and are not worth it yet, or cannot be paid for."""
        if self._values is None or rows is None:
            return []
        ready = self._values.crowd.ready
        left = [
            (id_, int(row)) for id_, row in zip(ids, rows, strict=True) if row >= 0 and ready[row] and id_ not in taken
        ]
        if not left:
            return []
        places = np.array([row for _, row in left], dtype=np.intp)
        soonest = max(wanted.now + 60.0, min(wanted.ends_at, wanted.now + LOOK_S), self._purses.next_at())
        soonest = min(soonest, wanted.now + DAY_S)
        at = np.maximum(self._values.crossing(places, wanted.now), soonest)
        price = self._values.threshold
        return [
            (id_, float(then), f"not yet worth a visit at the price of {price:.2g}, or the budget is spent for now")
            for (id_, _), then in zip(left, at, strict=True)
        ]

    def _hold(self, claimed: Sequence[Page], asked: Collection[int]) -> None:
        for page in claimed:
            self._held[page.id] = page
        if self._values is not None and len(claimed) < len(asked):
            # Paused since, or held by another owner: not chosen again before all pages are read anew.
            gone = self._values.crowd.rows(set(asked) - {page.id for page in claimed})
            self._values.crowd.ready[gone[gone >= 0]] = False
