"""The budgets of all pages, tags and hosts while they are spent. Their state is in the store and survives restarts.

Several processes may spend the same budgets: each reserves what its round needs. Visits are paid for when their pages
are claimed, and refunded if they are not made, so that neither a crash nor another process exceeds a budget.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from webstrata.clock import DAY_S
from webstrata.ports import Store
from webstrata.records import BudgetState, Page, PageRole, Visit
from webstrata.schedule.budget import Budget, BudgetAccount, DailyRate
from webstrata.schedule.reservations import Reservation, StoredBudgets, reserve, resumed

ALL = "all"
_FIRST_VISIT_BYTES = 50_000.0
"""Assumed size of a visit before any was made."""
_SMOOTHING = 0.02
"""Weight of the latest visit in the average size of visits."""
_RECHECK_S = 3600.0
"""How often the store is asked whether a spent budget has been refilled by another process."""


class BudgetLedger:
    """The accounts of all budgets."""

    def __init__(
        self, read: Callable[[], Budget], default: DailyRate | None, *, least_saved_days: float, first_price: float
    ) -> None:
        """`read` returns the budget as it is set now; `default` is the total rate if none is set; `first_price` is the
        price at which a new budget starts."""
        self._read = read
        self._default = default
        self._least_saved_days = least_saved_days
        self._first_price = first_price
        self.owner = ""
        self._accounts: dict[str, BudgetAccount] = {}
        self._written: dict[str, BudgetState] = {}
        self._rechecked_at = -float("inf")
        self._is_default = True
        self.visit_bytes = _FIRST_VISIT_BYTES
        self._reserved_bytes: dict[int, int] = {}
        """By page: the expected size of its reserved visit."""

    @property
    def price(self) -> float | None:
        """The price of a visit as the total budget keeps it; None without a total budget."""
        total = self._accounts.get(ALL)
        return total.price if total is not None else None

    def visited_at_price(self, price: float) -> None:
        """Keep the price of a visit with the total budget."""
        if ALL in self._accounts:
            self._accounts[ALL].price = price

    @property
    def visits_per_day(self) -> float:
        """The visits that the total budget pays for in a day."""
        total = self._accounts.get(ALL)
        return 0.0 if total is None else total.per_day / max(total.cost(1, round(self.visit_bytes)), 1)

    @property
    def counts_bytes(self) -> bool:
        """The total budget is in bytes."""
        total = self._accounts.get(ALL)
        return total is not None and total.rate.unit == "bytes"

    @property
    def bytes_left(self) -> float:
        """What the total budget, which is in bytes, has left; negative if more was spent."""
        return self._accounts[ALL].credit

    @property
    def bytes_per_day(self) -> float:
        return self._accounts[ALL].per_day

    @property
    def saved_visits(self) -> float:
        """The visits, with fractions, that the total budget pays for at the time of the last `rooms`."""
        total = self._accounts.get(ALL)
        return 0.0 if total is None else total.credit / max(total.cost(1, round(self.visit_bytes)), 1)

    @property
    def pays_rhythms(self) -> bool:
        """Whether visits of pages with a fixed rhythm are taken from the total budget: not if it is the default."""
        return not self._is_default

    @property
    def has_budgets(self) -> bool:
        return self._default is not None or self._read().is_set

    async def load(self, store: Store, now: float, owner: str) -> None:
        """Load the accounts, and return unspent reservations of an earlier run."""
        self.owner = owner
        await store.budgets.reserve(owner, now, now, lambda states, own: ())
        stored = {state.name: state for state in await store.budgets.states()}
        self._accounts = {
            name: self._account(name, rate, saved_days, now, stored.get(name))
            for name, rate, saved_days in self._configured()
        }
        days = await store.maintenance.host_days(since_day=int(now // DAY_S) - 7)
        visits = sum(day.visits for day in days)
        if visits:
            self.visit_bytes = max(1.0, sum(day.bytes for day in days) / visits)

    def _account(
        self, name: str, rate: DailyRate, saved_days: float, now: float, state: BudgetState | None = None
    ) -> BudgetAccount:
        return BudgetAccount(name, rate, saved_days=saved_days, now=now, first_price=self._first_price, state=state)

    def _configured(self) -> Iterator[tuple[str, DailyRate, float]]:
        """(name, rate, days for which unspent budget is kept) of all budgets that are set now."""
        budget = self._read()
        saved_days = max(budget.saved_days, self._least_saved_days)
        total = budget.total or self._default
        self._is_default = budget.total is None
        if total is not None:
            yield ALL, total, saved_days
        for tag, rate in budget.tags.items():
            yield f"tag:{tag}", rate, saved_days
        for host, rate in budget.hosts.items():
            yield f"host:{host}", rate, saved_days

    def rooms(self, now: float, pages: Callable[[str], int], saved_days: float = 0.0) -> dict[str, float]:
        """The visits that each budget pays for now; `pages` counts the pages of a budget. Follows changed settings.

        `saved_days` is the least time for which unspent budget counts.
        """
        current: dict[str, BudgetAccount] = {}
        for name, rate, kept_days in self._configured():
            account = self._accounts.get(name) or self._account(name, rate, kept_days, now)
            account.change_rate(rate, max(kept_days, saved_days))
            current[name] = account
        self._accounts = current
        return {name: float(account.room(now, pages(name), self.visit_bytes)) for name, account in current.items()}

    def names(self, page: Page) -> list[str]:
        """The budgets from which a visit of this page is paid."""
        is_first = page.last_seen_at is None or page.interval_s is None
        is_extra = page.role is PageRole.REQUISITE or is_first
        return self.names_of(page.host, page.tags, free=is_extra, fixed=page.every_s is not None)

    def names_of(self, host: str, tags: tuple[str, ...], *, free: bool, fixed: bool) -> list[str]:
        """`free`: a first copy or a requisite, which a budget per page does not count. `fixed`: by a rhythm, which the
        default budget does not count: it must not take the visits of other pages."""
        possible = [ALL, f"host:{host}", *(f"tag:{tag}" for tag in tags)]
        if fixed and self._is_default:
            possible.remove(ALL)
        names = [name for name in possible if name in self._accounts]
        return [name for name in names if not (free and self._accounts[name].rate.per_page)]

    async def recheck(self, store: Store, now: float) -> bool:
        """Ask the store, at most once an hour, for the state of the budgets; whether another process changed one."""
        if now < self._rechecked_at + _RECHECK_S:
            return False
        self._rechecked_at = now
        states, own = await store.budgets.reserved(self.owner, now)
        before = self._accounts
        self._accounts = resumed(before, StoredBudgets(states=states, own=own, written=self._written, now=now))
        return any(self._accounts[name] is not account for name, account in before.items())

    async def reserve(
        self,
        store: Store,
        pages: Sequence[Page],
        now: float,
        until: float,
        *,
        count: Callable[[str], int],
        required: Collection[int] = (),
        expected_bytes: Mapping[int, float] | None = None,
    ) -> list[Page]:
        """Reserve the cost of visits of these pages; the pages that could be paid for.

        `expected_bytes`: by page, the expected size of its visit, if that is better known than the average.
        The reservation expires after `until` if this process dies. Pages in `required` are paid for in any case.
        """
        reservations: list[Reservation] = []
        average = round(self.visit_bytes)
        sizes = {page.id: round((expected_bytes or {}).get(page.id, average)) for page in pages}

        def plan(states: Mapping[str, BudgetState], own: Mapping[str, float]) -> list[tuple[BudgetState, float]]:
            reservation = reserve(
                self._accounts,
                StoredBudgets(states=states, own=own, written=self._written, now=now),
                pages,
                names=self.names,
                room=lambda account: account.room(now, count(account.name), self.visit_bytes),
                visit_bytes=lambda page: sizes[page.id],
                required=required,
            )
            reservations[:] = [reservation]
            return [(account.state(), reservation.amounts[name]) for name, account in reservation.accounts.items()]

        await store.budgets.reserve(self.owner, now, until, plan)
        self._accounts = reservations[0].accounts
        self._written = {name: account.state() for name, account in self._accounts.items()}
        self._reserved_bytes |= {page.id: sizes[page.id] for page in reservations[0].pages}
        return reservations[0].pages

    def costs(self, page: Page, visit: Visit) -> list[tuple[str, float]]:
        """What a visit takes from each budget."""
        return [(name, float(self._accounts[name].cost(1, visit.bytes))) for name in self.names(page)]

    def refund(self, page: Page) -> None:
        """A reserved visit was not made."""
        reserved = self._reserved_bytes.pop(page.id, round(self.visit_bytes))
        for name in self.names(page):
            self._accounts[name].spend(-1, -reserved)

    def settle(self, page: Page, visit: Visit) -> None:
        """A reserved visit was made: charge its true size."""
        reserved = self._reserved_bytes.pop(page.id, round(self.visit_bytes))
        for name in self.names(page):
            self._accounts[name].spend(0, visit.bytes - reserved)
        self.visit_bytes = max(1.0, self.visit_bytes + _SMOOTHING * (visit.bytes - self.visit_bytes))

    def shift(self, seconds: float) -> None:
        """The clock was set by so much."""
        self._rechecked_at += seconds
        for account in self._accounts.values():
            account.shift(seconds)

    def next_at(self, name: str = ALL) -> float:
        """When a budget can pay for the next visit."""
        account = self._accounts.get(name)
        return 0.0 if account is None else account.next_at(self.visit_bytes)

    async def save(self, store: Store, now: float) -> None:
        """Return the unspent rest of the reservation, and store the accounts."""
        await self.reserve(store, (), now, now, count=lambda name: 0)
