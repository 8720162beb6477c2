"""Timers that learn nothing: `week` and the oracle `gold` of datamonitor, `brute-force` of HACS, and `fixed`.

`gold` knows how often each page will change: the lab writes that into its state with `with_truth`, which no live code
calls. Without it, `gold` keeps the first interval.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from webstrata.columns import Days, Flags, Rows, State, columns
from webstrata.schedule.textbook.adaptive import OwnInterval, TimerBase


class Gold(OwnInterval):
    """Visits each page at the mean interval between its real changes."""

    name = "gold"
    dtype = columns({"interval": np.float64})

    def with_truth(self, changes: Days, days: float) -> State:
        """The state of pages with these numbers of changes in `days`; without a change the longest interval."""
        state = self.start(len(changes))
        mean = np.full(len(changes), np.inf)
        np.divide(days, changes, out=mean, where=changes > 0)
        state["interval"] = self.bounds.clamp(mean)
        return state

    def learn(self, state: State, rows: Rows, elapsed_days: Days, changed: Flags) -> None:
        """Does nothing."""

    def explain(self, state: State, row: int) -> dict[str, object]:
        days = float(self.interval(state, np.array([row]))[0])
        return {"interval_days": round(days, 6), "rule": "the real mean interval between changes, as known in the lab"}


_WEEK_DAYS = 7.0


class _FixedInterval(TimerBase, ABC):
    """All that the timers share; they differ in the interval."""

    name: str
    rule: ClassVar[str]
    dtype = columns({"visits": np.uint32})

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


class Week(_FixedInterval):
    """Visits every page every seven days."""

    name = "week"
    rule = "the same interval for every page"

    def _days(self) -> float:
        return _WEEK_DAYS


class Fixed(_FixedInterval):
    """Visits every page at the first interval, as crawlers without adaptation do."""

    name = "fixed"
    rule = "the interval that was set, always"

    def _days(self) -> float:
        return self.bounds.start_days


class BruteForce(_FixedInterval):
    """Visits every page as often as the bounds allow."""

    name = "brute-force"
    rule = "as often as allowed"

    def _days(self) -> float:
        return self.bounds.min_days
