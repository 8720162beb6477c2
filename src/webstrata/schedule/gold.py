"""Datamonitor's `gold`: the oracle that knows how often each page will change. Only the lab can tell it.

It runs through the same functions as every policy; what it is told goes into the state through `told`, which no live
part calls. Untold it keeps the interval that pages start with.
"""

from __future__ import annotations

import numpy as np

from webstrata.columns import Days, Flags, Rows, State, columns
from webstrata.schedule.own_interval import OwnInterval


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
