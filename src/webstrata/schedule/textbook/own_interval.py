"""Common parts of timers that keep each page's interval in its state: the base class, and datamonitor's step rule."""

from __future__ import annotations

import numpy as np

from webstrata.columns import Days, Rows, State
from webstrata.schedule.policy import Bounds

# Above these shares of visits with a change the interval is divided, below those it is multiplied.
_DIVIDE = ((0.9, 3.0), (0.75, 2.0), (0.6, 1.5))
_MULTIPLY = ((0.1, 3.0), (0.25, 2.0), (0.4, 1.5))


def step(interval: Days, share: Days) -> Days:
    """The next interval, before clamping; the same interval if the share is NaN."""
    shorter = [share > limit for limit, _ in _DIVIDE]
    longer = [share < limit for limit, _ in _MULTIPLY]
    moved = [interval / by for _, by in _DIVIDE] + [interval * by for _, by in _MULTIPLY]
    return np.select(shorter + longer, moved, default=interval)


class OwnInterval:
    """The state has a column `interval`, which starts at the first interval and stays within the bounds."""

    dtype: np.dtype[np.void]

    def __init__(self, bounds: Bounds | None = None) -> None:
        self.bounds = bounds or Bounds()

    def start(self, n: int) -> State:
        state = np.zeros(n, dtype=self.dtype)
        state["interval"] = self.bounds.clamp(np.full(n, self.bounds.start_days))
        return state

    def interval(self, state: State, rows: Rows) -> Days:
        return self.bounds.clamp(state["interval"][rows])
