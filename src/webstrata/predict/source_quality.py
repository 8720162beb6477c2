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

The live loop and the lab use this model. What visits and reads add to the counts is computed first (`visit_counts`,
`read_counts`), so that a store can add it in the transaction of the visits; `add` does the same to columns in memory.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from webstrata.columns import Column, Days, Flags, State, columns
from webstrata.records import READ_COUNTS, VISIT_COUNTS

Index: TypeAlias = NDArray[np.intp]

_MAX_QUALITY = 0.98
_TRUSTED = 0.5
_DISCOVERED, _READ_DAYS = 0.5, 30.0
"""The prior of discoveries: new pages, and the days in which they appeared."""


class SourcePrior(Struct, frozen=True, kw_only=True):
    """The prior quality of a source, as numbers of checks."""

    right: float = 0.25
    wrong: float = 0.75
    announced: float = 0.25
    silent: float = 0.75
    doubt_per_error: float = 0.5
    """A new source whose record has two errors is tried half as often."""
    memory: float = 1000.0
    """Visits after which a check counts half, since the quality of sources changes."""
    per_change: float = 1.5
    """Maximum number of entries per change."""


PRIOR = SourcePrior()


class CountedSources(NamedTuple):
    """What visits or reads add to the counts of sources: the old counts are multiplied by `keep` before."""

    keep: Days
    """One factor for each source."""
    added: dict[str, Days]
    """By count: one number for each source."""


class SourceQuality:
    """The model for many sources at once; the caller owns the state, one row per source."""

    dtype = columns(
        {
            **dict.fromkeys(VISIT_COUNTS, np.float64),
            # entries; pages times days in which they appeared; sum and number of the days by which entries were late;
            # new pages that were discovered in the source; days between reads
            **dict.fromkeys(READ_COUNTS, np.float64),
            "reads": np.float64,
        }
    )

    def __init__(self, prior: SourcePrior | None = None) -> None:
        self._prior = prior or PRIOR

    def start(self, n: int) -> State:
        return np.zeros(n, dtype=self.dtype)

    # ── quality ─────────────────────────────────────────────────────────────────────────────────────────────

    def precision(self, state: State) -> Column:
        """The share of the announced pages that changed, beyond what was expected of them anyway."""
        expected = self._expected_anyway(state)
        right = self._brought(state, 1.0) + self._prior.right
        share = right / (np.maximum(state["announced"] - expected, 0.0) + self._prior.right + self._prior.wrong)
        changes = (state["changes"] + 1.0) / np.maximum(state["days"], 1.0)
        entries = np.maximum(self.entries_per_day(state), 1e-9)
        best: Column = np.minimum(share, self._prior.per_change * changes / entries)
        return np.minimum(best, _MAX_QUALITY).astype(np.float32)

    def recall(self, state: State) -> Column:
        """The share of the changes that the source announced, beyond those that it announced by chance."""
        announced = self._brought(state, 1.0) + self._prior.announced
        share: Column = announced / (announced + state["silent_changed"] + self._prior.silent)
        return np.minimum(share, _MAX_QUALITY).astype(np.float32)

    def proven_recall(self, state: State) -> Column:
        """Recall less its standard error, for the value of a read. A source without checks keeps its prior recall."""
        checked = self._brought(state, 1.0) + state["silent_changed"]
        recall = self.recall(state)
        error = np.sqrt(recall * (1.0 - recall) * checked) / (checked + 1.0)
        proven: Column = np.maximum(recall - error, 0.0).astype(np.float32)
        return proven

    def proven_worth(self, state: State) -> Column:
        """Upper limit of the value of a read: twice what the last reads have proven to bring."""
        proven: Column = 2.0 * self._brought(state, 2.0) / (state["recent_reads"] + 1.0)
        return proven.astype(np.float32)

    def doubt(self, state: State) -> Column:
        """1 for a new source; more, the more announcements were wrong and the more changes it did not announce."""
        wrong = state["announced"] - state["announced_changed"] + state["silent_changed"]
        doubt: Column = 1.0 + self._prior.doubt_per_error * wrong
        return doubt.astype(np.float32)

    def trusted(self, state: State) -> Flags:
        """Whether more than half of the announcements are right, beyond what was expected anyway."""
        trusted: Flags = self.precision(state) > _TRUSTED
        return trusted

    def entries_per_day(self, state: State) -> Column:
        """Entries per page and day."""
        rate: Column = state["entries"] / np.maximum(state["page_days"], 1.0)
        return rate.astype(np.float32)

    def delay_days(self, state: State) -> Column:
        """How late entries appear, on average."""
        delay: Column = state["late_days"] / np.maximum(state["dated"], 1e-9)
        return delay.astype(np.float32)

    def discoveries_per_day(self, state: State) -> Column:
        """New pages per day that the source leads to."""
        rate: Column = (state["discovered"] + _DISCOVERED) / (state["read_days"] + _READ_DAYS)
        return rate.astype(np.float32)

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

    # ── learning ────────────────────────────────────────────────────────────────────────────────────────────

    def visit_counts(
        self,
        sources: int,
        source: Index,
        elapsed_days: Days,
        announced: Flags,
        changed: Flags,
        unchanged: Column,
        unchanged_covered: Column,
    ) -> CountedSources:
        """Pages were visited of which these sources had announced a change or not. `unchanged` is the forecast's
        probability for the time since the previous visit, `unchanged_covered` for the part that the source covers."""
        in_covered = np.clip((1.0 - unchanged_covered) / np.maximum(1.0 - unchanged, 1e-9), 0.0, 1.0)
        weights = {
            "announced": announced,
            "announced_changed": announced & changed,
            "announced_expected": np.where(announced, 1.0 - unchanged, 0.0),
            "silent_changed": np.where(~announced & changed, in_covered, 0.0),
            "silent_expected": np.where(announced, 0.0, 1.0 - unchanged_covered),
            "changes": changed,
            "days": elapsed_days,
            "recent_reads": np.zeros(len(source)),  # reads are forgotten as fast as visits
        }
        return CountedSources(
            keep=np.exp2(-np.bincount(source, minlength=sources) / self._prior.memory),
            added={
                name: np.bincount(source, weights=weights[name], minlength=sources).astype(np.float64)
                for name in VISIT_COUNTS
            },
        )

    def add(self, state: State, counted: CountedSources) -> None:
        """Add what visits found. In place."""
        for name, added in counted.added.items():
            state[name] = state[name] * counted.keep + added

    def read(self, state: State, source: int, added: dict[str, float]) -> None:
        """A source was read, which adds this to its counts (`read_counts`). In place."""
        state["reads"][source] += 1.0
        state["recent_reads"][source] += 1.0
        for name in READ_COUNTS:
            state[name][source] = state[name][source] * READ_KEEP + added[name]


READ_KEEP: float = float(np.exp2(-1.0 / PRIOR.memory))
"""The factor of the counts of a source at each read."""


def read_counts(*, pages: int, days: float, entries: int, late_days: Days, discovered: int = 0) -> dict[str, float]:
    """What a read of a source adds to its counts. The source lists this number of `pages`, was read `days` ago before,
    and has this number of new entries. `late_days`: for each entry with a date, by how many days the date lies before
    the previous read, at which the entry was missing; a negative number: it was not late."""
    late = np.maximum(late_days, 0.0)
    return {
        "entries": float(entries),
        "page_days": pages * days,
        "late_days": float(late.sum()),
        "dated": float(len(late)),
        "discovered": float(discovered),
        "read_days": days,
    }
