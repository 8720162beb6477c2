"""`fixed`: every page at the interval that pages start with. What a crawler does that learns nothing."""

from __future__ import annotations

import numpy as np

from webstrata.columns import Days, Flags, Rows, State, columns
from webstrata.schedule.policy import Bounds


class Fixed:
    """Knows nothing and learns nothing."""

    name = "fixed"
    dtype = columns({"visits": np.uint32})

    def __init__(self, bounds: Bounds | None = None) -> None:
        self.bounds = bounds or Bounds()

    def start(self, n: int) -> State:
        return np.zeros(n, dtype=self.dtype)

    def learn(self, state: State, rows: Rows, elapsed_days: Days, changed: Flags) -> None:
        state["visits"][rows] += 1

    def interval(self, state: State, rows: Rows) -> Days:
        return self.bounds.clamp(np.full(len(rows), self.bounds.start_days))

    def explain(self, state: State, row: int) -> dict[str, object]:
        days = float(self.interval(state, np.array([row]))[0])
        return {"interval_days": days, "visits": int(state["visits"][row]), "rule": "the interval that was set, always"}
