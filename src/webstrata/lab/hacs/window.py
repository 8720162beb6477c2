"""HACS's forecast at one date: from the copies of a window, the probability that a page has an update by a later date.

An update is dated half-way between the copy that shows it and the previous one. λ is the root of eq. 5 over the
intervals between these times (eq. 4 if each ends at an update, 0 without an update), τ the last update in the window,
or its first copy if there is none. The probability of an update by day t + e is 1 - exp(-λ (t + e - τ)).
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from webstrata.columns import Days, Rows
from webstrata.lab.estimators.interpolated import moved
from webstrata.lab.hacs.timeline import UpdateTimeline
from webstrata.predict.poisson import irregular_rate
from webstrata.predict.visit_history import VisitHistory, from_times


class WindowForecast(Struct, frozen=True, kw_only=True):
    """One row for each page that has a copy in the window."""

    page: Rows
    chance: Days
    """Of an update by the end of the evaluation interval."""
    since_days: Days
    """From the last update (or the first copy) to the date."""


def window_forecast(timeline: UpdateTimeline, at_day: float, window_days: float, ahead_days: float) -> WindowForecast:
    """The forecast at a date from the copies in [`at_day` - `window_days`, `at_day`]."""
    every = np.arange(timeline.pages)
    first = timeline.copies.position(every, at_day - window_days, "left")
    number = timeline.copies.position(every, at_day) - first
    page = np.flatnonzero(number)
    number = number[page]
    starts = np.cumsum(number) - number
    copy = np.repeat(first[page] - starts, number) + np.arange(number.sum())
    at_days = timeline.copies.at_days[copy]
    row = np.repeat(np.arange(len(page)), number)
    history = moved(from_times(row, at_days, timeline.shows[copy], len(page)))
    updated_day = at_days[starts] if len(page) else np.empty(0)
    last_update(history, updated_day)
    rate = np.nan_to_num(irregular_rate(history), nan=0.0)
    since_days = at_day - updated_day
    return WindowForecast(page=page, chance=-np.expm1(-rate * (since_days + ahead_days)), since_days=since_days)


def last_update(history: VisitHistory, into: Days) -> None:
    """Write the time of each page's last update; pages without one keep their value."""
    into[history.page_of()[history.changed]] = history.at_days[history.changed]  # of equal rows, the last is written
