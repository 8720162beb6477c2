"""Datamonitor's `window`: the share of changes among the last visits determines the next interval.

Of n visits, the last w = min(10, max(1, n // 2)) count, whatever their intervals; `step` gives the next interval.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webstrata.columns import Days, Flags, Rows, State, columns
from webstrata.schedule.textbook.own_interval import OwnInterval, step

_WIDEST = 10
_ENOUGH = 2 * _WIDEST  # more visits do not widen the window
_ONES = np.array([flags.bit_count() for flags in range(2**_WIDEST)])


class Window(OwnInterval):
    """Decides at every visit by the last half of the visits, at most ten."""

    name = "window"
    dtype = columns({"interval": np.float64, "flags": np.uint16, "count": np.uint8})
    # flags: bit 0 is the last visit; count: number of visits, up to 20

    def learn(self, state: State, rows: Rows, elapsed_days: Days, changed: Flags) -> None:
        seen = state[rows]
        flags = ((seen["flags"] << 1) | changed) & (2**_WIDEST - 1)
        count = np.minimum(seen["count"] + 1, _ENOUGH)
        width = _width(count)
        share = _ONES[flags & ((1 << width) - 1)] / width
        seen["flags"], seen["count"] = flags, count
        seen["interval"] = self.bounds.clamp(step(seen["interval"], share))
        state[rows] = seen

    def explain(self, state: State, row: int) -> dict[str, object]:
        width = int(_width(state["count"][row : row + 1])[0]) if state["count"][row] else 0
        return {
            "interval_days": round(float(self.interval(state, np.array([row]))[0]), 6),
            "recent_changes": [bool(state["flags"][row] >> bit & 1) for bit in reversed(range(width))],
            "rule": "the share of these visits with a change determines the interval",
        }


def _width(count: NDArray[np.integer]) -> NDArray[np.int64]:
    return np.clip(count.astype(np.int64) // 2, 1, _WIDEST)
