"""Apache Nutch's adaptive schedule in its default configuration: a baseline.

After a visit the interval I shrinks by a fifth (changed) or grows by two fifths (not changed). Then it is adjusted to
the time of the next change: with d the days since the last observed change, I becomes at least d and the next visit is
0.3 d earlier. On a page that has not changed for long, this offset exceeds the longest interval, and the page is
visited as often as allowed: a fault of the original, which is kept here.
"""

from __future__ import annotations

import numpy as np

from webstrata.columns import Days, Flags, Rows, State, columns
from webstrata.schedule.textbook.own_interval import OwnInterval

_GROW = 0.4
_SHRINK = 0.2
_SYNC = 0.3


class Nutch(OwnInterval):
    """The default configuration (inc .4, dec .2, sync .3) within the bounds."""

    name = "nutch"
    dtype = columns({"interval": np.float64, "since_change": np.float64})

    def learn(self, state: State, rows: Rows, elapsed_days: Days, changed: Flags) -> None:
        seen = state[rows]
        since = np.where(changed, 0.0, seen["since_change"] + elapsed_days)
        moved = seen["interval"] * np.where(changed, 1 - _SHRINK, 1 + _GROW)
        seen["interval"] = self.bounds.clamp(np.maximum(moved, since))
        seen["since_change"] = since
        state[rows] = seen

    def interval(self, state: State, rows: Rows) -> Days:
        return self.bounds.clamp(state["interval"][rows] - _SYNC * state["since_change"][rows])

    def explain(self, state: State, row: int) -> dict[str, object]:
        return {
            "interval_days": round(float(self.interval(state, np.array([row]))[0]), 6),
            "days_since_change": round(float(state["since_change"][row]), 6),
            "rule": "a fifth less after a change, two fifths more without; early by 0.3 of the time since a change",
        }
