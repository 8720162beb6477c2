"""The predicted time of a page's visit: when its value first reaches the price, if no further signal arrives."""

from __future__ import annotations

import numpy as np

from webstrata.columns import Column, Days, Rows
from webstrata.schedule.forecast import PageSignals
from webstrata.schedule.policy_state import PolicyState

_AHEAD = np.concatenate([[0.0], np.geomspace(1 / 288, 400.0, 48)])
"""Days ahead at which values are computed; between two of them the value is interpolated linearly."""
_BATCH = 2048
"""Values computed in one call: for few pages all times at once, for many pages time by time until they have crossed."""


def crossing_days(pages: PolicyState, rows: Rows, now: float, price: float, factor: Column) -> Days:
    """Days from now until each page's value, times its factor, reaches the price; infinite where it never does."""
    crossing = np.full(len(rows), np.inf)
    future_value = _FutureValue(pages, rows, now)
    scale = factor if pages.weights is None else factor * pages.weights[rows]
    left = np.arange(len(rows))
    before = np.zeros(len(rows))
    done, last = 0, 0.0
    while done < len(_AHEAD) and len(left):
        ahead = _AHEAD[done : done + max(1, _BATCH // len(left))]
        worth = future_value(left, ahead) * scale[left]
        reached = worth >= price
        hit = np.flatnonzero(reached.any(axis=0))
        step = reached.argmax(axis=0)[hit]
        under = np.concatenate([before[None, left], worth[:-1]])[step, hit]
        share = np.clip((price - under) / np.maximum(worth[step, hit] - under, 1e-12), 0.0, 1.0)
        since = np.concatenate([[last], ahead[:-1]])[step]
        crossing[left[hit]] = since + share * (ahead[step] - since)
        before[left] = worth[-1]
        left, last, done = np.delete(left, hit), float(ahead[-1]), done + len(ahead)
    return crossing


class _FutureValue:
    """The future values of some pages, from their own forecast and the usual rate of their sites' events."""

    def __init__(self, pages: PolicyState, rows: Rows, now: float) -> None:
        self._pages, self._rows, self._now = pages, rows, now
        signals = pages.signals(rows, now)
        self._quiet, self._quiet_next_day = signals.quiet, signals.quiet_next_day

    def __call__(self, which: Rows, ahead: Days) -> Days:
        """Values of the pages at these indices of the rows (axis 1), so many days from now (axis 0)."""
        policy, state = self._pages.policy, self._pages.state
        if not policy.has_forecast:
            rows, times = self._rows[which], (self._now + ahead).tolist()
            return np.array([policy.value(state, rows, at) for at in times], dtype=np.float64)
        every, at = np.tile(which, len(ahead)), np.repeat(self._now + ahead, len(which))
        return self._from_forecast(every, at, np.repeat(ahead, len(which))).reshape(len(ahead), -1)

    def _from_forecast(self, which: Rows, at: Days, ahead: Days) -> Days:
        """The value of each page at its own time."""
        policy, state = self._pages.policy, self._pages.state
        rows, signals = self._rows[which], PageSignals()
        if self._quiet is not None and self._quiet_next_day is not None:
            quiet_next = self._quiet_next_day[which]
            quiet = self._quiet[which] * quiet_next ** ahead.astype(quiet_next.dtype)
            signals = PageSignals(quiet=quiet, quiet_next_day=quiet_next)
        age = policy.age(state, rows, at)
        return policy.worth(policy.forecast(state, rows, age), age, signals).astype(np.float64)
