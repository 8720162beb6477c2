"""What timers share that keep each page's interval in its state and move it at every visit."""

from __future__ import annotations

import numpy as np

from webstrata.columns import Days, Rows, State
from webstrata.schedule.policy import Bounds


class OwnInterval:
    """A page's row has its `interval`, which starts where the bounds say and stays within them."""

    dtype: np.dtype[np.void]

    def __init__(self, bounds: Bounds | None = None) -> None:
        self.bounds = bounds or Bounds()

    def start(self, n: int) -> State:
        state = np.zeros(n, dtype=self.dtype)
        state["interval"] = self.bounds.clamp(np.full(n, self.bounds.start_days))
        return state

    def interval(self, state: State, rows: Rows) -> Days:
        return self.bounds.clamp(state["interval"][rows])
