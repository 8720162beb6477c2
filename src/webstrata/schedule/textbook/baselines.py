"""The baselines of HACS as timers: `last-obs` and `random` (`brute-force` is in `fixed.py`)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webstrata.columns import Days, Flags, Rows, State, columns
from webstrata.schedule.textbook.adaptive import TimerBase

_REST_DAYS = 28.0
_EVALUATION_DAYS = 7.0


class LastObs(TimerBase):
    """No visit for some days after an update, then one at each evaluation."""

    name = "last-obs"
    dtype = columns({"since_update": np.float64, "visits": np.uint32})

    def learn(self, state: State, rows: Rows, elapsed_days: Days, changed: Flags) -> None:
        since = state["since_update"][rows]
        state["since_update"][rows] = np.where(changed, elapsed_days / 2, since + elapsed_days)
        state["visits"][rows] += 1

    def interval(self, state: State, rows: Rows) -> Days:
        rest = np.maximum(_REST_DAYS - state["since_update"][rows], _EVALUATION_DAYS)
        return self.bounds.clamp(np.where(state["visits"][rows] > 0, rest, self.bounds.start_days))

    def explain(self, state: State, row: int) -> dict[str, object]:
        return {
            "interval_days": round(float(self.interval(state, np.array([row]))[0]), 6),
            "days_from_last_update_to_last_visit": round(float(state["since_update"][row]), 6),
            "rule": f"no visit for {_REST_DAYS:g} days after an update, then every {_EVALUATION_DAYS:g} days",
        }


class RandomTimes(TimerBase):
    """Visits at random times, on average at the first interval.

    The times depend only on the seed and the visits. Pages with the same visits would get the same times: `scatter`
    gives each page its own seed.
    """

    name = "random"
    dtype = columns({"seed": np.uint64})

    def scatter(self, state: State, seed: int) -> None:
        """Give each page its own seed."""
        state["seed"] = np.random.default_rng(seed).integers(2**63, size=len(state), dtype=np.uint64)

    def learn(self, state: State, rows: Rows, elapsed_days: Days, changed: Flags) -> None:
        elapsed = np.ascontiguousarray(elapsed_days, dtype=np.float64).view(np.uint64)
        state["seed"][rows] = _mixed(state["seed"][rows] ^ elapsed ^ changed.astype(np.uint64))

    def interval(self, state: State, rows: Rows) -> Days:
        share = ((_mixed(state["seed"][rows]) >> np.uint64(11)).astype(np.float64) + 0.5) / 2.0**53
        return self.bounds.clamp(-np.log(share) * self.bounds.start_days)

    def explain(self, state: State, row: int) -> dict[str, object]:
        days = float(self.interval(state, np.array([row]))[0])
        return {"interval_days": round(days, 6), "rule": f"at random, every {self.bounds.start_days:g} days on average"}


def _mixed(number: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """SplitMix64: every bit of the result depends on every bit of the input."""
    number = number + np.uint64(0x9E3779B97F4A7C15)
    number = (number ^ (number >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    number = (number ^ (number >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return number ^ (number >> np.uint64(31))
