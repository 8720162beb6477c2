"""Visits of each page by the length of their interval: equal intervals are one class, so regular visits cost little."""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from webstrata.columns import Days, Flags
from webstrata.predict.visit_history import VisitHistory


class VisitClasses(Struct, frozen=True, kw_only=True):
    """Columns have one entry for each class; the classes of a page follow each other, and every page has one."""

    starts: NDArray[np.int64]
    """The first class of each page."""
    lengths: NDArray[np.int64]
    """The number of classes of each page."""
    days: Days
    number: Days
    """Visits of the class."""
    hits: Days
    """Those that saw a change."""

    @property
    def pages(self) -> int:
        return len(self.starts)

    def sums(self, values: NDArray[Any]) -> NDArray[Any]:
        """Sums over the classes of each page (first axis)."""
        total: NDArray[Any] = np.add.reduceat(values, self.starts, axis=0)
        return total

    def each(self, values: NDArray[Any]) -> NDArray[Any]:
        """For each class the value of its page."""
        return np.repeat(values, self.lengths, axis=0)

    def of_pages(self, pages: Flags) -> VisitClasses:
        kept = self.each(pages)
        lengths = self.lengths[pages]
        return VisitClasses(
            starts=np.cumsum(lengths) - lengths,
            lengths=lengths,
            days=self.days[kept],
            number=self.number[kept],
            hits=self.hits[kept],
        )


def visit_classes(history: VisitHistory) -> VisitClasses:
    """The classes of pages that all have visits."""
    page = history.page_of()
    order = np.lexsort((history.elapsed_days, page))
    page, days = page[order], history.elapsed_days[order]
    first = np.ones(len(page), dtype=bool)
    first[1:] = (page[1:] != page[:-1]) | (days[1:] != days[:-1])
    begins = np.flatnonzero(first)
    lengths = np.bincount(page[begins], minlength=history.pages)
    return VisitClasses(
        starts=np.cumsum(lengths) - lengths,
        lengths=lengths,
        days=days[begins],
        number=np.diff(np.append(begins, len(page))).astype(np.float64),
        hits=np.add.reduceat(history.changed[order].astype(np.float64), begins),
    )
