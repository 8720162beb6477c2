"""`bayesian`: each page in the group that explains its visits best (Cho and Garcia-Molina's estimator).

A page of a group that changes about every D days has changed after t days with probability 1 - exp(-t/D). Every visit
moves the logarithm of each group's probability, all equal at first; the page is visited at the interval of the
likeliest.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webstrata.columns import Days, Flags, Rows, State, columns
from webstrata.schedule.classes import TABLE_4, RateGroup, check, column, nearest
from webstrata.schedule.policy import Bounds

_MOST_GROUPS = 16
_SHORTEST = 1e-6  # days: a change seen at once is unlikely in every group, impossible in none


class Bayesian:
    """Moves to the likeliest group after every visit."""

    name = "bayesian"

    def __init__(self, bounds: Bounds | None = None, groups: tuple[RateGroup, ...] = TABLE_4) -> None:
        check(groups, _MOST_GROUPS)
        self.bounds = bounds or Bounds()
        self.groups = groups
        self.dtype = columns({"group": np.uint8, "logs": (np.float64, (len(groups),))})

    def start(self, n: int) -> State:
        state = np.zeros(n, dtype=self.dtype)
        state["group"] = nearest(self.groups, self.bounds.start_days)
        return state

    def place(self, state: State, rows: Rows, group: NDArray[np.integer]) -> None:
        """Put pages into groups until their first visit says better."""
        state["group"][rows] = np.clip(group, 0, len(self.groups) - 1)

    def learn(self, state: State, rows: Rows, elapsed_days: Days, changed: Flags) -> None:
        age = np.maximum(elapsed_days, _SHORTEST)[:, None] / column(self.groups, "days")
        logs = state["logs"][rows] + np.where(changed[:, None], np.log(-np.expm1(-age)), -age)
        logs -= logs.max(axis=1, keepdims=True, initial=-np.inf)
        state["logs"][rows] = logs
        state["group"][rows] = logs.argmax(axis=1)

    def interval(self, state: State, rows: Rows) -> Days:
        return self.bounds.clamp(column(self.groups, "days")[state["group"][rows]])

    def explain(self, state: State, row: int) -> dict[str, object]:
        chances = np.exp(state["logs"][row])
        chances /= chances.sum()
        return {
            "interval_days": float(self.interval(state, np.array([row]))[0]),
            "chances": {
                f"every {group.days:g} days": round(float(chance), 6)
                for group, chance in zip(self.groups, chances, strict=True)
            },
            "rule": "the interval of the group that explains the visits best",
        }
