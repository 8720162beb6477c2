"""A budget: visits or bytes per day for all pages, a tag or a host; how it is spent, and its expected yield.

Budgets are written like this: 500/day, 20/hour, 2GB/day, 100MB/hour, 0.5/page/day.
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
from webstrata.schedule.policy import Bounds

Unit = Literal["visits", "bytes"]

_RATE = re.compile(
    r"(?P<number>\d+(?:\.\d+)?)\s*(?P<size>[KMGT]?B)?\s*(?P<page>/\s*page)?\s*/\s*(?P<span>hour|day|week)",
    re.IGNORECASE,
)
_SIZES = {"B": 1.0, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}
_PER_DAY = {"hour": 24.0, "day": 1.0, "week": 1.0 / 7.0}
_MIN_VISIT_BYTES = 1.0
_SET_BACK_S = 60.0


class DailyRate(Struct, frozen=True, kw_only=True):
    """An amount per day, of all pages together or of each page."""

    amount: float
    unit: Unit = "visits"
    per_page: bool = False
    ceiling: float | None = None
    """With `per_page`: not more than this for all pages together, but one visit per page in any case."""

    def per_day(self, pages: int) -> float:
        total = self.amount * pages if self.per_page else self.amount
        return total if self.ceiling is None else min(total, max(self.ceiling, float(pages)))


def parse_rate(text: str) -> DailyRate:
    """The rate that a text describes. Raises BadSettings if it describes none."""
    match = _RATE.fullmatch(text.strip())
    if not match:
        raise BadSettings(f"no budget {text!r}. Write 500/day, 20/hour, 2GB/day or 0.5/page/day.")
    size = match["size"]
    amount = float(match["number"]) * (_SIZES[size.upper()] if size else 1.0) * _PER_DAY[match["span"].lower()]
    if not amount < float("inf"):
        raise BadSettings(f"a budget of {text!r} has no end: leave it out instead.")
    return DailyRate(amount=amount, unit="bytes" if size else "visits", per_page=match["page"] is not None)


DEFAULT_RATE = DailyRate(amount=6.0, per_page=True, ceiling=600.0)
"""The default: on average six visits a day of each page, at most 600 of all pages; from 600 pages on one visit per page
and day."""


class Budget(Struct, frozen=True, kw_only=True):
    """All budgets, which apply at the same time. Without a total, value policies use `DEFAULT_RATE`, timers none."""

    total: DailyRate | None = None
    tags: Mapping[str, DailyRate] = {}
    hosts: Mapping[str, DailyRate] = {}
    saved_days: float = 0.25
    """How long unspent budget is kept."""

    @property
    def is_set(self) -> bool:
        return self.total is not None or bool(self.tags) or bool(self.hosts)


class BudgetAccount:
    """One budget while it is spent. A visit may cost more than was reserved; the credit is then negative for a time."""

    def __init__(
        self,
        name: str,
        rate: DailyRate,
        *,
        saved_days: float,
        now: float,
        first_price: float = 0.05,
        state: BudgetState | None = None,
    ) -> None:
        self.name = name
        self.rate = rate
        self.saved_days = max(saved_days, 1e-3)
        """How long unspent budget is kept."""
        self.price = first_price
        """The value of the last visit that the budget paid for, smoothed."""
        self.per_day = rate.amount
        self.credit = 0.0
        """What may be spent now, in the unit of the rate; negative if more was spent than was available."""
        self._at = now
        if state is None and not rate.per_page:  # per-page budgets do not pay for first copies
            self.credit = rate.amount * self.saved_days
        if state is not None:
            self.resume(state, now)

    def change_rate(self, rate: DailyRate, saved_days: float) -> None:
        """Use another rate from now on; credit and price stay."""
        self.rate = rate
        self.saved_days = max(saved_days, 1e-3)

    def resume(self, state: BudgetState, now: float) -> None:
        """Continue from a stored state."""
        self.price, self.credit, self._at = state.price, state.credit, min(state.at, now)

    def room(self, now: float, pages: int, visit_bytes: float) -> int:
        """Advance to `now`; the number of visits that can be paid for, each of `visit_bytes`.

        What cannot be spent on a whole visit stays: one visit more can be saved than `saved_days` bring.
        """
        self.per_day = self.rate.per_day(pages)
        cost = self._visit_cost(visit_bytes)
        most = self.per_day * self.saved_days + cost
        self.credit = min(self.credit + self.per_day * max(now - self._at, 0.0) / DAY_S, max(most, self.credit))
        # Calls a moment earlier than the last one happen. Much earlier, the clock was set back: without this the budget
        # would bring nothing until the clock is where it was.
        self._at = now if now < self._at - _SET_BACK_S else max(now, self._at)
        return max(int(self.credit / cost + 1e-9), 0)

    def _visit_cost(self, visit_bytes: float) -> float:
        return 1.0 if self.rate.unit == "visits" else max(visit_bytes, _MIN_VISIT_BYTES)

    def cost(self, visits: int, size: int) -> int:
        """The cost of visits in the unit of the rate; `size` is in bytes."""
        return visits if self.rate.unit == "visits" else size

    def spend(self, visits: int, size: int) -> None:
        self.credit -= self.cost(visits, size)

    def shift(self, seconds: float) -> None:
        """The clock was set by so much."""
        self._at += seconds

    def next_at(self, visit_bytes: float) -> float:
        """When the next visit can be paid for; infinity with a budget of 0."""
        missing = self._visit_cost(visit_bytes) - self.credit
        if missing <= 0:
            return self._at
        return self._at + DAY_S * missing / self.per_day if self.per_day > 0 else float("inf")

    def state(self) -> BudgetState:
        return BudgetState(name=self.name, price=self.price, credit=self.credit, at=self._at)


class GroupCap(Struct, frozen=True, kw_only=True):
    """Limits of the number of visits by group: the pages of a host, or of a tag."""

    group: NDArray[np.intp]
    """By row: its group; -1: not limited."""
    room: Mapping[int, float]
    """By group: the number of visits left; other groups have no limit."""


def fill_budget(ranked: Rows, count: int, caps: Sequence[GroupCap]) -> Rows:
    """The first rows of a ranking for which all caps have room, at most `count`."""
    if not caps:
        return ranked[: max(count, 0)]
    left = [dict(cap.room) for cap in caps]
    chosen: list[int] = []
    for row in ranked.tolist():
        if len(chosen) >= count:
            break
        groups = [int(cap.group[row]) for cap in caps]
        if all(room.get(group, 1.0) >= 1.0 for room, group in zip(left, groups, strict=True)):
            chosen.append(row)
            for room, group in zip(left, groups, strict=True):
                if group in room:
                    room[group] -= 1.0
    return np.array(chosen, dtype=np.intp)


def sane_weights(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights as factors of values: a weight that is not a finite number counts as 1, a negative one as 0."""
    return np.maximum(np.where(np.isfinite(weights), weights, 1.0), 0.0)


