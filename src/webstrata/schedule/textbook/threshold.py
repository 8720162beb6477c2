"""HACS as a timer: visit when the chance that the page has changed since its last update reaches a threshold.

Updates are put half-way between the visit that saw them and the one before; the rate λ is the maximum of likelihood
over the intervals between the visits of a window (eq. 5; eq. 4 where all saw an update). With τ the last update, the
page is due at the first time t with 1 - exp(-λ (t - τ)) >= θ, but not before the evaluation interval e has passed.
A page that showed no update in the window has λ = 0 and waits for the longest interval.

The paper selects pages at given dates from archived captures; the same decision at each visit makes a timer. The row
holds the last 48 visits: a window with more of them is cut.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webstrata.columns import Days, Flags, Rows, State, columns
from webstrata.errors import BadSettings
from webstrata.schedule.policy import Bounds

_KEPT = 48
_AT_LEAST = 2
"""Intervals that count even if they reach out of the window: without, a rarely visited page would learn nothing."""
_ROUNDS = 60
_EXACT = 1e-10

_BITS = np.arange(_KEPT, dtype=np.uint64)


class Threshold:
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
        self.bounds = bounds or Bounds()
        self.theta, self.window_days, self.evaluation_days = theta, window_days, evaluation_days

    def start(self, n: int) -> State:
        return np.zeros(n, dtype=self.dtype)

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
        needed = np.full(len(seen), np.inf)
        if self.theta < 1:
            np.divide(-np.log1p(-self.theta), rate, out=needed, where=rate > 0)
        wait = np.maximum(needed - since, min(self.evaluation_days, self.bounds.max_days))
        return self.bounds.clamp(np.where(seen["count"] > 0, wait, self.bounds.start_days))

    def explain(self, state: State, row: int) -> dict[str, object]:
        rate, since = self._fitted(state[row : row + 1])
        return {
            "interval_days": round(float(self.interval(state, np.array([row]))[0]), 6),
            "rate_per_day": round(float(rate[0]), 6),
            "days_from_last_update_to_last_visit": round(float(since[0]), 6),
            "rule": f"when a change since the last update has a chance of {self.theta:.0%}",
        }

    def _fitted(self, seen: State) -> tuple[Days, Days]:
        """Rate by the window's intervals, and days from the last update (or the first visit) to the last visit."""
        gaps = seen["gaps"].astype(np.float64)
        ages = np.cumsum(gaps, axis=1)
        place = np.arange(_KEPT)
        inside = (place < seen["count"][:, None]) & ((ages <= self.window_days) | (place < _AT_LEAST))
        updated = (seen["flags"][:, None] >> _BITS & np.uint64(1)).astype(bool) & inside
        shift = np.where(updated, gaps / 2, 0.0)  # how far the visit's update lies before it
        before = np.zeros_like(shift)
        before[:, :-1] = shift[:, 1:]
        lengths = np.where(inside, gaps - shift + before, 0.0)
        first = np.where(inside, ages, 0.0).max(axis=1, initial=0.0)
        newest = updated.argmax(axis=1)
        at = np.arange(len(seen))
        since = np.where(updated.any(axis=1), ages[at, newest] - gaps[at, newest] + shift[at, newest], first)
        return likeliest_rate(lengths, updated, inside), since


def likeliest_rate(lengths: Days, updated: Flags, counted: Flags) -> Days:
    """HACS's rate for each row of intervals: eq. 5, by Newton's method from below; eq. 4 where all saw an update."""
    updated = updated & (lengths > 0)
    hits, total = updated.sum(axis=1), np.where(counted, lengths, 0.0).sum(axis=1)
    still = np.where(counted & ~updated, lengths, 0.0).sum(axis=1)
    rate = np.zeros(len(lengths))
    every = (hits > 0) & (still <= 0)
    number = (counted & (lengths > 0)).sum(axis=1)[every]
    rate[every] = np.log((number + 0.5) / 0.5) * number / total[every]
    some = np.flatnonzero((hits > 0) & (still > 0))
    rate[some] = _newton(np.where(updated, lengths, 0.0)[some], hits[some], still[some])
    return rate


def _newton(lengths: Days, hits: NDArray[np.int64], still: Days) -> Days:
    """The left side of eq. 5 is convex and falls: from the lower end of its bracket every step stays below the root."""
    rate: Days = hits / (still + lengths.sum(axis=1) / 2)
    seen = lengths > 0
    near = np.zeros(len(rate), dtype=bool)
    for _ in range(_ROUNDS):
        odds = np.zeros_like(lengths)
        np.divide(1.0, np.expm1(np.minimum(rate[:, None] * lengths, 700.0)), out=odds, where=seen)
        left, slope = (lengths * odds).sum(axis=1), (lengths**2 * odds * (1 + odds)).sum(axis=1)
        moved = np.maximum(left * np.log(left / still) / slope, 0.0)
        rate = np.where(near, rate, rate + moved)  # a page that is there does not wait for others
        near |= moved <= _EXACT * rate
        if near.all():
            break
    return rate
