"""Datamonitor's Markov strategies: the probability of a change at the next visit, given the results of the last visits.

For each interval, a page keeps a table of transitions: of order 1, the result of a visit after a visit with or without
a change; of order 2, after the last two visits. The probability p of a change in the table of the present interval
determines the next interval (`step`). There are two interpretations of the paper:

    state-1, state-2      every transition counts in the table of the interval of its last visit; without entry no step
    state-1/L, state-2/L  only transitions whose visits were all made at one interval; p = (n1 + 1) / (n0 + n1 + 2)

A page keeps the tables of its last intervals, 30 of order 1 or 20 of order 2, so that its state is small. On three
years of real histories this gave as many visits and captures as 80 tables.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from webstrata.columns import Days, Flags, Rows, State, columns
from webstrata.schedule.textbook.adaptive import OwnInterval, step

Keys = NDArray[np.uint32]
Counts = NDArray[np.uint8]

_FULL = np.iinfo(np.uint8).max
_GRID = 1e6  # intervals equal within a millionth of a day share a table
_OFF_GRID = 0.381966  # keeps intervals that result from halving and dividing by three away from the edges of cells


def table_row(order: int, tables: int) -> np.dtype[np.void]:
    """The state of a page with this number of tables of this order."""
    return columns(
        {
            "interval": np.float64,
            "flags": np.uint8,  # bit 0 is the last visit
            "visits": np.uint8,  # so far, up to the order
            "run": np.uint8,  # visits in a row at one interval, up to one more than the order
            "keys": (np.uint32, (tables,)),  # most recently used first; 0: free
            "counts": (np.uint8, (tables, 2**order, 2)),
        }
    )


class _Markov(OwnInterval):
    """All that the four strategies share; they differ in the order and the smoothing."""

    name: str
    order: ClassVar[int]
    smoothed: ClassVar[bool]
    dtype: np.dtype[np.void]

    def learn(self, state: State, rows: Rows, elapsed_days: Days, changed: Flags) -> None:
        seen = state[rows]
        self._select_table(seen)
        run = np.minimum(seen["run"] + 1, self.order + 1)
        known = run > self.order if self.smoothed else seen["visits"] >= self.order
        _count(seen["counts"], np.flatnonzero(known), seen["flags"], changed)
        seen["flags"] = ((seen["flags"] << 1) | changed) & (2**self.order - 1)
        seen["visits"] = np.minimum(seen["visits"] + 1, self.order)
        moved = self.bounds.clamp(step(seen["interval"], self._likelihood(seen)))
        seen["run"] = np.where(_key(moved) == _key(seen["interval"]), run, 0)
        seen["interval"] = moved
        state[rows] = seen

    def explain(self, state: State, row: int) -> dict[str, object]:
        page = state[row : row + 1].copy()
        self._select_table(page)
        visits = int(page["visits"][0])
        none, some = (int(count) for count in page["counts"][0, 0, int(page["flags"][0])])
        return {
            "interval_days": round(float(self.interval(state, np.array([row]))[0]), 6),
            "recent_changes": [bool(page["flags"][0] >> bit & 1) for bit in reversed(range(visits))],
            "after_the_like": {"change": some, "no_change": none},
            "rule": "the results after such visits at this interval determine the next interval",
        }

    def _select_table(self, seen: State) -> None:
        """Move the table of the present interval to the front; a new table replaces the least recently used one."""
        key = _key(seen["interval"])
        other = np.flatnonzero(seen["keys"][:, 0] != key)
        if other.size:
            _to_front(seen, other, key[other])

    def _likelihood(self, seen: State) -> Days:
        """Probability of a change at the next visit; NaN if nothing is known."""
        table = seen["counts"][np.arange(len(seen)), 0, seen["flags"]].astype(np.float64)
        none, some = table[:, 0], table[:, 1]
        share: Days
        if self.smoothed:
            share = (some + 1) / (none + some + 2)
        else:
            share = np.full(len(seen), np.nan)
            np.divide(some, none + some, out=share, where=none + some > 0)
        share[seen["visits"] < self.order] = np.nan
        return share


def _key(interval: Days) -> Keys:
    """The key of an interval's table, never 0. Intervals above eleven years share one table."""
    return np.clip(np.floor(interval * _GRID + _OFF_GRID), 1, np.iinfo(np.uint32).max).astype(np.uint32)


def _to_front(seen: State, rows: Rows, key: Keys) -> None:
    """Reorder the tables of these rows. The counters of a table, 4 or 8 bytes, are moved as one number."""
    keys: Keys = seen["keys"][rows]
    counts: Counts = seen["counts"][rows]
    tables = counts.reshape(*keys.shape, -1)
    packed = tables.view(np.dtype(f"u{tables.shape[2]}"))[:, :, 0]
    found = keys == key[:, None]
    known = found.any(axis=1)
    index = np.where(known, found.argmax(axis=1), keys.shape[1] - 1)[:, None]
    order = np.arange(keys.shape[1])
    order = np.where(order == 0, index, order - (order <= index))
    keys, packed = np.take_along_axis(keys, order, axis=1), np.take_along_axis(packed, order, axis=1)
    keys[:, 0] = key
    packed[~known, 0] = 0
    seen["keys"][rows] = keys
    seen["counts"][rows] = packed.view(np.uint8).reshape(counts.shape)


def _count(counts: Counts, where: Rows, before: NDArray[np.uint8], changed: Flags) -> None:
    """Count one transition in the first table of these rows; full counters are halved."""
    state, now = before[where], changed[where].astype(np.intp)
    full = where[counts[where, 0, state, now] == _FULL]
    counts[full, 0, before[full]] //= 2
    counts[where, 0, state, now] += 1


class State1(_Markov):
    """Order 1."""

    name, order, smoothed = "state-1", 1, False
    dtype = table_row(1, 30)


class State2(_Markov):
    """Order 2."""

    name, order, smoothed = "state-2", 2, False
    dtype = table_row(2, 20)


class State1L(State1):
    """Order 1, smoothed, transitions at one interval only."""

    name, smoothed = "state-1/L", True


class State2L(State2):
    """Order 2, smoothed, transitions at one interval only."""

    name, smoothed = "state-2/L", True
