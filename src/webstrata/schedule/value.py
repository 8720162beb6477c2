"""The flagship `value`: what a visit now is worth, from the forecast of the page and every hint about it.

Let q be the probability that the page changed since its last visit, h how much q grows by waiting a day, r the rate at
which changes come after a visit. If a visit costs c captures that other pages would give, waiting is right while h is
above what a day yields; for a page with a steady rate that yield is r e^-y where c = 1 - e^-y (1 + y). Solved for c:

    worth = 1 - x (1 - ln x),  x = min(1, h / r)

the price at which this page is just worth a visit. It needs no other page: visit where it passes the common threshold.
Uncertain pages are worth more, since r is linear in the belief: that is the exploration.

Where fresh copies count instead of captured changes, a visit after τ days is worth ∫ (q(τ) - q(s)) ds over those days,
the days with a fresh copy that it adds at the margin, in months. `freshness` mixes the two from 0 to 1.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from webstrata.columns import Column, Days, Flags, Rows, State, columns
from webstrata.errors import BadSettings
from webstrata.schedule.policy import Bounds
from webstrata.schedule.signals import NOTHING, PageSignals, changed_given

_MONTH_DAYS = 30.0


class Forecaster(Protocol):
    """What the policy asks of a forecast: `predict.activity.Activity` keeps it."""

    width: int

    def start(self, n: int) -> Column: ...
    def outlook(
        self, belief: Column, whole_days: NDArray[np.integer[Any]], rows: Rows | None = None
    ) -> tuple[Column, Column, Column, Column]: ...
    def seen(self, belief: Column, elapsed_days: Days, changed: Flags, quiet: Column | None = None) -> Column: ...


class ForecastTable(Struct, frozen=True, kw_only=True):
    """The forecast of some pages at whole days after their last visit; holds until the day is over."""

    whole_days: NDArray[np.int16]
    unchanged: Column
    coming: Column
    """That the first change comes on the next day."""
    rate: Column
    """Chance of a change on that day, whatever happened before."""
    fresh_days: Column
    """Of the days since the last visit, those with an up-to-date copy."""

    def of(self, part: slice) -> ForecastTable:
        """Some of the pages: the same columns, not copies."""
        return ForecastTable(
            whole_days=self.whole_days[part],
            unchanged=self.unchanged[part],
            coming=self.coming[part],
            rate=self.rate[part],
            fresh_days=self.fresh_days[part],
        )


def empty_forecasts(n: int) -> ForecastTable:
    """Room for the forecast of n pages, none of which has been made."""
    unchanged, coming, rate, fresh = np.zeros((4, n), dtype=np.float32)
    whole = np.full(n, -1, dtype=np.int16)
    return ForecastTable(whole_days=whole, unchanged=unchanged, coming=coming, rate=rate, fresh_days=fresh)


class Value:
    """Values visits. State: the belief after the last visit and when that was (in days of the caller's clock)."""

    name = "value"

    def __init__(self, forecaster: Forecaster, bounds: Bounds | None = None, freshness: float = 0.0) -> None:
        if not 0.0 <= freshness <= 1.0:
            raise BadSettings(f"freshness is a share from 0 (capture) to 1, not {freshness:g}.")
        self.bounds = bounds or Bounds()
        self.freshness = freshness
        self._forecaster = forecaster
        self.dtype = columns({"levels": (np.float32, (forecaster.width,)), "seen_at": np.float64})

    def start(self, n: int, now: float = 0.0) -> State:
        """n pages that have just been copied for the first time."""
        state = np.zeros(n, dtype=self.dtype)
        state["levels"] = self._forecaster.start(n)
        state["seen_at"] = now
        return state

    def learn(
        self, state: State, rows: Rows, elapsed_days: Days, changed: Flags, signals: PageSignals = NOTHING
    ) -> None:
        levels = state["levels"]
        levels[rows] = self._forecaster.seen(levels[rows], elapsed_days, changed, signals.quiet)
        state["seen_at"][rows] += elapsed_days

    def age(self, state: State, rows: Rows, now: float | Days) -> Days:
        """Days since the last visit; of each row at its own time, where there is one for each."""
        days: Days = np.maximum(now - state["seen_at"][rows], 0.0)
        return days

    def outlook(self, state: State, rows: Rows, now: float | Days) -> ForecastTable:
        """The forecast at the whole days that have passed; of each row at its own time, as in `age`."""
        return self.outlook_after(state, rows, self.age(state, rows, now))

    def outlook_after(self, state: State, rows: Rows, age_days: Days) -> ForecastTable:
        """The same for rows whose ages the caller knows."""
        whole = np.minimum(age_days, np.iinfo(np.int16).max).astype(np.int16)
        unchanged, coming, rate, fresh = self._forecaster.outlook(state["levels"], whole, rows)
        return ForecastTable(whole_days=whole, unchanged=unchanged, coming=coming, rate=rate, fresh_days=fresh)

    def value(self, state: State, rows: Rows, now: float, signals: PageSignals = NOTHING) -> Column:
        """What a visit now is worth, from 0 to 1 where captures count, in captures given up elsewhere."""
        return self.worth(self.outlook(state, rows, now), self.age(state, rows, now), signals)

    def unchanged(self, outlook: ForecastTable, age_days: Days) -> Column:
        """Probability that pages themselves gave no cause for a change since their last visit."""
        part: Column = age_days.astype(np.float32) - outlook.whole_days
        part *= -outlook.coming
        part += outlook.unchanged
        np.maximum(part, 0.0, out=part)
        return part

    def unchanged_after(self, state: State, rows: Rows, whole_days: NDArray[np.intp]) -> Column:
        """Probability that pages gave no cause for a change in so many days after their last visit."""
        return self._forecaster.outlook(state["levels"], whole_days, rows)[0]

    def worth(self, outlook: ForecastTable, age_days: Days, signals: PageSignals = NOTHING) -> Column:
        """The same as `value` from a forecast that has been made before."""
        own = self.unchanged(outlook, age_days)
        quiet = np.float32(1.0) if signals.quiet is None else signals.quiet
        ahead = np.float32(1.0) if signals.coming is None else signals.coming
        waiting: Column
        if signals.hints:
            changed = changed_given(own * quiet, signals.hints)
            hazard = outlook.coming / np.maximum(own, 1e-9)  # of a page that has not changed
            after = (outlook.rate - outlook.coming) / np.maximum(1.0 - own, 1e-9)  # of one that has
            waiting = (1.0 - changed) * (1.0 - (1.0 - hazard) * ahead)
            by_itself = changed * (1.0 - own) / np.maximum(1.0 - own * quiet, 1e-9)  # not by an event of the site
            own_rate = np.clip((1.0 - by_itself) * hazard + by_itself * after, 0.0, 1.0)
            worth = _price(waiting, 1.0 - (1.0 - own_rate) * ahead)
        else:
            same = own * quiet
            waiting = outlook.coming * quiet  # in place from here on
            np.subtract(same, waiting, out=waiting)
            waiting *= ahead
            np.subtract(same, waiting, out=waiting)
            rate = 1.0 - outlook.rate
            rate *= ahead
            worth = _price(waiting, np.subtract(1.0, rate, out=rate))
            changed = 1.0 - same if self.freshness else same
        if self.freshness:
            fresh = outlook.fresh_days * (1.0 + quiet) / 2 - age_days * (1.0 - changed)
            worth = (1.0 - self.freshness) * worth + self.freshness / _MONTH_DAYS * np.maximum(fresh, 0.0)
        return worth.astype(np.float32, copy=False)

    def explain(self, state: State, row: int, now: float = 0.0, signals: PageSignals = NOTHING) -> dict[str, object]:
        rows = np.array([row], dtype=np.intp)
        outlook, age = self.outlook(state, rows, now), self.age(state, rows, now)
        quiet = 1.0 if signals.quiet is None else float(signals.quiet[0])
        own = self.unchanged(outlook, age)
        return {
            "age_days": round(float(age[0]), 4),
            "rate_per_day": round(float(outlook.rate[0]), 6),
            "changed_probability": round(float(changed_given(own * quiet, signals.hints)[0]), 6),
            "site_event_probability": round(1.0 - quiet, 6),
            "hints": [
                {
                    "told": bool(hint.told[0]),
                    "covered_days": round(float(hint.covered_days[0]), 3),
                    "precision": round(float(hint.precision[0]), 4),
                    "recall": round(float(hint.recall[0]), 4),
                }
                for hint in signals.hints
            ],
            "value": round(float(self.worth(outlook, age, signals)[0]), 6),
            "rule": "visited when its value passes the threshold that keeps all pages together within the budget",
        }


def _price(waiting: Column, rate: Column) -> Column:
    """The price at which a page with this rate, whose chance to have changed grows so much a day, is worth a visit."""
    x = np.divide(waiting, np.maximum(rate, 1e-7))
    np.clip(x, 1e-30, 1.0, out=x)
    price: Column = np.log(x)
    price -= 1.0
    price *= x
    price += 1.0
    return price
