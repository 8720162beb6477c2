"""Simulated sources of signals over true changes: dated lists and visitors' reports of a given quality.

They are generated from the true changes with their own seed, and return what a real source would show on a day.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from webstrata.columns import Days, Rows
from webstrata.errors import UsageError
from webstrata.lab.policies.truth import Truth

_MAX_FALSE = 50.0
"""Maximum number of false entries for each true one."""


class DatedEntries(Protocol):
    """Sources of dated entries about pages, one for each site."""

    def news(self, site: int, since: float, now: float) -> tuple[Rows, Days]:
        """The pages of a site with an entry in (since, now], and the newest date of each."""
        ...


class ListedEntries(DatedEntries, Protocol):
    """Lists, which are read at most once in `every_days`."""

    every_days: float


class _DatedHints:
    """Dated entries about pages, ordered by site and time."""

    def __init__(self, page: Rows, at: Days, site: NDArray[np.intp]) -> None:
        order = np.lexsort((at, site[page]))
        self._page, self._at = page[order], at[order]
        self._begin = np.searchsorted(site[self._page], np.arange(int(site.max(initial=-1)) + 2))

    def news(self, site: int, since: float, now: float) -> tuple[Rows, Days]:
        """The pages of a site with an entry in (since, now], and the newest date of each."""
        begin, end = self._begin[site], self._begin[site + 1]
        own = self._at[begin:end]
        first, last = begin + np.searchsorted(own, [since, now], side="right")
        page, newest = np.unique(self._page[first:last][::-1], return_index=True)
        return page, self._at[first:last][::-1][newest]


class SimulatedLists(_DatedHints):
    """One list for each site with the time of the last change of its pages.

    Each true change is listed with probability `recall`. False entries at random pages and days are added, so that the
    share `precision` of all entries is true. With precision 0 all entries are false.
    """

    def __init__(
        self,
        truth: Truth,
        site: NDArray[np.intp],
        *,
        every_days: float,
        recall: float = 1.0,
        precision: float = 1.0,
        seed: int = 1,
    ) -> None:
        if not (0.0 <= recall <= 1.0 and 0.0 <= precision <= 1.0):
            raise UsageError("recall and precision of a list are shares from 0 to 1.")
        if not every_days >= 1.0:
            raise UsageError("a list can be fetched at most once a day: give an interval of a day or longer.")
        self.every_days = every_days
        random = np.random.default_rng(seed)
        page, at = truth.events(0.0, truth.days)
        listed = random.random(len(page)) < recall
        page, at = page[listed], at[listed]
        false = round(len(page) * min((1.0 - precision) / precision, _MAX_FALSE)) if precision else len(page)
        if not precision:
            page, at = page[:0], at[:0]
        super().__init__(
            np.concatenate([page, random.integers(0, len(truth), false)]),
            np.concatenate([at, random.random(false) * truth.days]),
            site,
        )


class SimulatedReports(_DatedHints):
    """Visitors' browsers that report a change at their next visit; each page has `rate_per_day` visits."""

    def __init__(self, truth: Truth, site: NDArray[np.intp], *, rate_per_day: float, seed: int = 1) -> None:
        if not 0.0 <= rate_per_day < float("inf"):
            raise UsageError("the rate of reports is a number of visitors per page and day, from 0 up.")
        random = np.random.default_rng(seed)
        page, at = truth.events(0.0, truth.days)
        reported = at + random.exponential(1.0, len(at)) / max(rate_per_day, 1e-12)
        super().__init__(page, reported, site)
