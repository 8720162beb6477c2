"""How far to believe a source that tells of changes: a sitemap with dates, a feed, a listing, visitors' reports.

Of every source three things are learned from the visits that follow what it says or leaves out: its recall (which
share of the changes it tells), its false alarms (how many it tells per page and day that never were), and its delay
(how late it tells). They enter as likelihoods, so that silence counts exactly as much as the source deserves: that of
a complete list nearly proves that nothing happened, that of a useless one proves nothing.

A change that a source could not have told yet, because it came after its last look, teaches nothing about it: all
counts are shares, by the probability that the change was in time.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from webstrata.columns import Column, Days, Flags, State, columns

Index: TypeAlias = NDArray[np.intp]

_DTYPE = columns(
    {
        "told": np.float64,  # changes that the source had told
        "missed": np.float64,  # changes in its reach that it had not
        "false": np.float64,
        "days": np.float64,  # page days behind the false alarms
        "delay": np.float64,
        "dated": np.float64,  # entries behind the delay
    }
)


class Doubt(Struct, frozen=True, kw_only=True):
    """What is held of a source before it has shown anything, as if it had been seen so often."""

    told: float = 1.0
    missed: float = 1.0
    false: float = 0.02
    days: float = 20.0
    memory: float = 400.0
    """Visits after which the past counts no more than the present: sources get better and worse."""


class Sources:
    """Quality of many sources at once, one row each, owned by the caller."""

    dtype = _DTYPE

    def __init__(self, doubt: Doubt | None = None) -> None:
        self._doubt = doubt or Doubt()

    def start(self, n: int) -> State:
        return np.zeros(n, dtype=_DTYPE)

    def recall(self, state: State) -> Column:
        told = state["told"] + self._doubt.told
        recall: Column = (told / (told + state["missed"] + self._doubt.missed)).astype(np.float32)
        return recall

    def false_per_day(self, state: State) -> Column:
        false: NDArray[np.float64] = (state["false"] + self._doubt.false) / (state["days"] + self._doubt.days)
        return false.astype(np.float32)

    def delay_days(self, state: State) -> Column:
        return np.where(state["dated"] > 0, state["delay"], 0.0).astype(np.float32)

    def learn(
        self,
        state: State,
        source: Index,
        covered_days: Days,
        told: Flags,
        changed: Flags,
        in_time: Column,
    ) -> None:
        """Pages were visited of which these sources had told a change or not. `covered_days`: how much of the time
        since the visit before the source had looked at; `in_time`: how likely a change, if any, fell into it."""
        if not len(source):
            return
        recall = self.recall(state)[source] * in_time
        alarm = -np.expm1(-self.false_per_day(state)[source] * covered_days)
        meant = recall / np.maximum(recall + (1.0 - recall) * alarm, 1e-9)  # that an alarm was for the change
        slipped = (in_time - recall) / np.maximum(1.0 - recall, 1e-9)  # that a silent source had missed it
        n = len(state)
        for name, weight in (
            ("told", np.where(told & changed, meant, 0.0)),
            ("missed", np.where(~told & changed, slipped, 0.0)),
            ("false", np.where(told, np.where(changed, 1.0 - meant, 1.0), 0.0)),
            ("days", covered_days),
        ):
            state[name] += np.bincount(source, weights=weight, minlength=n)
        self._forget(state, np.bincount(source, minlength=n))

    def dated(self, state: State, source: int, late_days: Days) -> None:
        """New entries of one source were late by at least so much: they could have stood in its list before."""
        if not len(late_days):
            return
        before = float(state["dated"][source])
        total = min(before + len(late_days), self._doubt.memory)
        share = min(1.0, len(late_days) / total)
        state["delay"][source] += share * (float(late_days.mean()) - float(state["delay"][source]))
        state["dated"][source] = total

    def _forget(self, state: State, visits: NDArray[np.int64]) -> None:
        keep = np.exp2(-visits / self._doubt.memory)
        for name in ("told", "missed", "false", "days"):
            state[name] *= keep
