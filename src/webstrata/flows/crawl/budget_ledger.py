"""The budgets of all pages, tags and hosts while they are spent; how they stand survives restarts.

The store keeps how they stand for all processes that spend them; each takes the portion that its round needs. What is
claimed is paid for before it is visited and given back if it was not, so neither a crash nor a neighbour exceeds it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from webstrata.clock import DAY_S
from webstrata.ports import Store
from webstrata.records import BudgetState, Page, PageRole, Visit
from webstrata.schedule.budget import Budget, BudgetAccount, DailyRate
from webstrata.schedule.reservations import BudgetPositions, Payment, payment, resumed

ALL = "all"
THRESHOLD = "threshold"
"""Kept like a budget: what pages were worth that the budget just paid for."""
_FIRST_GUESS_BYTES = 50_000.0
"""What a visit is taken to cost where none was made yet."""
_FADING = 0.02
_LOOK_S = 3600.0
"""How often a budget that seems spent is asked for."""
_ENDLESS = float("inf")


class BudgetLedger:
    """`read` gives the budget as it is set now; `share` is what policies with a common budget have without one."""

    def __init__(
        self,
        read: Callable[[], Budget],
        share: DailyRate | None,
        *,
        least_saved_days: float,
        first_price: float | None = None,
    ) -> None:
        """`first_price`: where the price starts, for a policy whose values are of another size than usual."""
        self._read = read
        self._share = share
        self._least_saved_days = least_saved_days
        self._first_price = first_price
        self.owner = ""
        self._purses: dict[str, BudgetAccount] = {}
        self._written: dict[str, BudgetState] = {}
        self._looked_at = -_ENDLESS
        self.visit_bytes = _FIRST_GUESS_BYTES

    @property
    def total(self) -> BudgetAccount | None:
        return self._purses.get(ALL)

    @property
    def price(self) -> float:
        total = self.total
        return total.price if total is not None else 0.0

    @property
    def are_set(self) -> bool:
        return self._share is not None or self._read().is_set

    async def load(self, store: Store, now: float, owner: str) -> float | None:
        """How the budgets stood, with what an earlier run took and did not spend; the threshold as it was kept."""
        self.owner = owner
        await store.budgets.reserve(owner, now, now, lambda stands, own: ())
        kept = {state.name: state for state in await store.budgets.states()}
        self._purses = {}
        for name, rate, saved_days in self._set():
            self._purses[name] = self._made(name, rate, saved_days, now, kept.get(name))
        days = await store.maintenance.host_days(since_day=int(now // DAY_S) - 7)
        visits = sum(day.visits for day in days)
        if visits:
            self.visit_bytes = max(1.0, sum(day.bytes for day in days) / visits)
        return kept[THRESHOLD].price if THRESHOLD in kept else None

    def _made(
        self, name: str, rate: DailyRate, saved_days: float, now: float, state: BudgetState | None
    ) -> BudgetAccount:
        if state is None and self._first_price is not None:
            saved = 0.0 if rate.per_page else rate.amount * saved_days
            state = BudgetState(name=name, price=self._first_price, credit=saved, at=now)
        return BudgetAccount(name, rate, saved_days=saved_days, now=now, state=state)

    def _set(self) -> Iterator[tuple[str, DailyRate, float]]:
        budget = self._read()
        saved_days = max(budget.saved_days, self._least_saved_days)
        total = budget.total or self._share
        if total is not None:
            yield ALL, total, saved_days
        for tag, rate in budget.tags.items():
            yield f"tag:{tag}", rate, saved_days
        for host, rate in budget.hosts.items():
            yield f"host:{host}", rate, saved_days

    def rooms(self, now: float, pages: Callable[[str], int], saved_days: float = 0.0) -> dict[str, float]:
        """Visits that each budget pays for now; `pages` counts those that one is for. Follows changed settings.

        `saved_days`: what was not spent for so long counts, even if less is kept usually.
        """
        current: dict[str, BudgetAccount] = {}
        for name, rate, kept_days in self._set():
            purse = self._purses.get(name) or self._made(name, rate, kept_days, now, None)
            purse.again(rate, max(kept_days, saved_days))
            current[name] = purse
        self._purses = current
        return {name: float(purse.room(now, pages(name), self.visit_bytes)) for name, purse in current.items()}

    def names(self, page: Page) -> list[str]:
        """The budgets that a visit of this page is paid from."""
        return self.names_of(page.host, page.tags, free=page.role is PageRole.REQUISITE or page.last_seen_at is None)

    def names_of(self, host: str, tags: tuple[str, ...], *, free: bool) -> list[str]:
        """`free`: a first copy, or a part of a page: a budget by the page does not count it."""
        wanted = [ALL, f"host:{host}", *(f"tag:{tag}" for tag in tags)]
        found = [name for name in wanted if name in self._purses]
        return [name for name in found if not (free and self._purses[name].rate.per_page)]

    async def look(self, store: Store, now: float) -> bool:
        """Where a budget seems spent: whether others gave back, or took more, since it was looked at last."""
        if now < self._looked_at + _LOOK_S:
            return False
        self._looked_at = now
        stands, own = await store.budgets.reserved(self.owner, now)
        before = self._purses
        self._purses = resumed(before, BudgetPositions(stands=stands, own=own, written=self._written, now=now))
        return any(self._purses[name] is not purse for name, purse in before.items())

    async def pay(
        self,
        store: Store,
        pages: Sequence[Page],
        now: float,
        until: float,
        *,
        count: Callable[[str], int],
        wanted: Collection[int] = (),
        threshold: float | None = None,
    ) -> list[Page]:
        """Take the portions that visits of these pages will cost; those that could be paid for.

        A portion comes back after `until` if this process dies; `wanted` are paid for in any case, and owed.
        """
        made: list[Payment] = []
        kept = [] if threshold is None else [(BudgetState(name=THRESHOLD, price=threshold, credit=0.0, at=now), 0.0)]

        def deal(stands: Mapping[str, BudgetState], own: Mapping[str, float]) -> list[tuple[BudgetState, float]]:
            one = payment(
                self._purses,
                BudgetPositions(stands=stands, own=own, written=self._written, now=now),
                pages,
                names=self.names,
                room=lambda purse: purse.room(now, count(purse.name), self.visit_bytes),
                visit_bytes=round(self.visit_bytes),
                wanted=wanted,
            )
            made[:] = [one]
            return [(purse.state(), one.taken[name]) for name, purse in one.purses.items()] + kept

        await store.budgets.reserve(self.owner, now, until, deal)
        self._purses = made[0].purses
        self._written = {name: purse.state() for name, purse in self._purses.items()}
        return made[0].paid

    def costs(self, page: Page, visit: Visit) -> list[tuple[str, float]]:
        """What a visit takes from each budget."""
        return [(name, float(self._purses[name].cost(1, visit.bytes))) for name in self.names(page)]

    def refund(self, page: Page) -> None:
        for name in self.names(page):
            self._purses[name].spend(-1, -round(self.visit_bytes))

    def settle(self, page: Page, visit: Visit) -> None:
        """A reserved visit was made."""
        for name in self.names(page):
            self._purses[name].spend(0, visit.bytes - round(self.visit_bytes))
        self.visit_bytes = max(1.0, self.visit_bytes + _FADING * (visit.bytes - self.visit_bytes))

    def next_at(self, name: str = ALL) -> float:
        """When a budget can pay for the next visit."""
        purse = self._purses.get(name)
        return 0.0 if purse is None else purse.next_at(self.visit_bytes)

    async def save(self, store: Store, threshold: float | None, now: float) -> None:
        """Give back what is left of the portions, and write down how the budgets stand."""
        await self.pay(store, (), now, now, count=lambda name: 0, threshold=threshold)
