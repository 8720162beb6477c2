"""HACS's forecast at one date: from the copies of a window, the probability that a page has an update by a later date.

An update is dated half-way between the copy that shows it and the previous one. λ is the root of eq. 5 over the
intervals between these times (eq. 4 if each ends at an update, 0 without an update), τ the last update in the window,
or its first copy if there is none. The probability of an update by day t + e is 1 - exp(-λ (t + e - τ)).
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from webstrata.columns import Days, Rows
from webstrata.lab.hacs.timeline import UpdateTimeline
from webstrata.predict.interpolated import moved
from webstrata.predict.poisson import irregular_rate
from webstrata.predict.visit_history import VisitHistory, from_times


class WindowForecast(Struct, frozen=True, kw_only=True):
    """One row for each page that has a copy in the window."""

    page: Rows
    chance: Days
    """Of an update by the end of the evaluation interval."""
    since_days: Days
    """From the last update (or the first copy) to the date."""


def window_forecast(
    timeline: UpdateTimeline, at_day: float, window_days: float, ahead_days: float, *, with_previous: bool = False
) -> WindowForecast:
    """The forecast at a date from the copies in [`at_day` - `window_days`, `at_day`].

    `with_previous` adds the last copy before the window, so that the first one in it also ends an interval.
    """
    copies, every = timeline.copies, np.arange(timeline.pages)
    first = copies.position(every, at_day - window_days, "left")
    end = copies.position(every, at_day)
    page = np.flatnonzero(end > first)
    first = first[page]
    begin = first - (with_previous & (copies.page[first - 1] == page) & (first > 0))
    number = end[page] - begin
    copy = np.repeat(begin - np.cumsum(number) + number, number) + np.arange(number.sum())
    row = np.repeat(np.arange(len(page)), number)
    history = moved(from_times(row, copies.at_days[copy], timeline.shows[copy], len(page)))
    updated_day = copies.at_days[first]
    last_update(history, updated_day)
    rate = np.nan_to_num(irregular_rate(history), nan=0.0)
    since_days = at_day - updated_day
    return WindowForecast(page=page, chance=-np.expm1(-rate * (since_days + ahead_days)), since_days=since_days)


def last_update(history: VisitHistory, into: Days) -> None:
    """Write the time of each page's last update; pages without one keep their value."""
    into[history.page_of()[history.changed]] = history.at_days[history.changed]  # of equal rows, the last is written
