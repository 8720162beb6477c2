"""Datamonitor's `gold`: the oracle that knows how often each page will change. Only the lab can tell it.

It runs through the same functions as every policy; what it is told goes into the state through `told`, which no live
part calls. Untold it keeps the interval that pages start with.

Timers that learn nothing, the yardsticks for the others: `week` (datamonitor's), `fixed`, `brute-force` (HACS's).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from webstrata.columns import Days, Flags, Rows, State, columns
from webstrata.schedule.policy import Bounds
from webstrata.schedule.textbook.own_interval import OwnInterval


class Gold(OwnInterval):
    """The mean interval between the real changes, constant."""

    name = "gold"
    dtype = columns({"interval": np.float64})

    def told(self, changes: Days, days: float) -> State:
        """State of pages that will change so many times in so many days; those that never do get the longest."""
        state = self.start(len(changes))
        mean = np.full(len(changes), np.inf)
        np.divide(days, changes, out=mean, where=changes > 0)
        state["interval"] = self.bounds.clamp(mean)
        return state

    def learn(self, state: State, rows: Rows, elapsed_days: Days, changed: Flags) -> None:
        """Nothing is left to learn."""

    def explain(self, state: State, row: int) -> dict[str, object]:
        days = float(self.interval(state, np.array([row]))[0])
        return {"interval_days": round(days, 6), "rule": "the real mean interval between changes, told by the lab"}


_WEEK_DAYS = 7.0


class _Steady(ABC):
    """All but which interval it is."""

    name: str
    rule: ClassVar[str]
    dtype = columns({"visits": np.uint32})

    def __init__(self, bounds: Bounds | None = None) -> None:
        self.bounds = bounds or Bounds()

    def start(self, n: int) -> State:
        return np.zeros(n, dtype=self.dtype)

    def learn(self, state: State, rows: Rows, elapsed_days: Days, changed: Flags) -> None:
        state["visits"][rows] += 1

    def interval(self, state: State, rows: Rows) -> Days:
        return self.bounds.clamp(np.full(len(rows), self._days()))

    def explain(self, state: State, row: int) -> dict[str, object]:
        days = float(self.interval(state, np.array([row]))[0])
        return {"interval_days": days, "visits": int(state["visits"][row]), "rule": self.rule}

    @abstractmethod
    def _days(self) -> float:
        """The interval of all pages."""


class Week(_Steady):
    """Every page every seven days, whatever it does."""

    name = "week"
    rule = "the same interval for every page"

    def _days(self) -> float:
        return _WEEK_DAYS


class Fixed(_Steady):
    """Every page at the interval that pages start with: what a crawler does that learns nothing."""

    name = "fixed"
    rule = "the interval that was set, always"

    def _days(self) -> float:
        return self.bounds.start_days


class BruteForce(_Steady):
    """All pages, as often as allowed."""

    name = "brute-force"
    rule = "as often as allowed"

    def _days(self) -> float:
        return self.bounds.min_days