class ExpectedYield(Struct, frozen=True, kw_only=True):
    """The expected result of a budget, if pages change as forecast."""

    visits_per_day: float
    changes_per_day: float
    captured_per_day: float
    freshness: float
    """Share of pages whose copy is up to date, on average over time."""
    price: float
    median_days: float = float("inf")
    """Median of the pages' intervals."""


_X = np.concatenate([[0.0], np.geomspace(1e-6, 60.0, 4000)])
_WORTH = -np.expm1(-_X) - _X * np.exp(-_X)


def expected_yield(rate_per_day: Days, weights: Column, per_day: float, bounds: Bounds) -> ExpectedYield:
    """The yield if every page is visited when the value of a visit, 1 - (1 + x) e^-x with x = rate times age, passes a
    common price. The price is found by bisection so that all visits together spend the budget. Intervals stay within
    the bounds."""
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
    return yield_of_intervals(rate, _intervals(rate, weights, high, bounds), price=high)


def yield_of_intervals(rate_per_day: Days, days: Days, price: float = 0.0) -> ExpectedYield:
    """The yield if pages that change at these rates are visited at these intervals."""
    rate = np.maximum(rate_per_day, 1e-9)
    x = rate * days
    return ExpectedYield(
        visits_per_day=float((1.0 / days).sum()),
        changes_per_day=float(rate.sum()),
        captured_per_day=float((-np.expm1(-x) / days).sum()),
        freshness=float((-np.expm1(-x) / x).mean()),
        price=price,
        median_days=float(np.median(days)),
    )


def interval_at_price(rate_per_day: float, price: float, bounds: Bounds) -> float:
    """Days between the visits of a page of weight 1 with this rate of changes, at this price of a visit."""
    return float(_intervals(np.array([rate_per_day]), np.ones(1), price, bounds)[0])


def _intervals(rate: Days, weights: Column, price: float, bounds: Bounds) -> Days:
    worth = price / np.maximum(weights, 1e-12)
    x = np.where(worth < _WORTH[-1], np.interp(worth, _WORTH, _X), np.inf)
    return bounds.clamp(x / rate)
