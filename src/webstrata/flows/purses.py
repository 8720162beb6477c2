"""The budgets of all pages, tags and hosts while they are spent; how they stand survives restarts.

What is claimed is paid for at once and given back if it was not visited, so a crash costs budget and never exceeds it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from webstrata.clock import DAY_S
from webstrata.ports import Store
from webstrata.records import PaceState, Page, PageRole, Visit
from webstrata.schedule.budget import Budget, Purse, Rate

ALL = "all"
THRESHOLD = "threshold"
"""Kept like a budget: what pages were worth that the budget just paid for."""
_FIRST_GUESS_BYTES = 50_000.0
"""What a visit is taken to cost where none was made yet."""
_FADING = 0.02
_ENDLESS = float("inf")


class Purses:
    """`read` gives the budget as it is set now; `share` is what policies with a common budget have without one."""

    def __init__(
        self,
        read: Callable[[], Budget],
        share: Rate | None,
        *,
        least_saved_days: float,
        first_price: float | None = None,
    ) -> None:
        """`first_price`: where the price starts, for a policy whose values are of another size than usual."""
        self._read = read
        self._share = share
        self._least_saved_days = least_saved_days
        self._first_price = first_price
        self._purses: dict[str, Purse] = {}
        self.visit_bytes = _FIRST_GUESS_BYTES

    @property
    def total(self) -> Purse | None:
        return self._purses.get(ALL)

    @property
    def price(self) -> float:
        total = self.total
        return total.price if total is not None else 0.0

    @property
    def are_set(self) -> bool:
        return self._share is not None or self._read().is_set

    async def load(self, store: Store, now: float) -> float | None:
        """How the budgets stood; the threshold as it was kept."""
        kept = {state.name: state for state in await store.paces()}
        self._purses = {}
        for name, rate, saved_days in self._set():
            self._purses[name] = self._made(name, rate, saved_days, now, kept.get(name))
        days = await store.host_days(since_day=int(now // DAY_S) - 7)
        visits = sum(day.visits for day in days)
        if visits:
            self.visit_bytes = max(1.0, sum(day.bytes for day in days) / visits)
        return kept[THRESHOLD].price if THRESHOLD in kept else None

    def _made(self, name: str, rate: Rate, saved_days: float, now: float, state: PaceState | None) -> Purse:
        if state is None and self._first_price is not None:
            saved = 0.0 if rate.per_page else rate.amount * saved_days
            state = PaceState(name=name, price=self._first_price, credit=saved, at=now)
        return Purse(name, rate, saved_days=saved_days, now=now, state=state)

    def _set(self) -> Iterator[tuple[str, Rate, float]]:
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
        current: dict[str, Purse] = {}
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

    def reserve(self, page: Page) -> None:
        for name in self.names(page):
            self._purses[name].spend(1, round(self.visit_bytes))

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
        states = [purse.state() for purse in self._purses.values()]
        if threshold is not None:
            states.append(PaceState(name=THRESHOLD, price=threshold, credit=0.0, at=now))
        await store.save_paces(states)
