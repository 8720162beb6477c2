"""The default policy `value`: what a visit now is worth, from the forecast of the page and all signals about it.

Let q be the probability that the page changed since its last visit, h its growth per day, and r the rate per day at
which changes come after a visit, all at this moment: they are functions of the age, from seconds to months. If a visit
costs c captures of other pages, waiting is right while h is above the yield of a day; for a page with a steady rate
that yield is r e^-y where c = 1 - e^-y (1 + y). Solved for c:

    worth = 1 - x (1 - ln x),  x = min(1, h / r)

the price at which a visit of this page just pays. No other page enters: a page is visited when its worth passes the
common threshold. The worth is linear in the belief about r, so uncertain pages are worth more, which explores them.

The changes of a page count fully up to one a day. Captures that come faster, n a day (q divided by the age), are worth
2 - 1 / n together, and the next one 1 / n²: otherwise a page that changes every minute would take the visits of all
others. Visits a day or more apart are not affected.

Where fresh copies count instead of captured changes, a visit after τ days is worth ∫ (q(τ) - q(s)) ds over those days:
the days with a fresh copy that it adds at the margin, in months. `freshness` mixes the two from 0 to 1.
"""

from __future__ import annotations

import numpy as np

from webstrata.columns import Column, Days, Flags, Rows, State, columns
from webstrata.errors import BadSettings
from webstrata.predict.activity import Activity, Belief, pooled_activity
from webstrata.predict.siblings import Siblings
from webstrata.schedule.forecast import NOTHING, ForecastTable, PageSignals, changed_given
from webstrata.schedule.policy import Bounds, ValuePolicyBase

_MONTH_DAYS = 30.0


class Value(ValuePolicyBase):
    """Values visits. The state is the belief after the last visit, and the day of that visit."""

    name = "value"
    has_forecast = True
    first_price = 0.05

    def __init__(
        self,
        activity: Activity | None = None,
        bounds: Bounds | None = None,
        freshness: float = 0.0,
        siblings: Siblings | None = None,
    ) -> None:
        if not 0.0 <= freshness <= 1.0:
            raise BadSettings(f"freshness is a share from 0 (capture) to 1, not {freshness:g}.")
        super().__init__(bounds)
        self.freshness = freshness
        self.siblings = siblings
        self._activity = activity or pooled_activity()
        self.dtype = columns({"levels": (np.float32, (self._activity.width,)), "seen_at": np.float64})

    def start(self, n: int, now: float = 0.0) -> State:
        state = np.zeros(n, dtype=self.dtype)
        state["levels"] = self._activity.start(n)
        state["seen_at"] = now
        return state

    def beliefs(self, state: State, rows: Rows) -> Belief:
        levels: Belief = state["levels"][rows]
        return levels

    def expect(self, state: State, rows: Rows, levels: Belief) -> None:
        state["levels"][rows] = levels

    def learn(
        self, state: State, rows: Rows, elapsed_days: Days, changed: Flags, signals: PageSignals = NOTHING
    ) -> None:
        levels = state["levels"]
        levels[rows] = self._activity.after_visit(levels[rows], elapsed_days, changed, signals.quiet)
        state["seen_at"][rows] += elapsed_days

    def forecast(self, state: State, rows: Rows, age_days: Days) -> ForecastTable:
        return ForecastTable(**self._activity.forecast(state["levels"], age_days, rows)._asdict())

    def worth(self, forecast: ForecastTable, age_days: Column, signals: PageSignals = NOTHING) -> Column:
        """From 0 to 1 where captures count, in captures of other pages."""
        own, growth, rate = forecast.changes_at(age_days)
        quiet = np.float32(1.0) if signals.quiet is None else signals.quiet
        events = np.float32(0.0) if signals.quiet_next_day is None else -np.log(signals.quiet_next_day)  # per day
        if signals.hints:
            changed = changed_given(own * quiet, signals.hints)
            hazard = growth / np.maximum(own, 1e-9)  # of a page that has not changed
            after = (rate - growth) / np.maximum(1.0 - own, 1e-9)  # of a page that has
            by_itself = changed * (1.0 - own) / np.maximum(1.0 - own * quiet, 1e-9)  # not by an event of the site
            rate = np.maximum((1.0 - by_itself) * hazard + by_itself * after, 0.0)
            growth = (1.0 - changed) * (hazard + events)
        else:
            growth += own * events  # in place from here on
            growth *= quiet
            changed = 1.0 - np.multiply(own, quiet, out=own)
        worth = _price(growth, np.add(rate, events, out=rate))
        young = np.flatnonzero(age_days < 1.0)
        if len(young):
            worth[young] *= np.minimum(age_days[young] / np.maximum(changed[young], 1e-9), 1.0) ** 2
        if self.freshness:
            fresh = forecast.fresh_days_at(age_days) * (1.0 + quiet) / 2 - age_days * (1.0 - changed)
            worth = (1.0 - self.freshness) * worth + self.freshness / _MONTH_DAYS * np.maximum(fresh, 0.0)
        return worth.astype(np.float32, copy=False)

    def explain(self, state: State, row: int, now: float = 0.0, signals: PageSignals = NOTHING) -> dict[str, object]:
        rows = np.array([row], dtype=np.intp)
        age = self.age(state, rows, now)
        forecast = self.forecast(state, rows, age)
        quiet = 1.0 if signals.quiet is None else float(signals.quiet[0])
        own = forecast.unchanged_at(age)
        return {
            "age_days": round(float(age[0]), 4),
            "rate_per_day": round(float(forecast.rate_at(age)[0]), 6),
            "changed_probability": round(float(changed_given(own * quiet, signals.hints)[0]), 6),
            "site_event_probability": round(1.0 - quiet, 6),
            "hints": [
                {
                    "told": bool(hint.announced[0]),
                    "covered_days": round(float(hint.covered_days[0]), 3),
                    "precision": round(float(hint.precision[0]), 4),
                    "recall": round(float(hint.recall[0]), 4),
                }
                for hint in signals.hints
            ],
            "value": round(float(self.worth(forecast, age, signals)[0]), 6),
            "rule": "visited when its value passes the threshold that keeps all pages together within the budget",
        }


def _price(growth: Column, rate: Column) -> Column:
    """The price at which a visit just pays; `growth` is that of the change probability per day."""
    x = np.divide(growth, np.maximum(rate, 1e-7))
    np.clip(x, 1e-30, 1.0, out=x)
    price: Column = np.log(x)
    price -= 1.0
    price *= x
    price += 1.0
    return price
