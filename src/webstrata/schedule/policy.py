"""What a policy is: a few vectorised pure functions over arrays that the caller owns.

A timer policy gives each page an interval. A value policy says what a visit of each page is worth; the allocator visits
the most valuable pages within the budget. `testing.policy.check_policy` checks a policy of either kind.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Protocol

import numpy as np
from msgspec import Struct

from webstrata.columns import Column, Days, Flags, Rows, State
from webstrata.errors import BadSettings
from webstrata.predict.activity import Belief
from webstrata.predict.siblings import Siblings
from webstrata.schedule.forecast import NOTHING, ForecastTable, PageSignals

LARGEST_STATE = 256
"""Maximum size of a page's state in bytes."""


class Bounds(Struct, frozen=True, kw_only=True):
    """Limits of all intervals, and the first interval. The defaults are those of the lab, which replays days; the live
    loop has those of the settings, from ten minutes on."""

    min_days: float = 1.0
    max_days: float = 180.0
    start_days: float = 7.0

    def __post_init__(self) -> None:
        if not 0 < self.min_days <= self.max_days < float("inf"):
            raise BadSettings(
                f"the shortest interval ({self.min_days:g} d) must be positive and not above the longest "
                f"({self.max_days:g} d)."
            )

    def clamp(self, days: Days) -> Days:
        return np.clip(days, self.min_days, self.max_days)


class TimerPolicy(Protocol):
    """A policy that gives every page its own interval."""

    name: str
    dtype: np.dtype[np.void]
    """The state of one page is one row."""

    def start(self, n: int) -> State:
        """The state of n pages without any visit."""
        ...

    def learn(self, state: State, rows: Rows, elapsed_days: Days, changed: Flags) -> None:
        """Pages in `rows` were visited `elapsed_days` after the previous visit, and had changed or not. In place."""
        ...

    def interval(self, state: State, rows: Rows) -> Days:
        """Days from the last visit to the next."""
        ...

    def explain(self, state: State, row: int) -> dict[str, object]:
        """The evidence for one page's interval, for `why`."""
        ...


class ValuePolicy(Protocol):
    """A policy that values visits. `ValuePolicyBase` has defaults for all members that need not differ.

    `now` is in days of the caller's clock. The state has a column `seen_at`: the day of the last visit.
    """

    name: str
    dtype: np.dtype[np.void]
    bounds: Bounds
    has_forecast: bool
    """Whether `forecast` and `worth` are implemented. Only then does the policy get signals."""

    @property
    def siblings(self) -> Siblings | None:
        """Model of the joint events of a site's pages, which reach the policy as signals; None: not used."""
        ...

    @property
    def first_price(self) -> float:
        """The price at which a new store starts: about the value of a visit that the budget just pays for."""
        ...

    def start(self, n: int, now: float = 0.0) -> State:
        """The state of n pages of which only a first copy exists, taken now."""
        ...

    def learn(
        self, state: State, rows: Rows, elapsed_days: Days, changed: Flags, signals: PageSignals = NOTHING
    ) -> None:
        """Pages in `rows` were visited `elapsed_days` after the previous visit, and had changed or not. In place."""
        ...

    def beliefs(self, state: State, rows: Rows) -> Belief | None:
        """The beliefs about these pages, by levels of `predict.activity`; None: the policy has no such beliefs."""
        ...

    def expect(self, state: State, rows: Rows, levels: Belief) -> None:
        """Begin with these beliefs about pages of which there is only a first copy. In place."""
        ...

    def age(self, state: State, rows: Rows, now: float | Days) -> Days:
        """Days since the last visit; `now` is one instant, or one for each row."""
        ...

    def value(self, state: State, rows: Rows, now: float, signals: PageSignals = NOTHING) -> Column:
        """What a visit now is worth; only the order and the ratio to the price matter."""
        ...

    def forecast(self, state: State, rows: Rows, age_days: Days) -> ForecastTable:
        """The forecast of these pages at these ages; it may hold for later ages too."""
        ...

    def worth(self, forecast: ForecastTable, age_days: Column, signals: PageSignals = NOTHING) -> Column:
        """The same as `value`, from a forecast that was computed before."""
        ...

    def explain(self, state: State, row: int, now: float = 0.0, signals: PageSignals = NOTHING) -> dict[str, object]:
        """The evidence for one page's value, for `why`."""
        ...


class ValuePolicyBase(ABC):
    """Base class of value policies: override `value`, or `forecast` and `worth` with `has_forecast = True`."""

    name: str
    dtype: np.dtype[np.void]
    has_forecast: bool = False
    siblings: Siblings | None = None
    first_price: float = 1e-6
    """So low that the first budget is spent at once, whatever the size of the values; the price then rises."""

    def __init__(self, bounds: Bounds | None = None) -> None:
        self.bounds = bounds or Bounds()

    @abstractmethod
    def start(self, n: int, now: float = 0.0) -> State:
        """The state of n pages of which only a first copy exists, taken now."""

    @abstractmethod
    def learn(
        self, state: State, rows: Rows, elapsed_days: Days, changed: Flags, signals: PageSignals = NOTHING
    ) -> None:
        """Learn from visits, and add `elapsed_days` to `seen_at`. In place."""

    @abstractmethod
    def explain(self, state: State, row: int, now: float = 0.0, signals: PageSignals = NOTHING) -> dict[str, object]:
        """The evidence for one page's value, for `why`."""

    def beliefs(self, state: State, rows: Rows) -> Belief | None:
        return None

    def expect(self, state: State, rows: Rows, levels: Belief) -> None:
        raise NotImplementedError(f"policy {self.name} has no beliefs about levels of activity.")

    def age(self, state: State, rows: Rows, now: float | Days) -> Days:
        days: Days = np.maximum(now - state["seen_at"][rows], 0.0)
        return days

    def value(self, state: State, rows: Rows, now: float, signals: PageSignals = NOTHING) -> Column:
        age_days = self.age(state, rows, now)
        return self.worth(self.forecast(state, rows, age_days), age_days, signals)

    def forecast(self, state: State, rows: Rows, age_days: Days) -> ForecastTable:
        raise NotImplementedError(f"policy {self.name} has no forecast: it must override `value`.")

    def worth(self, forecast: ForecastTable, age_days: Column, signals: PageSignals = NOTHING) -> Column:
        raise NotImplementedError(f"policy {self.name} has no forecast: it must override `value`.")
