"""The adaptive schedules of Apache Nutch and StormCrawler in their default configurations, as baselines.

Nutch: after a visit the interval I shrinks by a fifth (changed) or grows by two fifths (not changed). Then it is
adjusted to the time of the next change: with d the days since the last observed change, I becomes at least d and the
next visit is 0.3 d earlier. On a page that has not changed for long, this offset exceeds the longest interval, and the
page is visited as often as allowed: a fault of the original, which is kept here.

StormCrawler: a change reduces the interval half-way to the shortest one; a visit without a change makes it 1.5 times as
long, up to the longest. Intervals are whole minutes, as in the original.
"""

from __future__ import annotations

import numpy as np

from webstrata.columns import Days, Flags, Rows, State, columns
from webstrata.schedule.textbook.adaptive import OwnInterval, TimerBase

_NUTCH_GROW = 0.4
_NUTCH_SHRINK = 0.2
_NUTCH_SYNC = 0.3


class Nutch(OwnInterval):
    """The default configuration (inc .4, dec .2, sync .3) within the bounds."""

    name = "nutch"
    dtype = columns({"interval": np.float64, "since_change": np.float64})

    def learn(self, state: State, rows: Rows, elapsed_days: Days, changed: Flags) -> None:
        seen = state[rows]
        since = np.where(changed, 0.0, seen["since_change"] + elapsed_days)
        moved = seen["interval"] * np.where(changed, 1 - _NUTCH_SHRINK, 1 + _NUTCH_GROW)
        seen["interval"] = self.bounds.clamp(np.maximum(moved, since))
        seen["since_change"] = since
        state[rows] = seen

    def interval(self, state: State, rows: Rows) -> Days:
        return self.bounds.clamp(state["interval"][rows] - _NUTCH_SYNC * state["since_change"][rows])

    def explain(self, state: State, row: int) -> dict[str, object]:
        return {
            "interval_days": round(float(self.interval(state, np.array([row]))[0]), 6),
            "days_since_change": round(float(state["since_change"][row]), 6),
            "rule": "a fifth less after a change, two fifths more without; early by 0.3 of the time since a change",
        }


_STORM_GROW = 0.5
_STORM_SHRINK = 0.5
_MINUTES = 24 * 60.0


class StormCrawler(TimerBase):
    """The default configuration (inc .5, dec .5) within the bounds."""

    name = "stormcrawler"
    dtype = columns({"minutes": np.float64})

    def start(self, n: int) -> State:
        state = super().start(n)
        state["minutes"] = _whole_minutes(self.bounds.clamp(np.full(n, self.bounds.start_days)))
        return state

    def learn(self, state: State, rows: Rows, elapsed_days: Days, changed: Flags) -> None:
        minutes = state["minutes"][rows]
        shortest, longest = _whole_minutes(np.array([self.bounds.min_days, self.bounds.max_days]))
        shorter = np.floor((1 - _STORM_SHRINK) * minutes + _STORM_SHRINK * shortest)
        longer = np.floor(minutes * (1 + _STORM_GROW))
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
