"""The pages that a classifier learns from: what each looked like at first, and what was seen of it afterwards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from webstrata.columns import Days
from webstrata.predict.poisson import irregular_rate, regular
from webstrata.predict.visit_history import VisitHistory, visit_history

Features = NDArray[np.float64]
"""Pages by features; NaN: not known."""


class TrainingPages(Struct, frozen=True, kw_only=True):
    """One row for each page, in all fields."""

    site: tuple[str, ...]
    page: tuple[str, ...]
    names: tuple[str, ...]
    """The names of the features."""
    features: Features
    history: VisitHistory
    """The visits after the first one, with the content of which the features were computed."""

    def __len__(self) -> int:
        return len(self.page)

    @property
    def rates(self) -> Days:
        """Changes per day; 0 if no visit saw a change, NaN without visits. The estimator is the paper's for pages that
        were visited at about equal intervals, and the maximum likelihood for the others."""
        history = self.history.lasting()
        regularly = regular(history).rate
        if _has_equal_intervals(history).all():
            return regularly
        return np.where(_has_equal_intervals(history), regularly, irregular_rate(history))

    def only(self, kept: NDArray[np.bool_]) -> TrainingPages:
        """Some of the pages."""
        rows = np.flatnonzero(kept)
        return TrainingPages(
            site=tuple(self.site[row] for row in rows),
            page=tuple(self.page[row] for row in rows),
            names=self.names,
            features=self.features[rows],
            history=self.history.of_pages(kept),
        )


_EQUAL = 1.5
"""Intervals are about equal if the longest is at most this many times the shortest."""


def _has_equal_intervals(history: VisitHistory) -> NDArray[np.bool_]:
    filled = history.counts > 0
    equal = np.ones(history.pages, dtype=np.bool_)
    if filled.any():
        starts = history.offsets[:-1][filled]
        longest, shortest = (by.reduceat(history.elapsed_days, starts) for by in (np.maximum, np.minimum))
        equal[filled] = longest <= _EQUAL * shortest
    return equal


def feature_rows(features: Sequence[Mapping[str, float] | None], names: Sequence[str]) -> Features:
    """The features with these names, one row for each page; NaN where a page has none. Other features are left out."""
    missing: Mapping[str, float] = {}
    rows = [[page.get(name, np.nan) for name in names] for page in (one or missing for one in features)]
    return np.array(rows, dtype=np.float64).reshape(len(features), len(names))


def regular_visits(changed_after: Sequence[Days], lasted: Days, every_days: float) -> VisitHistory:
    """Visits to pages at equal intervals, as long as each page lasted. `changed_after`: for each page the days from its
    first visit to each of its changes, ascending."""
    counts = np.floor(lasted / every_days).astype(np.int64)
    offsets = np.concatenate([[0], np.cumsum(counts)])
    changed = np.zeros(int(offsets[-1]), dtype=np.bool_)
    for page, after in enumerate(changed_after):
        visit = np.ceil(np.asarray(after) / every_days).astype(np.int64) - 1  # the first visit after each change
        visit = visit[(visit >= 0) & (visit < counts[page])]
        changed[offsets[page] + visit] = True
    return visit_history(offsets, np.full(len(changed), every_days), changed)
