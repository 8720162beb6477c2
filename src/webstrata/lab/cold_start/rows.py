"""The result rows of the experiment: errors with 95 % intervals, and the values that the paper prints."""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from webstrata.lab.cold_start.final_group import FinalGroups
from webstrata.lab.policies.bootstrap import Resamples, interval, share
from webstrata.predict.first_sight.groups import GroupNumbers

PAGES, SITES, ALL = "pages", "sites", "all"
"""Splits: one third of the pages is tested; each site is tested by what other sites taught; nothing is learned."""

PAPER = {
    ("random", "none"): 0.7522,
    ("j48", "none"): 0.2564,
    ("random", "bayesian"): 0.3473,
    ("random", "historic"): 0.2833,
    ("j48", "bayesian"): 0.3787,
    ("j48", "historic"): 0.1495,
}
"""Tables 3 and 5 of the paper, by initial class and history."""


class ColdStartRow(Struct, frozen=True, kw_only=True):
    """The error of one combination of an initial class and of what follows it."""

    corpus: str
    split: str
    initial: str
    """`random`; `usual`: the commonest class; `j48`: that of the decision tree; `population`, `first-sight`: where the
    belief of `value` starts."""
    history: str
    """`none`: the initial class is the answer; else what moves pages between groups."""
    error: float
    """Share of the tested pages that do not end in their true group."""
    low: float
    high: float
    balanced_error: float
    """The mean of the errors of the groups: chance is 1 - 1/k, however many pages each group has."""
    visits: float
    """Mean number of visits of a page after the first one."""
    pages: int
    paper: float | None


class ErrorCount:
    """Counts the tests of one combination, by page: a page may be tested with several seeds."""

    def __init__(self, unit: NDArray[np.intp], groups: int) -> None:
        """`unit`: what the interval resamples, by page: the page itself, or its site."""
        self.unit, self.groups = unit, groups
        self.wrong = np.zeros((len(unit), groups))
        self.tested = np.zeros((len(unit), groups))
        self.visits = np.zeros(len(unit))

    def add(self, pages: NDArray[np.intp], true: GroupNumbers, found: FinalGroups) -> None:
        """These pages were tested; their true groups may differ from those in other splits."""
        self.tested[pages, true] += 1
        self.wrong[pages, true] += found.group != true
        self.visits[pages] += found.visits

    def row(self, corpus: str, split: str, initial: str, history: str) -> ColdStartRow:
        """The result of all tests."""
        wrong, tested = self.wrong.sum(axis=1), self.tested.sum(axis=1)
        wrongs, tests = np.bincount(self.unit, wrong), np.bincount(self.unit, tested)
        used = np.flatnonzero(tests > 0)
        resamples = Resamples(len(used))
        every = np.arange(len(used))
        low, high = interval(share(resamples.sums(wrongs[used], every), resamples.sums(tests[used], every)))
        by_group = share(self.wrong.sum(axis=0), self.tested.sum(axis=0))
        return ColdStartRow(
            corpus=corpus,
            split=split,
            initial=initial,
            history=history,
            error=float(wrong.sum() / tested.sum()),
            low=low,
            high=high,
            balanced_error=float(np.nanmean(by_group)),
            visits=float(self.visits.sum() / tested.sum()),
            pages=int((tested > 0).sum()),
            paper=PAPER.get((initial, history)),
        )
