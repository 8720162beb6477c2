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
    """The forecast of some pages, each over a range of ages: four numbers at the age `begin`, and how they change per
    day from there. It holds while the page's age is at least `begin` and below `end`."""

    begin: Column
    end: Column
    unchanged: Column
    """Probability that the page has not changed since its last visit."""
    density: Column
    """Probability per day that the first change since the last visit comes at this age."""
    rate: Column
    """Changes per day at this age, whatever happened before."""
    fresh_days: Column
    """Expected time since the last visit in which the copy was up to date, in days."""
    unchanged_slope: Column
    density_slope: Column
    rate_slope: Column
    fresh_slope: Column

    def part(self, rows: slice) -> ForecastTable:
        """The forecast of a range of the pages: views of the same columns, not copies."""
        return ForecastTable(**{name: getattr(self, name)[rows] for name in self.__struct_fields__})

    def replace_rows(self, rows: NDArray[np.intp] | slice, new: ForecastTable) -> None:
        """Write new forecasts of some of the pages. In place."""
        for name in self.__struct_fields__:
            getattr(self, name)[rows] = getattr(new, name)

    def forget(self, rows: NDArray[np.intp]) -> None:
        """The forecasts of these pages no longer hold at any age. In place."""
        self.end[rows] = -1.0

    def outdated(self, age_days: Column) -> NDArray[np.intp]:
        """The rows whose forecast does not hold at these ages."""
        age = age_days.astype(np.float32, copy=False)
        return np.flatnonzero((age < self.begin) | (age >= self.end))

    def changes_at(self, age_days: Column) -> tuple[Column, Column, Column]:
        """`unchanged`, `density` and `rate` at these ages."""
        ahead = self._ahead(age_days)
        unchanged = ahead * self.unchanged_slope
        unchanged += self.unchanged
        density = ahead * self.density_slope
        density += self.density
        rate = np.multiply(ahead, self.rate_slope, out=ahead)
        rate += self.rate
        return np.maximum(unchanged, 0.0, out=unchanged), density, rate

    def unchanged_at(self, age_days: Column) -> Column:
        """Probability of no change since the last visit at these ages."""
        return np.maximum(self._ahead(age_days) * self.unchanged_slope + self.unchanged, 0.0)

    def rate_at(self, age_days: Column) -> Column:
        """Changes per day at these ages, whatever happened before."""
        return self._ahead(age_days) * self.rate_slope + self.rate

    def fresh_days_at(self, age_days: Column) -> Column:
        """Expected days since the last visit in which the copy was up to date."""
        return self._ahead(age_days) * self.fresh_slope + self.fresh_days

    def _ahead(self, age_days: Column) -> Column:
        ahead: Column = age_days.astype(np.float32, copy=False) - self.begin
        return ahead


def forecast_at(age_days: Days, unchanged: Column, density: Column, rate: Column, fresh_days: Column) -> ForecastTable:
    """A forecast that holds at exactly these ages, for policies that compute their forecasts without tables."""
    age, none = age_days.astype(np.float32), np.zeros(len(age_days), dtype=np.float32)
    return ForecastTable(
        begin=age,
        end=age,
        unchanged=unchanged,
        density=density,
        rate=rate,
        fresh_days=fresh_days,
        unchanged_slope=none,
        density_slope=none,
        rate_slope=none,
        fresh_slope=none,
    )


def empty_forecasts(n: int) -> ForecastTable:
    """A table for n pages in which no forecast holds yet."""
    names = ForecastTable.__struct_fields__
    table = ForecastTable(**dict(zip(names, np.zeros((len(names), n), dtype=np.float32), strict=True)))
    table.end[:] = -1.0
    return table


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
