"""Speed of `select --by hacs`: windows, midpoints, eq. 5 and probabilities of all pages at once, compared with the same
forecast page by page with SciPy's `brentq`; and choosing the best thousand pages of all.

Twenty visits per page at intervals of 1 to 60 days. All times are CPU times of one core, measured in turns.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from bench.figures import Figure, cpu_seconds
from webstrata.predict.update_chance import update_forecast
from webstrata.predict.visit_history import VisitHistory, visit_history

_VISITS = 20
_NOW, _AHEAD, _WINDOW = 400.0, 7.0, 365.0
_LARGEST_EXPONENT = 300.0


def run(quick: bool) -> list[Figure]:
    pages, sample, repeats = (20_000, 200, 2) if quick else (100_000, 1000, 5)
    history = _history(pages)
    found = update_forecast(history, _NOW, _AHEAD, _WINDOW).chance
    ours, plain = [], []
    for _ in range(repeats):
        ours.append(pages / cpu_seconds(lambda: update_forecast(history, _NOW, _AHEAD, _WINDOW)))
        plain.append(sample / cpu_seconds(lambda: _page_by_page(history, sample)))
    worst = float(np.abs(_page_by_page(history, sample) - found[:sample]).max())
    ratios = [own / other for own, other in zip(ours, plain, strict=True)]
    speeds = [rate / 1000 for rate in ours]
    return [
        Figure(bench="selection", name="hacs forecast : page by page with brentq", values=ratios, at_least=20),
        Figure(bench="selection", name="hacs forecast, thousand pages per second", values=speeds, unit="k/s"),
        Figure(bench="selection", name="largest difference in probability", values=[worst], unit="", at_most=1e-9),
    ]


def _history(pages: int) -> VisitHistory:
    random = np.random.default_rng(1)
    rate = np.exp(random.uniform(np.log(0.005), np.log(1.0), pages))
    lengths = random.choice([1, 2, 3.5, 7, 10.5, 14, 30, 60], size=(pages, _VISITS))
    flags = random.random((pages, _VISITS)) < -np.expm1(-rate[:, None] * lengths)
    at = _NOW - 1 - lengths.sum(axis=1)[:, None] + np.cumsum(lengths, axis=1)
    return visit_history(np.arange(pages + 1) * _VISITS, lengths.ravel(), flags.ravel(), at.ravel())


def _page_by_page(history: VisitHistory, pages: int) -> NDArray[np.float64]:
    return np.array([_chance(history, page) for page in range(pages)])


def _chance(history: VisitHistory, page: int) -> float:
    """The same as in the paper, written for one page."""
    part = slice(int(history.offsets[page]), int(history.offsets[page + 1]))
    visits = list(zip(history.elapsed_days[part], history.changed[part], history.at_days[part], strict=True))
    since = None
    updated: list[float] = []
    still: list[float] = []
    previous = 0.0
    for length, changed, at in visits:
        if at - length < _NOW - _WINDOW:
            continue
        since = at - length if since is None else since
        back = length / 2 if changed else 0.0
        (updated if changed else still).append(length - back + previous)
        previous = back
        if changed:
            since = at - back
    if not updated or since is None:
        return 0.0
    return 1 - math.exp(-_rate(np.array(updated), sum(still)) * (_NOW + _AHEAD - since))


def _rate(updated: NDArray[np.float64], still: float) -> float:
    if not still:
        return math.log((len(updated) + 0.5) / 0.5) * len(updated) / float(updated.sum())
    low, high = len(updated) / (still + updated.sum() / 2), len(updated) / still

    def left(x: float) -> float:
        return float((updated / np.expm1(np.minimum(x * updated, _LARGEST_EXPONENT))).sum()) - still

    rate: float = brentq(left, low * 0.999, high * 1.001)
    return rate
