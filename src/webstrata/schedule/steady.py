"""Timers that learn nothing, the yardsticks for the others: `week` (datamonitor's), `fixed`, `brute-force` (HACS's)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from webstrata.columns import Days, Flags, Rows, State, columns
from webstrata.schedule.policy import Bounds

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
