"""How fast pages' rates are estimated: eq. 5 for all pages at once, against SciPy's Brent page by page.

Twenty visits a page at intervals of 1 to 60 days, rates from one change in 200 days to one a day. Two ways to ask
Brent: as one would write it (NumPy's sums, a bracket that holds any rate), and with all that is known of the problem
(plain sums, the bracket m / (T + S / 2) to m / T). All in processor time of one core, in turns.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq

from bench.figures import Figure
from webstrata.predict.poisson import irregular_rate
from webstrata.predict.visit_history import VisitHistory, visit_history

_EACH = 20


def run(quick: bool) -> list[Figure]:
    pages, asked, repeats = (20_000, 200, 2) if quick else (100_000, 1000, 5)
    history = _history(pages)
    ours, plain, tight = [], [], []
    rates = irregular_rate(history)
    for _ in range(repeats):
        ours.append(pages / _seconds(lambda: irregular_rate(history)))
        plain.append(asked / _seconds(lambda: _each(history, asked, _as_written)))
        tight.append(asked / _seconds(lambda: _each(history, asked, _knowing_the_bracket)))
    found = _each(history, asked, _knowing_the_bracket)
    worst = float(np.max(np.abs(found - rates[:asked]) / np.maximum(rates[:asked], 1e-12)))
    return [
        Figure(
            bench="estimate",
            name="eq. 5, against brentq per page",
            values=[one / other for one, other in zip(ours, plain, strict=True)],
            at_least=100,
        ),
        Figure(
            bench="estimate",
            name="eq. 5, against brentq on the rigorous bracket",
            values=[one / other for one, other in zip(ours, tight, strict=True)],
            at_least=100,
        ),
        Figure(
            bench="estimate", name="eq. 5, thousand pages a second", values=[one / 1000 for one in ours], unit="k/s"
        ),
        Figure(bench="estimate", name="largest difference from Brent", values=[worst], unit="", at_most=1e-9),
    ]


def _history(pages: int) -> VisitHistory:
    random = np.random.default_rng(1)
    rate = np.exp(random.uniform(np.log(0.005), np.log(1.0), pages))
    lengths = random.choice([1, 2, 3.5, 7, 10.5, 14, 30, 60], size=(pages, _EACH))
    flags = random.random((pages, _EACH)) < -np.expm1(-rate[:, None] * lengths)
    return visit_history(np.arange(pages + 1) * _EACH, lengths.ravel(), flags.ravel())


def _each(history: VisitHistory, pages: int, solve: Callable[[np.ndarray, float], float]) -> np.ndarray:
    found = np.zeros(pages)
    for page in range(pages):
        part = slice(history.offsets[page], history.offsets[page + 1])
        lengths, flags = history.elapsed_days[part], history.changed[part]
        still = float(lengths[~flags].sum())
        if not flags.any():
            continue
        number = len(flags)
        every = math.log((number + 0.5) / 0.5) * number / float(lengths.sum())
        found[page] = solve(lengths[flags], still) if still else every
    return found


def _as_written(lengths: np.ndarray, still: float) -> float:
    def difference(rate: float) -> float:
        return float(np.sum(lengths / np.expm1(np.minimum(rate * lengths, 700)))) - still

    return float(brentq(difference, 1e-9, 1e3))


def _knowing_the_bracket(lengths: np.ndarray, still: float) -> float:
    each = lengths.tolist()
    low, high = len(each) / (still + sum(each) / 2), len(each) / still

    def difference(rate: float) -> float:
        return sum(t / math.expm1(min(rate * t, 700.0)) for t in each) - still

    return float(brentq(difference, low * (1 - 1e-9), high * (1 + 1e-9), xtol=1e-300, rtol=1e-12))


def _seconds(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun
