"""When a page will be worth its visit: the first time at which its value passes the price, if nothing else is heard."""

from __future__ import annotations

import numpy as np

from webstrata.columns import Column, Days, Rows
from webstrata.schedule.announcements import LivePolicyState
from webstrata.schedule.policy_state import PolicyState
from webstrata.schedule.signals import PageSignals
from webstrata.schedule.value import Value

_AHEAD = np.concatenate([[0.0], np.geomspace(1 / 288, 400.0, 48)])
"""Days ahead that are looked at; between two of them the value is taken to grow evenly."""
_AT_ONCE = 2048
"""Values made in one go: for few pages at all times, for many pages time by time until they have crossed."""


def crossing_days(population: PolicyState, rows: Rows, now: float, price: float, factor: Column) -> Days:
    """Days from now until each page's value, times its factor, reaches the price; infinite where it never does."""
    found = np.full(len(rows), np.inf)
    worth_of = _FutureValue(population, rows, now)
    times = factor if population.weights is None else factor * population.weights[rows]
    left = np.arange(len(rows))
    before = np.zeros(len(rows))
    done, last = 0, 0.0
    while done < len(_AHEAD) and len(left):
        ahead = _AHEAD[done : done + max(1, _AT_ONCE // len(left))]
        worth = worth_of(left, ahead) * times[left]
        there = worth >= price
        hit = np.flatnonzero(there.any(axis=0))
        step = there.argmax(axis=0)[hit]
        under = np.concatenate([before[None, left], worth[:-1]])[step, hit]
        share = np.clip((price - under) / np.maximum(worth[step, hit] - under, 1e-12), 0.0, 1.0)
        since = np.concatenate([[last], ahead[:-1]])[step]
        found[left[hit]] = since + share * (ahead[step] - since)
        before[left] = worth[-1]
        left, last, done = np.delete(left, hit), float(ahead[-1]), done + len(ahead)
    return found


class _FutureValue:
    """What visits will be worth, by the pages' own forecast and their sites' usual events."""

    def __init__(self, population: PolicyState, rows: Rows, now: float) -> None:
        self._policy, self._state, self._rows, self._now = population.policy, population.state, rows, now
        self._quiet = self._coming = None
        self._first_day = None
        if isinstance(population, LivePolicyState) and isinstance(population.policy, Value):
            self._first_day = population.first_day(rows)
        if isinstance(population.policy, Value) and population.siblings is not None and population.sites is not None:
            self._quiet = population.signals(rows, now).quiet
            self._coming = population.siblings.coming(population.sites)[population.site[rows]]

    def __call__(self, places: Rows, ahead: Days) -> Days:
        """Of these places among the rows (across), so many days from now (down)."""
        if not isinstance(self._policy, Value):
            rows, times = self._rows[places], (self._now + ahead).tolist()
            return np.array([self._policy.value(self._state, rows, at) for at in times], dtype=np.float64)
        every, at = np.tile(places, len(ahead)), np.repeat(self._now + ahead, len(places))
        return self._by_forecast(self._policy, every, at, np.repeat(ahead, len(places))).reshape(len(ahead), -1)

    def _by_forecast(self, policy: Value, places: Rows, at: Days, ahead: Days) -> Days:
        """Of each place at its own time."""
        rows, signals = self._rows[places], PageSignals()
        if self._quiet is not None and self._coming is not None:
            coming = self._coming[places]
            signals = PageSignals(quiet=self._quiet[places] * coming ** ahead.astype(coming.dtype), coming=coming)
        outlook, age = policy.outlook(self._state, rows, at), policy.age(self._state, rows, at)
        worth = policy.worth(outlook, age, signals).astype(np.float64)
        young = np.flatnonzero(age < 1.0)
        if len(young) and self._first_day is not None:
            worth[young] = np.maximum(worth[young], age[young] * self._first_day[places[young]])
        return worth
