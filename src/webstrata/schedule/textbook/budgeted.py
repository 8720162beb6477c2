"""Budgeted baselines: known allocations as an index, each with the textbook rate (eq. 5 on the page's own visits).

With λ the rate, τ the days since the last visit and x = λτ, the pages with the largest index are visited:

    uniform             τ                            all pages equally often
    proportional        x                            as often as the page changes
    optimal-freshness   (1 - (1 + x) e^-x) / λ       most copies up to date (Cho and Garcia-Molina; Azar et al.)
    optimal-capture     1 - (1 + x) e^-x             most changes captured; for steady rates the order of `proportional`
    lambdacrawl         λ τ² / (1 + x)               least harmonic penalty for missed changes (Kolobov et al.)

The index of `lambdacrawl`: the penalty ln((ρ + λ) / ρ) of crawling a page at rate ρ falls by λ / (ρ (ρ + λ)) per unit
of ρ; with ρ = 1/τ that is the index. Pages are visited when it passes a common number, the Lagrange multiplier.
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from webstrata.columns import Column, Days, Flags, Rows, State, columns
from webstrata.predict.running import RUNNING, after_visit, running_irregular_rate
from webstrata.schedule.forecast import NOTHING, PageSignals
from webstrata.schedule.policy import ValuePolicyBase

_MONTH_DAYS = 30.0


class _Budgeted(ValuePolicyBase):
    """All that the baselines share; they differ in the index."""

    dtype = columns({"seen_at": np.float64, "rate": np.float64, "visits": RUNNING})

    def start(self, n: int, now: float = 0.0) -> State:
        state = np.zeros(n, dtype=self.dtype)
        state["seen_at"] = now
        state["rate"] = _rate_per_day(state["visits"])
        return state

    def learn(
        self, state: State, rows: Rows, elapsed_days: Days, changed: Flags, signals: PageSignals = NOTHING
    ) -> None:
        """Only what the visits saw counts; signals are ignored."""
        visits = state["visits"]
        after_visit(visits, rows, elapsed_days, changed)
        state["rate"][rows] = _rate_per_day(visits[rows])
        state["seen_at"][rows] += elapsed_days

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


def _rate_per_day(visits: State) -> Days:
    """Rates above 0: a page that never changed counts as half a change in its observed time plus a month."""
    rate = running_irregular_rate(visits)
    return np.where(np.isfinite(rate) & (rate > 0), rate, 0.5 / (visits["days"] + _MONTH_DAYS))


class Uniform(_Budgeted):
    """Visits the page that was seen longest ago."""

    name = "uniform"

    def _index(self, rate: Days, age: Days) -> Days:
        return age


class Proportional(_Budgeted):
    """Visits the page with the largest number of expected changes."""

    name = "proportional"

    def _index(self, rate: Days, age: Days) -> Days:
        return rate * age


class OptimalFreshness(_Budgeted):
    """Visits the page whose visit adds most time with a fresh copy."""

    name = "optimal-freshness"

    def _index(self, rate: Days, age: Days) -> Days:
        return _captured(rate * age) / rate


class OptimalCapture(_Budgeted):
    """Visits the page whose visit adds most captured changes."""

    name = "optimal-capture"

    def _index(self, rate: Days, age: Days) -> Days:
        return _captured(rate * age)


class LambdaCrawl(_Budgeted):
    """Visits the page whose visit reduces the harmonic penalty most."""

    name = "lambdacrawl"

    def _index(self, rate: Days, age: Days) -> Days:
        return rate * age**2 / (1.0 + rate * age)


BASELINES: tuple[type[_Budgeted], ...] = (Uniform, Proportional, OptimalFreshness, OptimalCapture, LambdaCrawl)


def _captured(x: Days) -> Days:
    return -np.expm1(-x) - x * np.exp(-x)
