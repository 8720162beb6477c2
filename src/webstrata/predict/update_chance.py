"""HACS's forecast at one time: the probability that a page has an update by a later time.

Only the visits and copies of a window before that time count. An update is dated half-way between the visit that saw it
and the previous one. λ is the root of eq. 5 over the intervals between these times (eq. 4 if each ends at an update, 0
without an update), and τ is the last update in the window, or the first visit in it if there is none. Then

    p = 1 - exp(-λ (t + e - τ))

is the probability of an update by t + e since τ.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from webstrata.columns import Days, Flags
from webstrata.predict.interpolated import moved
from webstrata.predict.poisson import irregular_rate
from webstrata.predict.visit_history import Offsets, VisitHistory

_EDGE_DAYS = 1e-9


class UpdateForecast(Struct, frozen=True, kw_only=True):
    """One entry for each page. Without two visits in the window the probability is 0, and `since` is NaN."""

    chance: Days
    rate: Days
    """Updates per day in the window; 0 if there is none."""
    since: Days
    """τ, in days since 1970."""
    intervals: Offsets
    """Number of intervals between visits in the window."""
    updates: Offsets
    """Number of them that ended at an update."""


def update_forecast(
    history: VisitHistory, at_days: float, ahead_days: float, window_days: float = np.inf
) -> UpdateForecast:
    """The forecast for `at_days` + `ahead_days`, from the visits in the window before `at_days`."""
    seen = within(history, at_days - window_days, at_days).lasting()
    rate = np.nan_to_num(irregular_rate(moved(seen)), nan=0.0)
    since = last_update_days(seen)
    chance = np.where(rate > 0, chance_of_update(rate, at_days + ahead_days - since), 0.0)
    updates = seen.totals(seen.changed).astype(np.int64)
    return UpdateForecast(chance=chance, rate=rate, since=since, intervals=seen.counts, updates=updates)


def within(history: VisitHistory, begin_days: float, end_days: float) -> VisitHistory:
    """The history with the intervals that begin and end in this period."""
    began = history.at_days - history.elapsed_days
    inside: Flags = (began >= begin_days - _EDGE_DAYS) & (history.at_days <= end_days + _EDGE_DAYS)
    return history if inside.all() else history.where(inside)


def last_update_days(history: VisitHistory) -> Days:
    """When each page's last update happened, half-way before the visit that saw it; without an update its first visit,
    and NaN without an interval."""
    last = np.full(history.pages, np.nan)
    filled = history.counts > 0
    first = history.offsets[:-1][filled]
    last[filled] = history.at_days[first] - history.elapsed_days[first]
    dated = history.at_days - history.elapsed_days / 2
    last[history.page_of()[history.changed]] = dated[history.changed]  # of several updates, the last one is written
    return last


def chance_of_update(rate: Days, days: Days) -> Days:
    """Probability of an update within these days."""
    chance: Days = -np.expm1(-rate * np.maximum(days, 0.0))
    return chance


def days_to_chance(chance: float, rate: Days) -> Days:
    """The days after which an update has this probability; infinite if it never reaches it."""
    days = np.full(len(rate), np.inf)
    if chance < 1:
        np.divide(-np.log1p(-chance), rate, out=days, where=rate > 0)
    return days
