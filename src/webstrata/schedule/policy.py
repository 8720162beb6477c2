"""What a policy is: a few vectorised pure functions over arrays that the caller owns."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from webstrata.columns import Days, Flags, Rows, State
from webstrata.errors import BadSettings
from webstrata.schedule.signals import NOTHING, PageSignals

LARGEST_STATE = 256
"""Bytes of state a page may have."""


class TimerPolicy(Protocol):
    """A policy that gives every page its own interval. `testing.policy.check_policy` says what it must keep."""

    name: str
    dtype: np.dtype[np.void]
    """One row of state per page."""

    def start(self, n: int) -> State:
        """State of n pages of which nothing is known."""
        ...

    def learn(self, state: State, rows: Rows, elapsed_days: Days, changed: Flags) -> None:
        """Pages in `rows` were visited `elapsed_days` after the visit before, and had changed or not. In place."""
        ...

    def interval(self, state: State, rows: Rows) -> Days:
        """Days from the last visit to the next."""
        ...

    def explain(self, state: State, row: int) -> dict[str, object]:
        """The evidence behind one page's interval, for people."""
        ...


class ValuePolicy(Protocol):
    """A policy that says what a visit is worth; the allocator visits the most valuable pages within the budget.

    `now` is in days of the caller's clock. Joint events and lists reach it as signals, which it may leave aside.
    """

    name: str
    dtype: np.dtype[np.void]
    bounds: Bounds

    def start(self, n: int, now: float = 0.0) -> State:
        """State of n pages of which nothing is known but a first copy, taken now."""
        ...

    def learn(
        self, state: State, rows: Rows, elapsed_days: Days, changed: Flags, signals: PageSignals = NOTHING
    ) -> None:
        """Pages in `rows` were visited `elapsed_days` after the visit before, and had changed or not. In place."""
        ...

    def age(self, state: State, rows: Rows, now: float) -> Days:
        """Days since the last visit."""
        ...

    def value(self, state: State, rows: Rows, now: float, signals: PageSignals = NOTHING) -> NDArray[np.float32]:
        """What a visit now is worth; only the order and the ratio to the price matter."""
        ...

    def explain(self, state: State, row: int, now: float = 0.0, signals: PageSignals = NOTHING) -> dict[str, object]:
        """The evidence behind one page's value, for people."""
        ...


class Bounds(Struct, frozen=True, kw_only=True):
    """Where every interval stays, and where it starts."""

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
