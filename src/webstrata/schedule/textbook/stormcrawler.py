"""StormCrawler's adaptive schedule in its default configuration: a baseline.

A change reduces the interval half-way to the shortest one; a visit without a change makes it 1.5 times as long, up to
the longest. Intervals are whole minutes, as in the original.
"""

from __future__ import annotations

import numpy as np

from webstrata.columns import Days, Flags, Rows, State, columns
from webstrata.schedule.policy import Bounds

_GROW = 0.5
_SHRINK = 0.5
_MINUTES = 24 * 60.0


class StormCrawler:
    """The default configuration (inc .5, dec .5) within the bounds."""

    name = "stormcrawler"
    dtype = columns({"minutes": np.float64})

    def __init__(self, bounds: Bounds | None = None) -> None:
        self.bounds = bounds or Bounds()

    def start(self, n: int) -> State:
        state = np.zeros(n, dtype=self.dtype)
        state["minutes"] = _whole_minutes(self.bounds.clamp(np.full(n, self.bounds.start_days)))
        return state

    def learn(self, state: State, rows: Rows, elapsed_days: Days, changed: Flags) -> None:
        minutes = state["minutes"][rows]
        shortest, longest = _whole_minutes(np.array([self.bounds.min_days, self.bounds.max_days]))
        shorter = np.floor((1 - _SHRINK) * minutes + _SHRINK * shortest)
        longer = np.floor(minutes * (1 + _GROW))
        state["minutes"][rows] = np.where(changed, np.maximum(shorter, shortest), np.minimum(longer, longest))

    def interval(self, state: State, rows: Rows) -> Days:
        return self.bounds.clamp(state["minutes"][rows] / _MINUTES)

    def explain(self, state: State, row: int) -> dict[str, object]:
        return {
            "interval_days": round(float(self.interval(state, np.array([row]))[0]), 6),
            "rule": "half-way to the shortest interval after a change, 1.5 times as long without",
        }


def _whole_minutes(days: Days) -> Days:
    """Minutes rounded down, and at least 1, so that the interval can grow."""
    return np.maximum(np.floor(days * _MINUTES + 1e-6), 1.0)
