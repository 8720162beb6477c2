"""Made-up sources over real changes: dated lists and visitors' reports of a given quality.

They are made from the truth, with a seed of their own, and hand out what a real one would have shown by that day.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webstrata.columns import Days, Flags, Rows
from webstrata.errors import UsageError
from webstrata.lab.truth import Truth

_MOST_FALSE = 50.0
"""False entries for each true one, at most: beyond, a list is noise all the same."""


class MadeLists:
    """One list for each site that says of its pages when they changed last.

    Each real change is listed with probability `recall`; as many false entries are mixed in, at random pages and days,
    that `precision` of all are true. With precision 0 every entry is a false one.
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
            raise UsageError("a list can be fetched once a day at most: give an interval of a day or longer.")
        self._every = every_days
        random = np.random.default_rng(seed)
        page, at = truth.events(0.0, truth.days)
        listed = random.random(len(page)) < recall
        page, at = page[listed], at[listed]
        false = round(len(page) * min((1.0 - precision) / precision, _MOST_FALSE)) if precision else len(page)
        if not precision:
            page, at = page[:0], at[:0]
        self._page = np.concatenate([page, random.integers(0, len(truth), false)])
        self._at = np.concatenate([at, random.random(false) * truth.days])
        order = np.lexsort((self._at, self._page))
        self._page, self._at = self._page[order], self._at[order]
        self._of = site[self._page]

    def ready(self, day: int, looked_at: Days, fetched: list[int]) -> Flags:
        """Which lists may be fetched: not before their interval is over. The first time any day is right."""
        known = np.isin(np.arange(len(looked_at)), fetched)
        flags: Flags = ~known | (day - looked_at >= self._every)
        return flags

    def shown(self, site: int, now: float) -> tuple[Rows, Days]:
        """The pages of a site that its list has an entry of by now, and the newest date of each."""
        inside = (self._of == site) & (self._at <= now)
        page, at = self._page[inside], self._at[inside]
        last = np.r_[page[1:] != page[:-1], np.ones(min(len(page), 1), dtype=bool)]
        return page[last], at[last]


class MadeReports:
    """Visitors' browsers that tell of a change when they next meet the page, each page at `rate_per_day`."""

    def __init__(self, truth: Truth, site: NDArray[np.intp], *, rate_per_day: float, seed: int = 1) -> None:
        if not 0.0 <= rate_per_day < float("inf"):
            raise UsageError("the rate of reports is a number of visitors per page and day, from 0 up.")
        random = np.random.default_rng(seed)
        page, at = truth.events(0.0, truth.days)
        told = at + random.exponential(1.0, len(at)) / max(rate_per_day, 1e-12)
        order = np.lexsort((told, page))
        self._page, self._changed, self._told = page[order], at[order], told[order]
        self._of = site[self._page]

    def heard(self, site: int, since: float, until: float) -> tuple[Rows, Days]:
        """Pages of a site of which a report came in (since, until], and when."""
        inside = (self._of == site) & (self._told > since) & (self._told <= until)
        page, at = self._page[inside], self._told[inside]
        last = np.r_[page[1:] != page[:-1], np.ones(min(len(page), 1), dtype=bool)]
        return page[last], at[last]
