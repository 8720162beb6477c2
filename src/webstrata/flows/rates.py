"""The textbook rate for budgeted baselines: eq. 5 on a page's own visits, kept up one visit at a time."""

from __future__ import annotations

import numpy as np

from webstrata.columns import Days, Flags, Rows, State
from webstrata.predict.running import RUNNING, after_visit, running_irregular_rate

_MONTH_DAYS = 30.0


class OwnRate:
    """`schedule.budgeted.RateEstimator` by `predict.running`. Rates are above 0: a page that never changed counts as
    half a change in all its time and a month."""

    dtype = RUNNING

    def start(self, n: int) -> State:
        return np.zeros(n, dtype=RUNNING)

    def learn(self, state: State, rows: Rows, elapsed_days: Days, changed: Flags) -> None:
        after_visit(state, rows, elapsed_days, changed)

    def rate_per_day(self, state: State, rows: Rows) -> Days:
        one = state[rows]
        never = 0.5 / (one["days"] + _MONTH_DAYS)
        rate = running_irregular_rate(one)
        return np.where(np.isfinite(rate) & (rate > 0), rate, never)
