"""Timers that keep each page's interval in its state: the base classes, and datamonitor's `fix`, `dyn` and `window`.

The paper calls the interval "frequency". `fix` and `dyn` shorten or lengthen it when the last k visits at the present
interval I agree:

    all saw a change   I / 2 if I <= 30 days, else I / 1.5
    none saw one       I * 1.5 if I < 30 days, else I * 2
    mixed, or fewer    I stays

`fix` uses k = 2. `dyn` needs fewer visits at longer intervals: k = 1 above 60 days, 2 above 30, 3 above 7, else 4. A
new interval is clamped, and the count of visits starts again.

`window` decides at every visit by the share of changes among the last visits, whatever their intervals. Of n visits,
the last w = min(10, max(1, n // 2)) count; `step` gives the next interval.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from webstrata.columns import Days, Flags, Rows, State, columns
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


class TimerBase:
    """A timer with bounds; all columns of its state start at 0."""

    dtype: np.dtype[np.void]

    def __init__(self, bounds: Bounds | None = None) -> None:
        self.bounds = bounds or Bounds()

    def start(self, n: int) -> State:
        return np.zeros(n, dtype=self.dtype)


class OwnInterval(TimerBase):
    """The state has a column `interval`, which starts at the first interval and stays within the bounds."""

    def start(self, n: int) -> State:
        state = super().start(n)
        state["interval"] = self.bounds.clamp(np.full(n, self.bounds.start_days))
        return state

    def interval(self, state: State, rows: Rows) -> Days:
        return self.bounds.clamp(state["interval"][rows])


_MONTH_DAYS = 30.0
_MAX_FLAGS = 4


class _Adaptive(OwnInterval, ABC):
    """All that both strategies share; they differ in the number of visits that must agree."""

    name: str
    dtype = columns({"interval": np.float64, "flags": np.uint8, "count": np.uint8})
    # flags: bit 0 is the last visit at this interval; count: number of valid bits

    def learn(self, state: State, rows: Rows, elapsed_days: Days, changed: Flags) -> None:
        seen = state[rows]
        interval = seen["interval"]
        flags = ((seen["flags"] << 1) | changed) & 0b1111
        count = np.minimum(seen["count"] + 1, _MAX_FLAGS)
        needed = self._needed(interval)
        mask = (1 << needed) - 1
        agree = flags & mask
        enough = count >= needed
        shorter = np.where(interval <= _MONTH_DAYS, interval / 2, interval / 1.5)
        longer = np.where(interval < _MONTH_DAYS, interval * 1.5, interval * 2)
        moved = np.where(enough & (agree == mask), shorter, np.where(enough & (agree == 0), longer, interval))
        moved = self.bounds.clamp(moved)
        stays = moved == interval
        seen["interval"] = moved
        seen["flags"] = flags * stays
        seen["count"] = count * stays
        state[rows] = seen

    def explain(self, state: State, row: int) -> dict[str, object]:
        count = int(state["count"][row])
        needed = int(self._needed(state["interval"][row : row + 1])[0])
        return {
            "interval_days": round(float(self.interval(state, np.array([row]))[0]), 6),
            "recent_changes": [bool(state["flags"][row] >> bit & 1) for bit in reversed(range(count))],
            "visits_that_must_agree": needed,
            "rule": f"the interval changes when the last {needed} visits at it all saw a change, or none did",
        }

    @abstractmethod
    def _needed(self, interval: Days) -> NDArray[np.int64]:
        """The number of visits at an interval that must agree before it changes."""


class Fix(_Adaptive):
    """The last two visits must agree."""

    name = "fix"

    def _needed(self, interval: Days) -> NDArray[np.int64]:
        return np.full(interval.shape, 2, dtype=np.int64)


class Dyn(_Adaptive):
    """One to four visits must agree, fewer at longer intervals."""

    name = "dyn"
    _above = np.array([7.0, 30.0, 60.0])
    _visits = np.array([4, 3, 2, 1], dtype=np.int64)

    def _needed(self, interval: Days) -> NDArray[np.int64]:
        return self._visits[np.searchsorted(self._above, interval, side="left")]


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
