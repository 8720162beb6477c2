"""HACS: a change lies half-way between the visit that saw it and the one before; then the rate by eq. 5.

Moving the changes makes the sequence of times that the paper fits: an interval that ends at a change is `t_c`, one
that ends at a visit without is `t_u`. It counts a change seen after a long pause as half as old, so the rate is
higher than `irregular` where intervals differ much.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from webstrata.columns import Days
from webstrata.predict.poisson import irregular, irregular_rate
from webstrata.predict.rate_estimate import RateEstimate
from webstrata.predict.visit_history import VisitHistory


class HacsForecast(Struct, frozen=True, kw_only=True):
    """HACS's view of pages at one date."""

    rate: Days
    last_update_days: Days
    """The last update, put half-way; the first capture of the window where there was none."""
    chance: Days
    """That the page will have changed since then by the end of the evaluation interval."""


def interpolated(history: VisitHistory) -> RateEstimate:
    return irregular(moved(history))


def moved(history: VisitHistory) -> VisitHistory:
    """The visits with each change put half-way back to the visit before."""
    back = np.where(history.changed, history.elapsed_days / 2, 0.0)
    return VisitHistory(
        offsets=history.offsets,
        elapsed_days=history.elapsed_days - back + history.previous(back),
        changed=history.changed,
        at_days=history.at_days - back,
    )


def hacs_forecast(
    history: VisitHistory, now_days: float, window_days: float, evaluation_days: float = 7.0
) -> HacsForecast:
    """What the captures in the window before `now_days` say. Pages without an interval in it have no number."""
    begun = history.at_days - history.elapsed_days
    inside = history.where((begun >= now_days - window_days) & (history.at_days <= now_days))
    captures = moved(inside)
    updates = captures.where(captures.changed)
    last = np.full(history.pages, np.nan)
    seen = inside.counts > 0
    first = inside.offsets[:-1][seen]
    last[seen] = inside.at_days[first] - inside.elapsed_days[first]
    some = updates.counts > 0
    last[some] = updates.at_days[updates.offsets[1:][some] - 1]
    rate = irregular_rate(captures)
    chance = -np.expm1(-rate * (now_days + evaluation_days - last))
    return HacsForecast(rate=rate, last_update_days=last, chance=chance)
