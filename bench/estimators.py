"""Speed of the rate estimate: eq. 5 for all pages at once, compared with SciPy's `brentq` page by page.

Twenty visits per page at intervals of 1 to 60 days; rates from one change in 200 days to one a day. `brentq` is used in
two ways: in the simplest way (NumPy sums, a bracket for any rate), and with the rigorous bracket (plain sums, the
bracket m / (T + S / 2) to m / T). All times are CPU times of one core, measured in turns.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from bench.figures import Figure, cpu_seconds
from webstrata.predict.poisson import irregular_rate
from webstrata.predict.visit_history import VisitHistory, visit_history

Numbers = NDArray[np.float64]
_VISITS = 20


def run(quick: bool) -> list[Figure]:
    pages, sample, repeats = (20_000, 200, 2) if quick else (100_000, 1000, 5)
    history = _history(pages)
    ours, plain, tight = [], [], []
    rates = irregular_rate(history)
    for _ in range(repeats):
        ours.append(pages / cpu_seconds(lambda: irregular_rate(history)))
        plain.append(sample / cpu_seconds(lambda: _page_by_page(history, sample, _with_wide_bracket)))
        tight.append(sample / cpu_seconds(lambda: _page_by_page(history, sample, _with_rigorous_bracket)))
    expected = _page_by_page(history, sample, _with_rigorous_bracket)
    worst = float(np.max(np.abs(expected - rates[:sample]) / np.maximum(rates[:sample], 1e-12)))

    def ratios(others: list[float]) -> list[float]:
        return [own / other for own, other in zip(ours, others, strict=True)]

    return [
        Figure(bench="estimate", name="eq. 5 : brentq per page", values=ratios(plain), at_least=100),
        Figure(bench="estimate", name="eq. 5 : brentq on the rigorous bracket", values=ratios(tight), at_least=100),
        Figure(
            bench="estimate", name="eq. 5, thousand pages per second", values=[rate / 1000 for rate in ours], unit="k/s"
        ),
        Figure(bench="estimate", name="largest difference from brentq", values=[worst], unit="", at_most=1e-9),
    ]


def _history(pages: int) -> VisitHistory:
    random = np.random.default_rng(1)
    rate = np.exp(random.uniform(np.log(0.005), np.log(1.0), pages))
    lengths = random.choice([1, 2, 3.5, 7, 10.5, 14, 30, 60], size=(pages, _VISITS))
    flags = random.random((pages, _VISITS)) < -np.expm1(-rate[:, None] * lengths)
    return visit_history(np.arange(pages + 1) * _VISITS, lengths.ravel(), flags.ravel())


def _page_by_page(history: VisitHistory, pages: int, solve: Callable[[Numbers, float], float]) -> Numbers:
    rates = np.zeros(pages)
    for page in range(pages):
        part = slice(history.offsets[page], history.offsets[page + 1])
        lengths, flags = history.elapsed_days[part], history.changed[part]
        unchanged_days = float(lengths[~flags].sum())
        if not flags.any():
            continue
        count = len(flags)
        always_changed = math.log((count + 0.5) / 0.5) * count / float(lengths.sum())
        rates[page] = solve(lengths[flags], unchanged_days) if unchanged_days else always_changed
    return rates


def _with_wide_bracket(lengths: Numbers, unchanged_days: float) -> float:
    def difference(rate: float) -> float:
        return float(np.sum(lengths / np.expm1(np.minimum(rate * lengths, 700)))) - unchanged_days

    return float(brentq(difference, 1e-9, 1e3))


def _with_rigorous_bracket(lengths: Numbers, unchanged_days: float) -> float:
    intervals: list[float] = lengths.tolist()
    low, high = len(intervals) / (unchanged_days + sum(intervals) / 2), len(intervals) / unchanged_days

    def difference(rate: float) -> float:
        return sum(days / math.expm1(min(rate * days, 700.0)) for days in intervals) - unchanged_days

    return float(brentq(difference, low * (1 - 1e-9), high * (1 + 1e-9), xtol=1e-300, rtol=1e-12))
