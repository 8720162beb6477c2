"""The quality of a source that announces changes: a sitemap with dates, a feed, a listing, visitors' reports.

It is learned from the visits that follow, each compared with the forecast of the page before the visit:

    precision   p: the share of announced pages that had changed, beyond what the forecast expected anyway. A page that
                is unchanged with probability u is unchanged with probability u (1 - p) once it is announced.
    recall      r: the share of the changes found by visits that the source had announced. Silence removes the share r
                of the probability that the page changed in the time that the source covers.
    delay       how late entries appear, from those that could have been in the list at the previous fetch.

Each page is compared with its own forecast, so it does not matter that pages are visited because they were announced: a
list of random pages gets a precision and a recall near 0 and then has no effect. Where the forecasts of a whole site
are too low, the pages that the source did not announce show it, and the source gets no credit for it. The precision is
also limited by the number of changes per entry.

A source starts with a low prior quality, and the changes that chance explains are subtracted: a source must prove its
quality, and a few right announcements are enough.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from webstrata.columns import Column, Days, Flags, State, columns

Index: TypeAlias = NDArray[np.intp]

_MAX_QUALITY = 0.98
_CHECKS = (
    "announced",
    "announced_changed",
    "announced_expected",
    "silent_changed",
    "silent_expected",
    "changes",
    "days",
    "recent_fetches",
)


class SourcePrior(Struct, frozen=True, kw_only=True):
    """The prior quality of a source, as numbers of checks."""

    right: float = 0.25
    wrong: float = 0.75
    announced: float = 0.25
    silent: float = 0.75
    chance: float = 1.0
    """Captures that all fetches of a source together may cost before it has announced a change."""
    memory: float = 1000.0
    """Visits after which a check counts half, since the quality of sources changes."""
    per_change: float = 1.5
    """Maximum number of entries per change."""


class SourceQuality:
    """The model for many sources at once; the caller owns the state, one row per source."""

    dtype = columns(
        {
            **dict.fromkeys(_CHECKS, np.float64),
            "fetches": np.float64,
            "entries": np.float64,
            "page_days": np.float64,  # pages times days in which the entries appeared
            "delay": np.float64,
            "dated": np.float64,  # number of entries from which the delay was learned
        }
    )

    def __init__(self, prior: SourcePrior | None = None) -> None:
        self._prior = prior or SourcePrior()

    def start(self, n: int) -> State:
        return np.zeros(n, dtype=self.dtype)

    def precision(self, state: State) -> Column:
        expected = self._expected_anyway(state)
        right = self._brought(state, 1.0) + self._prior.right
        share = right / (np.maximum(state["announced"] - expected, 0.0) + self._prior.right + self._prior.wrong)
        changes = (state["changes"] + 1.0) / np.maximum(state["days"], 1.0)
        entries = np.maximum(self.entries_per_day(state), 1e-9)
        best: Column = np.minimum(share, self._prior.per_change * changes / entries)
        return np.minimum(best, _MAX_QUALITY).astype(np.float32)

    def recall(self, state: State) -> Column:
        announced = self._brought(state, 1.0) + self._prior.announced
        share: Column = announced / (announced + state["silent_changed"] + self._prior.silent)
        return np.minimum(share, _MAX_QUALITY).astype(np.float32)

    def proven_recall(self, state: State) -> Column:
        """Recall less its standard error, for the value of a fetch. A source without checks keeps its prior recall."""
        checked = self._brought(state, 1.0) + state["silent_changed"]
        recall = self.recall(state)
        error = np.sqrt(recall * (1.0 - recall) * checked) / (checked + 1.0)
        proven: Column = np.maximum(recall - error, 0.0).astype(np.float32)
        return proven

    def max_worth(self, state: State) -> Column:
        """Upper limit of the value of a fetch: twice what the last fetches have proven to bring, plus an allowance for
        new sources that falls with each fetch."""
        proven = 2.0 * self._brought(state, 2.0) / (state["recent_fetches"] + 1.0)
        limit: Column = proven + self._prior.chance / (state["fetches"] + 1.0)
        return limit.astype(np.float32)

    def _brought(self, state: State, errors: float) -> Column:
        """Announced changes beyond the expected ones, less this number of standard errors of the expected number."""
        anyway = self._expected_anyway(state)
        by_chance = np.sqrt(anyway * (1.0 - anyway / np.maximum(state["announced"], 1e-9)))
        brought: Column = np.maximum(state["announced_changed"] - anyway - errors * by_chance, 0.0)
        return brought

    def _expected_anyway(self, state: State) -> Column:
        """Changes that were expected on the announced pages without the source."""
        found, expected = state["silent_changed"] + 1.0, state["silent_expected"] + 1.0
        anyway: Column = np.minimum(
            state["announced_expected"] * np.maximum(found / expected, 1.0), 0.95 * state["announced"]
        )
        return anyway

    def entries_per_day(self, state: State) -> Column:
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
        announced: Flags,
        changed: Flags,
        unchanged: Column,
        unchanged_covered: Column,
    ) -> None:
        """Pages were visited of which these sources had announced a change or not. `unchanged` is the forecast's
        probability for the time since the previous visit, `unchanged_covered` for the part that the source covers."""
        if not len(source):
            return
        in_covered = np.clip((1.0 - unchanged_covered) / np.maximum(1.0 - unchanged, 1e-9), 0.0, 1.0)
        weights = {
            "announced": announced,
            "announced_changed": announced & changed,
            "announced_expected": np.where(announced, 1.0 - unchanged, 0.0),
            "silent_changed": np.where(~announced & changed, in_covered, 0.0),
            "silent_expected": np.where(announced, 0.0, 1.0 - unchanged_covered),
            "changes": changed,
            "days": elapsed_days,
            "recent_fetches": np.zeros(len(source)),  # fetches are forgotten as fast as visits
        }
        keep = np.exp2(-np.bincount(source, minlength=len(state)) / self._prior.memory)
        for name in _CHECKS:
            state[name] = state[name] * keep + np.bincount(source, weights=weights[name], minlength=len(state))

    def fetched(self, state: State, source: int, entries: int, page_days: float) -> None:
        """A source was fetched and had this number of new entries, after this number of pages times days."""
        state["fetches"][source] += 1.0
        state["recent_fetches"][source] += 1.0
        keep = np.exp2(-1.0 / self._prior.memory)
        for name, added in (("entries", entries), ("page_days", page_days)):
            state[name][source] = state[name][source] * keep + added

    def dated(self, state: State, source: int, late_days: Days) -> None:
        """New entries of one source were late by at least these days: they were missing at the previous fetch."""
        if not len(late_days):
            return
        total = min(float(state["dated"][source]) + len(late_days), self._prior.memory)
        share = min(1.0, len(late_days) / total)
        state["delay"][source] += share * (float(late_days.mean()) - float(state["delay"][source]))
        state["dated"][source] = total
