"""HACS as a timer: visit when the probability that the page has changed since its last update reaches a threshold.

An update is assumed half-way between the visit that saw it and the previous one. The rate λ has the maximum likelihood
over the intervals between the visits of a window (eq. 5; eq. 4 where all saw an update). With τ the last update, the
page is due at the first time t with 1 - exp(-λ (t - τ)) >= θ, but not before the evaluation interval e has passed.
A page without an update in the window has λ = 0 and waits for the longest interval.

The paper selects pages at given dates from archived captures; here the same decision is made at each visit. The state
holds the last 48 visits; a window with more visits is cut.
"""

from __future__ import annotations

import numpy as np

from webstrata.columns import Days, Flags, Rows, State, columns
from webstrata.errors import BadSettings
from webstrata.predict.poisson import irregular_rate
from webstrata.predict.update_chance import days_to_chance
from webstrata.predict.visit_history import visit_history
from webstrata.schedule.policy import Bounds
from webstrata.schedule.textbook.adaptive import TimerBase

_KEPT = 48
_AT_LEAST = 2
"""Intervals that count even if they are longer than the window, for pages that are rarely visited."""

_BITS = np.arange(_KEPT, dtype=np.uint64)


class Threshold(TimerBase):
    """`theta` and the window of days as in the paper; `evaluation_days` is its e."""

    name = "threshold"
    dtype = columns({"gaps": (np.float32, (_KEPT,)), "flags": np.uint64, "count": np.uint8})
    # gaps: days between visits, newest first; flags: bit 0 is the last visit

    def __init__(
        self,
        bounds: Bounds | None = None,
        *,
        theta: float = 0.7,
        window_days: float = 84.0,
        evaluation_days: float = 7.0,
    ) -> None:
        if not 0 <= theta <= 1 or not window_days > 0 or not evaluation_days >= 0:
            raise BadSettings(
                "theta is 0 to 1, the window a positive number of days, the evaluation interval not negative."
            )
        super().__init__(bounds)
        self.theta, self.window_days, self.evaluation_days = theta, window_days, evaluation_days

    def learn(self, state: State, rows: Rows, elapsed_days: Days, changed: Flags) -> None:
        seen = state[rows]
        seen["gaps"][:, 1:] = seen["gaps"][:, :-1].copy()
        seen["gaps"][:, 0] = elapsed_days
        seen["flags"] = (seen["flags"] << np.uint64(1)) | changed.astype(np.uint64)
        seen["count"] = np.minimum(seen["count"] + 1, _KEPT)
        state[rows] = seen

    def interval(self, state: State, rows: Rows) -> Days:
        seen = state[rows]
        rate, since = self._fitted(seen)
        wait = np.maximum(days_to_chance(self.theta, rate) - since, min(self.evaluation_days, self.bounds.max_days))
        return self.bounds.clamp(np.where(seen["count"] > 0, wait, self.bounds.start_days))

    def explain(self, state: State, row: int) -> dict[str, object]:
        rate, since = self._fitted(state[row : row + 1])
        return {
            "interval_days": round(float(self.interval(state, np.array([row]))[0]), 6),
            "rate_per_day": round(float(rate[0]), 6),
            "days_from_last_update_to_last_visit": round(float(since[0]), 6),
            "rule": f"when a change since the last update has a probability of {self.theta:.0%}",
        }

    def _fitted(self, seen: State) -> tuple[Days, Days]:
        """The rate in the window, and the days from the last update (or the first visit) to the last visit."""
        gaps = seen["gaps"].astype(np.float64)
        ages = np.cumsum(gaps, axis=1)
        number = np.arange(_KEPT)
        inside = (number < seen["count"][:, None]) & ((ages <= self.window_days) | (number < _AT_LEAST))
        updated = (seen["flags"][:, None] >> _BITS & np.uint64(1)).astype(bool) & inside
        shift = np.where(updated, gaps / 2, 0.0)  # days from the update to the visit that saw it
        before = np.zeros_like(shift)
        before[:, :-1] = shift[:, 1:]
        lengths = np.where(inside, gaps - shift + before, 0.0)
        first = np.where(inside, ages, 0.0).max(axis=1, initial=0.0)
        newest = updated.argmax(axis=1)
        at = np.arange(len(seen))
        since = np.where(updated.any(axis=1), ages[at, newest] - gaps[at, newest] + shift[at, newest], first)
        return rates(lengths, updated, inside), since


def rates(lengths: Days, updated: Flags, counted: Flags) -> Days:
    """HACS's rate for each row of intervals (eq. 5; eq. 4 where all saw an update); 0 without an interval."""
    offsets = np.concatenate([[0], np.cumsum(counted.sum(axis=1))])
    return np.nan_to_num(irregular_rate(visit_history(offsets, lengths[counted], updated[counted])), nan=0.0)
