"""The true changes in a window of the histories. Only the replay reads them, never a policy.

Time is in days from the start of each page's own window, which ends at the page's `until`. On day 0 a first copy is
taken that counts neither as a download nor as a capture.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from webstrata.clock import DAY_S
from webstrata.columns import Days, Rows
from webstrata.errors import UsageError
from webstrata.lab.policies.histories import Histories

Counts: TypeAlias = NDArray[np.int64]


class Truth:
    """The changes of all pages in the window, and in `past_days` before it."""

    def __init__(self, histories: Histories, days: float, past_days: float = 0.0) -> None:
        """Pages that did not exist on day 0 are left out. Raises UsageError if none remains."""
        if not (0 < days < float("inf") and 0 <= past_days < float("inf")):
            raise UsageError("the window must be a positive number of days.")
        start = histories.until - days * DAY_S
        existing = np.flatnonzero(histories.first <= start)
        if not len(existing):
            raise UsageError(f"no page of the histories covers {days:g} days. Ask for a shorter window with --years.")
        self.histories = histories.take(existing)
        self.left_out = len(histories) - len(existing)
        self.days = float(days)
        self.past_days = float(past_days)
        lengths = np.diff(self.histories.offsets)
        page = np.repeat(np.arange(len(existing)), lengths)
        at = (self.histories.changes - np.repeat(start[existing], lengths)) / DAY_S
        known = at > -past_days
        self._page, self._at = page[known], at[known]
        # Page and day as one sorted number, so that one binary search serves all pages.
        self._span = 2.0 ** np.ceil(np.log2(days + past_days + 2))
        self._keys = self._page * self._span + (self._at + past_days)
        self.first_day: Days = np.maximum((self.histories.first - start[existing]) / DAY_S, -past_days)

    def __len__(self) -> int:
        return len(self.histories)

    def position(self, rows: Rows, at: Days) -> Counts:
        """The number of changes of all previous pages, and of this page up to and including `at`."""
        position: Counts = np.searchsorted(self._keys, rows * self._span + (at + self.past_days), side="right")
        return position

    def changed(self, rows: Rows, since: Days, at: Days) -> Counts:
        """Number of changes in (since, at]."""
        return self.position(rows, at) - self.position(rows, since)

    def outdated(self, rows: Rows, since: Days, at: Days) -> Days:
        """Days up to `at` for which a copy taken at `since` was outdated."""
        position = self.position(rows, since)
        stale = position < self.position(rows, at)
        begin = self._at[np.minimum(position, max(len(self._at) - 1, 0))] if len(self._at) else np.zeros(len(rows))
        return np.where(stale, at - begin, 0.0)

    def total(self) -> Counts:
        """The number of changes of every page in the window."""
        rows = np.arange(len(self))
        return self.changed(rows, np.zeros(len(self)), np.full(len(self), self.days))

    def events(self, since: float, until: float) -> tuple[Rows, Days]:
        """Pages and times of the changes in (since, until], ordered by page and time."""
        inside = (self._at > since) & (self._at <= until)
        return self._page[inside], self._at[inside]
