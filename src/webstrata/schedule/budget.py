"""A budget: visits or bytes a day for all pages, a tag or a host; how it is spent, and what more of it would buy.

500/day   20/hour   2GB/day   100MB/hour   0.5/page/day
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from webstrata.clock import DAY_S
from webstrata.columns import Column, Days, Rows
from webstrata.errors import BadSettings
from webstrata.records import BudgetState
from webstrata.schedule.allocator import BudgetPacer
from webstrata.schedule.policy import Bounds

Unit = Literal["visits", "bytes"]

_RATE = re.compile(
    r"(?P<number>\d+(?:\.\d+)?)\s*(?P<size>[KMGT]?B)?\s*(?P<page>/\s*page)?\s*/\s*(?P<span>hour|day|week)",
    re.IGNORECASE,
)
_SIZES = {"B": 1.0, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}
_PER_DAY = {"hour": 24.0, "day": 1.0, "week": 1.0 / 7.0}
_LEAST_BYTES = 1.0


class DailyRate(Struct, frozen=True, kw_only=True):
    """So much a day, of all pages together or of each."""

    amount: float
    unit: Unit = "visits"
    per_page: bool = False

    def per_day(self, pages: int) -> float:
        return self.amount * pages if self.per_page else self.amount


def parse_rate(text: str) -> DailyRate:
    """A rate as people write it; BadSettings where it is none."""
    found = _RATE.fullmatch(text.strip())
    if not found:
        raise BadSettings(f"no budget {text!r}. Write 500/day, 20/hour, 2GB/day or 0.5/page/day.")
    size = found["size"]
    amount = float(found["number"]) * (_SIZES[size.upper()] if size else 1.0) * _PER_DAY[found["span"].lower()]
    if not amount < float("inf"):
        raise BadSettings(f"a budget of {text!r} has no end: leave it out instead.")
    return DailyRate(amount=amount, unit="bytes" if size else "visits", per_page=found["page"] is not None)


ONE_A_DAY = DailyRate(amount=1.0, per_page=True)
"""What holds where nothing is set: one visit per page and day on average."""


class Budget(Struct, frozen=True, kw_only=True):
    """All budgets that hold at once. None for all pages: `ONE_A_DAY` for policies that share one, else no limit."""

    total: DailyRate | None = None
    tags: Mapping[str, DailyRate] = {}
    hosts: Mapping[str, DailyRate] = {}
    saved_days: float = 0.25
    """Unspent budget is kept for so long."""

    @property
    def is_set(self) -> bool:
        return self.total is not None or bool(self.tags) or bool(self.hosts)


class BudgetAccount:
    """One budget while it is spent. Visits are paid for after they were made, so it may owe; then it waits."""

    def __init__(
        self, name: str, rate: DailyRate, *, saved_days: float, now: float, state: BudgetState | None = None
    ) -> None:
        self.name = name
        self.rate = rate
        self._pace = BudgetPacer(per_day=rate.amount, saved_days=max(saved_days, 1e-3))
        self._at = now
        if state is None and not rate.per_page:  # the first pages need not wait; first copies of the others are free
            self._pace.credit = rate.amount * self._pace.saved_days
        if state is not None:
            self.resume(state, now)

    @property
    def price(self) -> float:
        """The value from which on a page is visited."""
        return self._pace.price

    @property
    def credit(self) -> float:
        """What may be spent now, in the unit of the rate; negative: owed."""
        return self._pace.credit

    @property
    def per_day(self) -> float:
        return self._pace.per_day

    def again(self, rate: DailyRate, saved_days: float) -> None:
        """Another rate from now on; what is saved and the price stay."""
        self.rate = rate
        self._pace.saved_days = max(saved_days, 1e-3)

    def resume(self, state: BudgetState, now: float) -> None:
        """Go on from how the budget stood then."""
        self._pace.price, self._pace.credit, self._at = state.price, state.credit, min(state.at, now)

    def room(self, now: float, pages: int, visit_bytes: float) -> int:
        """Time has passed: how many visits can be paid for now, one costing so many bytes.

        Where a visit costs more than can be saved, one is paid for when the purse is full.
        """
        pace = self._pace
        pace.per_day = self.rate.per_day(pages)
        owed = min(pace.credit, 0.0)
        pace.credit -= owed  # the price follows what is saved, not what is owed: else one large debt would stop all
        pace.allowance(max(now - self._at, 0.0) / DAY_S)
        pace.credit += owed
        self._at = max(now, self._at)
        if self.rate.unit == "visits":
            return max(int(pace.credit + 1e-9), 0)
        most = max(pace.per_day * pace.saved_days, 1.0)
        cost = max(visit_bytes, _LEAST_BYTES)
        return max(int(pace.credit / cost), int(pace.credit >= most and pace.per_day > 0))

    def cost(self, visits: int, size: int) -> int:
        """In the unit of the rate."""
        return visits if self.rate.unit == "visits" else size

    def spend(self, visits: int, size: int) -> None:
        self._pace.spent(self.cost(visits, size))

    def next_at(self, visit_bytes: float) -> float:
        """When the next visit can be paid for; never, with a budget of nothing."""
        most = max(self.per_day * self._pace.saved_days, 1.0)
        cost = 1.0 if self.rate.unit == "visits" else min(max(visit_bytes, _LEAST_BYTES), most)
        missing = cost - self.credit
        if missing <= 0:
            return self._at
        return self._at + DAY_S * missing / self.per_day if self.per_day > 0 else float("inf")

    def state(self) -> BudgetState:
        return BudgetState(name=self.name, price=self.price, credit=self.credit, at=self._at)


class GroupCap(Struct, frozen=True, kw_only=True):
    """Room for pages by group: those of a host, or of a tag."""

    group: NDArray[np.intp]
    """Group of every row; -1: not limited by this."""
    room: Mapping[int, float]
    """Visits left of a group; a group that is not named has no limit."""


def fill_budget(ranked: Rows, count: int, caps: Sequence[GroupCap]) -> Rows:
    """The first rows of a ranking that all caps have room for, at most `count`: what one leaves goes to the next."""
    if not caps:
        return ranked[: max(count, 0)]
    left = [dict(cap.room) for cap in caps]
    taken: list[int] = []
    for row in ranked.tolist():
        if len(taken) >= count:
            break
        groups = [int(cap.group[row]) for cap in caps]
        if all(room.get(group, 1.0) >= 1.0 for room, group in zip(left, groups, strict=True)):
            taken.append(row)
            for room, group in zip(left, groups, strict=True):
                if group in room:
                    room[group] -= 1.0
    return np.array(taken, dtype=np.intp)


def sane_weights(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights that can multiply values: what is no number counts as 1, what is below 0 as 0."""
    return np.maximum(np.where(np.isfinite(weights), weights, 1.0), 0.0)


