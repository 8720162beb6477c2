"""The textbook rate for budgeted baselines: eq. 5 on a page's own visits, kept up one visit at a time.

Budgeted baselines: known allocations as an index, each with the textbook rate (eq. 5 on a page's own visits).

With λ the rate, τ the days since the last visit, x = λτ; the pages with the largest index are visited:

    uniform             τ                            every page as often as any other
    proportional        x                            as often as it changes
    optimal-freshness   (1 - (1 + x) e^-x) / λ       most copies up to date (Cho and Garcia-Molina; Azar et al.)
    optimal-capture     1 - (1 + x) e^-x             most changes captured; for steady rates the order of `proportional`
    lambdacrawl         λ τ² / (1 + x)               least harmonic penalty for missed changes (Kolobov et al.)

The last one: the penalty ln((ρ + λ) / ρ) of crawling a page at rate ρ falls by λ / (ρ (ρ + λ)) for a little more of ρ;
with ρ = 1/τ that is the index, and pages are visited where it passes one common number, the Lagrange multiplier.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Protocol

import numpy as np

from webstrata.columns import Column, Days, Flags, Rows, State, columns
from webstrata.predict.running import RUNNING, after_visit, running_irregular_rate
from webstrata.schedule.policy import Bounds
from webstrata.schedule.signals import NOTHING, PageSignals

_MONTH_DAYS = 30.0


class OwnRate:
    """The `RateEstimator` that ships, by `predict.running`.

    Rates are above 0: a page that never changed counts as half a change in all its time and a month.
    """

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


class RateEstimator(Protocol):
    """What these policies ask of an estimator: `schedule.textbook.budgeted.OwnRate` keeps it."""

    dtype: np.dtype[np.void]

    def start(self, n: int) -> State: ...
    def learn(self, state: State, rows: Rows, elapsed_days: Days, changed: Flags) -> None: ...
    def rate_per_day(self, state: State, rows: Rows) -> Days: ...


class _Budgeted(ABC):
    """What the baselines share: all but the index."""

    name: str

    def __init__(self, estimator: RateEstimator, bounds: Bounds | None = None) -> None:
        self.bounds = bounds or Bounds()
        self._estimator = estimator
        self.dtype = columns({"seen_at": np.float64, "rate": np.float64, "visits": estimator.dtype})

    def start(self, n: int, now: float = 0.0) -> State:
        state = np.zeros(n, dtype=self.dtype)
        state["seen_at"] = now
        state["visits"] = self._estimator.start(n)
        state["rate"] = self._estimator.rate_per_day(state["visits"], np.arange(n, dtype=np.intp))
        return state

    def learn(
        self, state: State, rows: Rows, elapsed_days: Days, changed: Flags, signals: PageSignals = NOTHING
    ) -> None:
        """Hints are not for textbooks: only what the visits saw counts."""
        visits = state["visits"]
        self._estimator.learn(visits, rows, elapsed_days, changed)
        state["rate"][rows] = self._estimator.rate_per_day(visits, rows)
        state["seen_at"][rows] += elapsed_days

    def age(self, state: State, rows: Rows, now: float) -> Days:
        days: Days = np.maximum(now - state["seen_at"][rows], 0.0)
        return days

    def value(self, state: State, rows: Rows, now: float, signals: PageSignals = NOTHING) -> Column:
        return self._index(state["rate"][rows], self.age(state, rows, now)).astype(np.float32)

    def explain(self, state: State, row: int, now: float = 0.0, signals: PageSignals = NOTHING) -> dict[str, object]:
        rows = np.array([row], dtype=np.intp)
        return {
            "age_days": round(float(self.age(state, rows, now)[0]), 4),
            "rate_per_day": round(float(state["rate"][row]), 6),
            "value": round(float(self.value(state, rows, now)[0]), 6),
            "rule": "the pages with the largest value are visited, as many as the budget allows",
        }

    @abstractmethod
    def _index(self, rate: Days, age: Days) -> Days:
        """What a visit is worth."""


class Uniform(_Budgeted):
    """The page that was seen longest ago."""

    name = "uniform"

    def _index(self, rate: Days, age: Days) -> Days:
        return age


class Proportional(_Budgeted):
    """The page with the most changes to be expected."""

    name = "proportional"

    def _index(self, rate: Days, age: Days) -> Days:
        return rate * age


class OptimalFreshness(_Budgeted):
    """The page whose visit adds most time with a fresh copy."""

    name = "optimal-freshness"

    def _index(self, rate: Days, age: Days) -> Days:
        return _captured(rate * age) / rate


class OptimalCapture(_Budgeted):
    """The page whose visit adds most captured changes."""

    name = "optimal-capture"

    def _index(self, rate: Days, age: Days) -> Days:
        return _captured(rate * age)


class LambdaCrawl(_Budgeted):
    """The page whose visit takes most from the harmonic penalty."""

    name = "lambdacrawl"

    def _index(self, rate: Days, age: Days) -> Days:
        return rate * age**2 / (1.0 + rate * age)


BASELINES: tuple[type[_Budgeted], ...] = (Uniform, Proportional, OptimalFreshness, OptimalCapture, LambdaCrawl)


def _captured(x: Days) -> Days:
    return -np.expm1(-x) - x * np.exp(-x)
