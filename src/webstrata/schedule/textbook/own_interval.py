"""Datamonitor's step: how far an interval moves by the share of visits that see a change.

What timers share that keep each page's interval in its state and move it at every visit.
"""

from __future__ import annotations

import numpy as np

from webstrata.columns import Days, Rows, State
from webstrata.schedule.policy import Bounds

# Above these shares the interval is divided, below those it is multiplied; all comparisons are strict.
_DIVIDE = ((0.9, 3.0), (0.75, 2.0), (0.6, 1.5))
_MULTIPLY = ((0.1, 3.0), (0.25, 2.0), (0.4, 1.5))


def step(interval: Days, share: Days) -> Days:
    """The next interval, not yet clamped; where the share is no number, the same."""
    shorter = [share > limit for limit, _ in _DIVIDE]
    longer = [share < limit for limit, _ in _MULTIPLY]
    moved = [interval / by for _, by in _DIVIDE] + [interval * by for _, by in _MULTIPLY]
    return np.select(shorter + longer, moved, default=interval)


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
