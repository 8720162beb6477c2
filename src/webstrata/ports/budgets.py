"""The store's role for budgets: their state and reservations, the pages, boosts and interval limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from webstrata.records import Boost, BudgetState, IntervalLimit, PageSummary

ReservationPlan = Callable[[Mapping[str, BudgetState], Mapping[str, float]], Sequence[tuple[BudgetState, float]]]
"""(budget states, the owner's unspent reservations) -> (new budget state, new reservation) for each changed budget."""


class BudgetStore(Protocol):
    """Budgets that several processes share."""

    async def states(self) -> list[BudgetState]: ...

    async def reserved(self, owner: str, now: float) -> tuple[dict[str, BudgetState], dict[str, float]]:
        """The budget states, including expired reservations of other owners, and the owner's unspent reservations."""
        ...

    async def reserve(self, owner: str, now: float, until: float, plan: ReservationPlan) -> None:
        """Take or return reservations in one transaction.

        `plan` receives what `reserved` returns, and returns the budgets that it changes: the state after the
        reservation, and the amount that the owner holds from now on. Reservations of other budgets are returned.
        Reservations that are not spent (`Batch.paid`) by `until` are returned too. `plan` may be called more than once.
        """
        ...

    async def summaries(self, after: int, limit: int) -> list[PageSummary]:
        """The next active pages by id, without requisites."""
        ...

    async def summaries_of(self, ids: Sequence[int]) -> list[PageSummary]: ...

    async def site_states(self, hosts: Sequence[str] | None = None) -> dict[str, bytes]:
        """The stored policy state of these hosts (default: all), by host."""
        ...

    async def save_site_states(self, states: Sequence[tuple[str, bytes]]) -> None: ...

    async def boosts(self) -> list[Boost]: ...

    async def set_boost(self, boost: Boost) -> None: ...

    async def end_boost(self, tag: str) -> int:
        """Returns the number of boosts that ended: 1 or 0."""
        ...

    async def interval_limits(self) -> list[IntervalLimit]: ...

    async def set_interval_limit(self, limit: IntervalLimit) -> None:
        """Replace the limit of this page or tag. A limit without minimum and maximum removes it."""
        ...
