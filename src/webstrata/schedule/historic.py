"""`historic`: the historic classifier of "Looking at both the present and the past" (Algorithm 1).

A page belongs to a group and is visited at the group's interval. After the group's number of visits the share of them
that saw a change moves the page to the next slower group, to the next faster one, or leaves it; then counting begins
again. Pages begin in the group nearest to the first interval; a static classifier may `place` them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webstrata.columns import Days, Flags, Rows, State, columns
from webstrata.schedule.classes import TABLE_4, RateGroup, check, column, nearest
from webstrata.schedule.policy import Bounds

_MOST_GROUPS = 255


class Historic:
    """Moves by one group at a time."""

    name = "historic"
    dtype = columns({"group": np.uint8, "visits": np.uint8, "changes": np.uint8})

    def __init__(self, bounds: Bounds | None = None, groups: tuple[RateGroup, ...] = TABLE_4) -> None:
        check(groups, _MOST_GROUPS)
        self.bounds = bounds or Bounds()
        self.groups = groups

    def start(self, n: int) -> State:
        state = np.zeros(n, dtype=self.dtype)
        state["group"] = nearest(self.groups, self.bounds.start_days)
        return state

    def place(self, state: State, rows: Rows, group: NDArray[np.integer]) -> None:
        """Put pages into groups, nothing counted yet."""
        state["group"][rows] = np.clip(group, 0, len(self.groups) - 1)
        state["visits"][rows] = state["changes"][rows] = 0

    def learn(self, state: State, rows: Rows, elapsed_days: Days, changed: Flags) -> None:
        seen = state[rows]
        group, visits, changes = seen["group"].astype(np.intp), seen["visits"] + 1, seen["changes"] + changed
        full = visits >= column(self.groups, "visits")[group]
        share = changes / visits
        slower = full & (share < column(self.groups, "slower_below")[group])
        faster = full & (share > column(self.groups, "faster_above")[group])
        seen["group"] = np.clip(group + slower - faster, 0, len(self.groups) - 1)
        seen["visits"] = np.where(full, 0, visits)
        seen["changes"] = np.where(full, 0, changes)
        state[rows] = seen

    def interval(self, state: State, rows: Rows) -> Days:
        return self.bounds.clamp(column(self.groups, "days")[state["group"][rows]])

    def explain(self, state: State, row: int) -> dict[str, object]:
        one = state[row]
        group = self.groups[one["group"]]
        return {
            "interval_days": float(self.interval(state, np.array([row]))[0]),
            "group_days": group.days,
            "visits_in_group": int(one["visits"]),
            "changes_in_group": int(one["changes"]),
            "rule": f"every {group.visits} visits: slower below {group.slower_below:.0%} changes, "
            f"faster above {group.faster_above:.0%}",
        }
