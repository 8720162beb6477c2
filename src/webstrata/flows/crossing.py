"""When a page will be worth its visit: the first time at which its value passes the price, if nothing else is heard."""

from __future__ import annotations

import numpy as np

from webstrata.columns import Column, Days, Rows
from webstrata.flows.heard_lists import LivePopulation
from webstrata.flows.population import Population
from webstrata.schedule.signals import Signals
from webstrata.schedule.value import Value

_AHEAD = np.concatenate([[0.0], np.geomspace(1 / 288, 400.0, 48)])
"""Days ahead that are looked at; between two of them the value is taken to grow evenly."""


def crossing_days(population: Population, rows: Rows, now: float, price: float, factor: Column) -> Days:
    """Days from now until each page's value, times its factor, reaches the price; infinite where it never does."""
    found = np.full(len(rows), np.inf)
    worth_of = _Later(population, rows, now)
    times = factor if population.weights is None else factor * population.weights[rows]
    left = np.arange(len(rows))
    before = np.zeros(len(rows))
    last = 0.0
    for ahead in _AHEAD.tolist():
        worth = worth_of(left, ahead) * times[left]
        there = worth >= price
        grown = np.maximum(worth[there] - before[left[there]], 1e-12)
        share = np.clip((price - before[left[there]]) / grown, 0.0, 1.0)
        found[left[there]] = last + share * (ahead - last)
        before[left] = worth
        left, last = left[~there], ahead
        if not len(left):
            break
    return found


class _Later:
    """What visits will be worth, by the pages' own forecast and their sites' usual events."""

    def __init__(self, population: Population, rows: Rows, now: float) -> None:
        self._policy, self._state, self._rows, self._now = population.policy, population.state, rows, now
        self._quiet = self._coming = None
        self._first_day = None
        if isinstance(population, LivePopulation) and isinstance(population.policy, Value):
            self._first_day = population.first_day(rows)
        if isinstance(population.policy, Value) and population.siblings is not None and population.sites is not None:
            self._quiet = population.signals(rows, now).quiet
            self._coming = population.siblings.coming(population.sites)[population.site[rows]]

    def __call__(self, places: Rows, ahead: float) -> Days:
        """Of these places among the rows, so many days from now."""
        rows, at, policy = self._rows[places], self._now + ahead, self._policy
        if not isinstance(policy, Value):
            return policy.value(self._state, rows, at).astype(np.float64)
        signals = Signals()
        if self._quiet is not None and self._coming is not None:
            coming = self._coming[places]
            signals = Signals(quiet=self._quiet[places] * coming**ahead, coming=coming)
        outlook, age = policy.outlook(self._state, rows, at), policy.age(self._state, rows, at)
        worth = policy.worth(outlook, age, signals).astype(np.float64)
        young = np.flatnonzero(age < 1.0)
        if len(young) and self._first_day is not None:
            worth[young] = np.maximum(worth[young], age[young] * self._first_day[places[young]])
        return worth
