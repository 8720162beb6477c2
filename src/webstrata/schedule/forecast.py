"""Columns that a value policy computes with: the forecast of pages, and what sources and sites say about them.

A signal changes the schedule and never counts as a change. Each source enters with its learned precision and recall; a
source that is often wrong has little effect.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from webstrata.columns import Column, Days, Flags


class ForecastTable(Struct, frozen=True, kw_only=True):
    """The forecast of some pages at whole days after their last visit; valid until that day is over."""

    whole_days: NDArray[np.int16]
    unchanged: Column
    """Probability that the page has not changed since its last visit."""
    next_day: Column
    """Probability that the first change comes on the next day."""
    rate: Column
    """Probability of a change on the next day, whatever happened before."""
    fresh_days: Column
    """Expected number of days since the last visit on which the copy was up to date."""

    def part(self, rows: slice) -> ForecastTable:
        """The forecast of a range of the pages: views of the same columns, not copies."""
        return ForecastTable(
            whole_days=self.whole_days[rows],
            unchanged=self.unchanged[rows],
            next_day=self.next_day[rows],
            rate=self.rate[rows],
            fresh_days=self.fresh_days[rows],
        )

    def replace_rows(self, rows: NDArray[np.intp] | slice, new: ForecastTable) -> None:
        """Write new forecasts of some of the pages. In place."""
        self.whole_days[rows] = new.whole_days
        self.unchanged[rows] = new.unchanged
        self.next_day[rows] = new.next_day
        self.rate[rows] = new.rate
        self.fresh_days[rows] = new.fresh_days

    def unchanged_at(self, age_days: Days) -> Column:
        """Probability of no change since the last visit at these ages; between whole days it falls linearly."""
        unchanged: Column = age_days.astype(np.float32) - self.whole_days
        unchanged *= -self.next_day
        unchanged += self.unchanged
        np.maximum(unchanged, 0.0, out=unchanged)
        return unchanged


def empty_forecasts(n: int) -> ForecastTable:
    """A table for n pages in which no forecast is valid yet."""
    unchanged, next_day, rate, fresh = np.zeros((4, n), dtype=np.float32)
    whole = np.full(n, -1, dtype=np.int16)
    return ForecastTable(whole_days=whole, unchanged=unchanged, next_day=next_day, rate=rate, fresh_days=fresh)


class SourceHints(Struct, frozen=True, kw_only=True):
    """One kind of source for all rows: the list of each page's site, or the reports of its visitors."""

    covered_days: Days
    """Part of the time since the last visit that the source's statements cover; 0: no statement since then."""
    unchanged: Column
    """Probability, without any hint, that the page did not change in that time."""
    announced: Flags
    """The source announced a change since the last visit."""
    precision: Column
    recall: Column


class PageSignals(Struct, frozen=True, kw_only=True):
    """All signals about some rows. None: nothing is known."""

    quiet: Column | None = None
    """Probability that no event of the whole site changed the page since its last visit."""
    quiet_next_day: Column | None = None
    """The same for the next day."""
    hints: tuple[SourceHints, ...] = ()

    def own_or_site(self, unchanged: Column) -> Column:
        """Probability that neither the page itself nor an event of its site caused a change."""
        return unchanged if self.quiet is None else unchanged * self.quiet


NOTHING = PageSignals()


def changed_given(unchanged: Column, hints: tuple[SourceHints, ...]) -> Column:
    """Probability that pages changed, where the forecast alone gives `unchanged`, after all hints.

    An announced page is unchanged with probability `unchanged` times 1 - precision. Silence removes the share `recall`
    of the probability that the page changed in the time that the source covers. Hints are treated as independent.
    """
    odds = (1.0 - unchanged) / np.maximum(unchanged, 1e-9)
    for hint in hints:
        before = np.maximum(1.0 - unchanged, 1e-9)
        silent = 1.0 - hint.recall * np.minimum((1.0 - hint.unchanged) / before, 1.0)
        doubt = 1.0 - hint.precision
        announced = (1.0 - unchanged * doubt) / (before * np.maximum(doubt, 1e-6))
        odds = odds * np.where(hint.announced, announced, np.where(hint.covered_days > 0, silent, 1.0))
    probability: Column = (odds / (1.0 + odds)).astype(np.float32)
    return probability
