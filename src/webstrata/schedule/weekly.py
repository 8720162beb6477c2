"""Datamonitor's `week`: every page every seven days, whatever it does. The yardstick for the others."""

from __future__ import annotations

import numpy as np

from webstrata.columns import Days, Flags, Rows, State, columns
from webstrata.schedule.policy import Bounds

_WEEK_DAYS = 7.0


class Week:
    """Knows nothing and learns nothing."""

    name = "week"
    dtype = columns({"visits": np.uint32})

    def __init__(self, bounds: Bounds | None = None) -> None:
        self.bounds = bounds or Bounds()

    def start(self, n: int) -> State:
        return np.zeros(n, dtype=self.dtype)

    def learn(self, state: State, rows: Rows, elapsed_days: Days, changed: Flags) -> None:
        state["visits"][rows] += 1

    def interval(self, state: State, rows: Rows) -> Days:
        return self.bounds.clamp(np.full(len(rows), _WEEK_DAYS))

    def explain(self, state: State, row: int) -> dict[str, object]:
        days = float(self.interval(state, np.array([row]))[0])
        return {"interval_days": days, "visits": int(state["visits"][row]), "rule": "the same interval for every page"}