class ExpectedYield(Struct, frozen=True, kw_only=True):
    """What a budget is expected to bring, if pages go on as forecast."""

    visits_per_day: float
    changes_per_day: float
    captured_per_day: float
    freshness: float
    """Share of pages whose copy is up to date, on average over time."""
    price: float


_X = np.concatenate([[0.0], np.geomspace(1e-6, 60.0, 4000)])
_WORTH = -np.expm1(-_X) - _X * np.exp(-_X)


def expected_yield(rate_per_day: Days, weights: Column, per_day: float, bounds: Bounds) -> ExpectedYield:
    """Every page visited when the value of a visit, 1 - (1 + x) e^-x with x = rate times age, passes one price; the
    price is the one at which all visits together are the budget. Intervals stay within the bounds."""
    rate = np.maximum(rate_per_day, 1e-9)
    low, high = 1e-12, max(float(weights.max(initial=0.0)), 1e-12)
    if per_day <= 0 or not len(rate):
        return ExpectedYield(
            visits_per_day=0.0, changes_per_day=float(rate.sum()), captured_per_day=0.0, freshness=0.0, price=high
        )
    for _ in range(50):
        middle = (low * high) ** 0.5
        if (1.0 / _intervals(rate, weights, middle, bounds)).sum() > per_day:
            low = middle
        else:
            high = middle
    days = _intervals(rate, weights, high, bounds)
    x = rate * days
    return ExpectedYield(
        visits_per_day=float((1.0 / days).sum()),
        changes_per_day=float(rate.sum()),
        captured_per_day=float((-np.expm1(-x) / days).sum()),
        freshness=float((-np.expm1(-x) / x).mean()),
        price=high,
    )


def _intervals(rate: Days, weights: Column, price: float, bounds: Bounds) -> Days:
    asked = price / np.maximum(weights, 1e-12)
    x = np.where(asked < _WORTH[-1], np.interp(asked, _WORTH, _X), np.inf)
    return bounds.clamp(x / rate)
