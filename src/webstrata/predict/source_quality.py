"""How far to believe a source that tells of changes: a sitemap with dates, a feed, a listing, visitors' reports.

Learned from the visits that follow, each against what the forecast of the page said before:

    precision   p: of the pages that it told of, how many had changed beyond what was to be expected anyway. A page with
                chance u to be unchanged is unchanged with u (1 - p) once it is told of.
    recall      r: of the changes that visits found, how many it had told. Silence takes the share r of the chance that
                a page changed while the source was looking.
    delay       how late its entries come, from those that could have stood there at the look before.

Being compared with the forecast of the very pages visited, it does not matter that pages are visited because they were
told of: a list of random pages finds its precision and its recall near 0, and then moves nothing. Where forecasts are
too low for a whole site, the pages that the source was silent about show it, and no source is praised for that. And no
source is right more often than there are changes for its words.

A source begins with little belief, and all that it brought is counted less what chance alone may have brought: what it
is worth must be proved, and a few true words prove it.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from webstrata.columns import Column, Days, Flags, State, columns

Index: TypeAlias = NDArray[np.intp]

_SUREST = 0.98
_CHECKS = (
    "told",
    "told_changed",
    "told_expected",
    "silent_changed",
    "silent_expected",
    "changes",
    "days",
    "recent_looks",
)


class SourcePrior(Struct, frozen=True, kw_only=True):
    """What is held of a source before it has shown anything, as if it had been checked so often."""

    right: float = 0.25
    wrong: float = 0.75
    heard: float = 0.25
    missed: float = 0.75
    chance: float = 1.0
    """Changes that all looks at a source together may cost before it has shown any."""
    memory: float = 1000.0
    """Visits after which the past counts half: sources get better and worse."""
    per_change: float = 1.5
    """Entries that a change may have."""


class SourceQuality:
    """Quality of many sources at once, one row each, owned by the caller."""

    dtype = columns(
        {
            **dict.fromkeys(_CHECKS, np.float64),
            "looks": np.float64,
            "entries": np.float64,
            "page_days": np.float64,  # behind them
            "delay": np.float64,
            "dated": np.float64,  # entries behind the delay
        }
    )

    def __init__(self, doubt: SourcePrior | None = None) -> None:
        self._doubt = doubt or SourcePrior()

    def start(self, n: int) -> State:
        return np.zeros(n, dtype=self.dtype)

    def precision(self, state: State) -> Column:
        expected = self._told_anyway(state)
        right = self._brought(state, 1.0) + self._doubt.right
        share = right / (np.maximum(state["told"] - expected, 0.0) + self._doubt.right + self._doubt.wrong)
        changes = (state["changes"] + 1.0) / np.maximum(state["days"], 1.0)
        entries = np.maximum(self.told_per_day(state), 1e-9)
        best: Column = np.minimum(share, self._doubt.per_change * changes / entries)
        return np.minimum(best, _SUREST).astype(np.float32)

    def recall(self, state: State) -> Column:
        heard = self._brought(state, 1.0) + self._doubt.heard
        share: Column = heard / (heard + state["silent_changed"] + self._doubt.missed)
        return np.minimum(share, _SUREST).astype(np.float32)

    def proven_recall(self, state: State) -> Column:
        """Recall less its standard error: what may be paid for. A source without any record is given its chance."""
        heard = self._brought(state, 1.0)
        checked = heard + state["silent_changed"]
        recall = self.recall(state)
        error = np.sqrt(recall * (1.0 - recall) * checked) / (checked + 1.0)
        proven: Column = np.maximum(recall - error, 0.0).astype(np.float32)
        return proven

    def most_worth(self, state: State) -> Column:
        """What a look may be held to be worth at most: twice what the last looks have surely brought, and a chance
        that is used up by looks that bring nothing."""
        surely = 2.0 * self._brought(state, 2.0) / (state["recent_looks"] + 1.0)
        most: Column = surely + self._doubt.chance / (state["looks"] + 1.0)
        return most.astype(np.float32)

    def _brought(self, state: State, errors: float) -> Column:
        """Changes told beyond those to be expected, less so many standard errors of what chance brings."""
        anyway = self._told_anyway(state)
        by_chance = np.sqrt(anyway * (1.0 - anyway / np.maximum(state["told"], 1e-9)))
        brought: Column = np.maximum(state["told_changed"] - anyway - errors * by_chance, 0.0)
        return brought

    def _told_anyway(self, state: State) -> Column:
        """Changes to be expected on the pages told of, whatever the source says."""
        found, expected = state["silent_changed"] + 1.0, state["silent_expected"] + 1.0
        anyway: Column = np.minimum(state["told_expected"] * np.maximum(found / expected, 1.0), 0.95 * state["told"])
        return anyway

    def told_per_day(self, state: State) -> Column:
        """Entries per page and day."""
        rate: Column = state["entries"] / np.maximum(state["page_days"], 1.0)
        return rate.astype(np.float32)

    def delay_days(self, state: State) -> Column:
        return np.where(state["dated"] > 0, state["delay"], 0.0).astype(np.float32)

    def learn(
        self,
        state: State,
        source: Index,
        elapsed_days: Days,
        told: Flags,
        changed: Flags,
        unchanged: Column,
        in_reach: Column,
    ) -> None:
        """Pages were visited of which these sources had told a change or not. `unchanged` is what the forecast alone
        gave for the whole time since the visit before, `in_reach` the same for the part that the source looked at."""
        if not len(source):
            return
        while_looking = np.clip((1.0 - in_reach) / np.maximum(1.0 - unchanged, 1e-9), 0.0, 1.0)
        weights = {
            "told": told,
            "told_changed": told & changed,
            "told_expected": np.where(told, 1.0 - unchanged, 0.0),
            "silent_changed": np.where(~told & changed, while_looking, 0.0),
            "silent_expected": np.where(told, 0.0, 1.0 - in_reach),
            "changes": changed,
            "days": elapsed_days,
            "recent_looks": np.zeros(len(source)),  # the past of looks fades with that of visits
        }
        keep = np.exp2(-np.bincount(source, minlength=len(state)) / self._doubt.memory)
        for name in _CHECKS:
            state[name] = state[name] * keep + np.bincount(source, weights=weights[name], minlength=len(state))

    def looked(self, state: State, source: int, entries: int, page_days: float) -> None:
        """A source was read and had so many new entries, after so many pages times days."""
        state["looks"][source] += 1.0
        state["recent_looks"][source] += 1.0
        keep = np.exp2(-1.0 / self._doubt.memory)
        for name, more in (("entries", entries), ("page_days", page_days)):
            state[name][source] = state[name][source] * keep + more

    def dated(self, state: State, source: int, late_days: Days) -> None:
        """New entries of one source were late by at least so much: they could have stood in its list before."""
        if not len(late_days):
            return
        total = min(float(state["dated"][source]) + len(late_days), self._doubt.memory)
        share = min(1.0, len(late_days) / total)
        state["delay"][source] += share * (float(late_days.mean()) - float(state["delay"][source]))
        state["dated"][source] = total
