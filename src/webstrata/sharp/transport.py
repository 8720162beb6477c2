"""Prices of slots for many pages of any weight: the dual of the assignment, smoothed, solved by damped Newton steps.

With temperature m every page spreads over the knots by exp(gain / m); prices are moved until every knot is wanted by
as many pages as it has slots. The temperature falls from the worth of the greatest page to a small part of the mean.
Whatever the prices are in the end, they bound every plan: best gain of every page, plus all prices.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from webstrata.sharp.curves import Curves
from webstrata.sharp.knots import Knots
from webstrata.sharp.rates import Numbers, Places

_SAMPLE = 3000
"""Pages that find the prices while it is hot; all pages take the last steps."""
_CHUNK = 8192
_COOLING = 5.0
_COLDEST = 3e-4
"""Last temperature, as a part of the mean worth."""
_STEPS = 25
_FULL_STEPS = 6
_FARTHEST = 6.0
"""No price moves by more temperatures than this in one step."""


@dataclass(frozen=True)
class _Spread:
    """Where pages go at some prices: the smoothed dual, its slope and its bend."""

    worth: float
    wanted: Numbers
    together: NDArray[np.float64]


def knot_prices(curves: Curves, places: Knots) -> Numbers:
    """A price for every knot under which each is wanted by about as many pages as it has slots."""
    pages = sample(curves, _SAMPLE)
    first = curves.after(np.arange(curves.count), curves.times[:1])
    scale, hottest = float(first.mean()), float(first.max())
    prices = np.zeros(places.slots.size)
    if scale <= 0.0:
        return prices
    coldest = _COLDEST * scale
    levels = max(2, int(np.ceil(np.log(max(hottest / 8, scale / 2) / coldest) / np.log(_COOLING))) + 1)
    for temperature in coldest * _COOLING ** np.arange(levels - 1, -1, -1.0):
        exactness = 1e-3 if temperature == coldest else 2e-2
        prices = _settled(curves, places, pages, prices, float(temperature), exactness, _STEPS)
    if pages.size < curves.count:
        everyone = np.arange(curves.count)
        prices = _settled(curves, places, everyone, prices, coldest, 1e-3, _FULL_STEPS)
    return prices


def knot_bound(curves: Curves, places: Knots, prices: Numbers) -> float:
    """No plan is worth more than this."""
    gains = 0.0
    for start in range(0, curves.count, _CHUNK):
        pages = np.arange(start, min(start + _CHUNK, curves.count))
        gains += float((curves.after(pages[:, None], places.times[None, :]) - prices).max(axis=1).sum())
    return gains + float(places.capacity @ prices)


def sample(curves: Curves, most: int) -> Places:
    """Pages spread evenly over rates, and over weights among pages of like rate."""
    if curves.count <= most:
        return np.arange(curves.count)
    hot = np.argsort(curves.survival.hotness(), kind="stable")
    strips = np.empty(curves.count, dtype=np.intp)
    strips[hot] = np.arange(curves.count) * 64 // curves.count
    order = np.lexsort((curves.after(np.arange(curves.count), curves.times[:1]), strips))
    return order[(np.arange(most) * curves.count + curves.count // 2) // most]


def _settled(
    curves: Curves, places: Knots, pages: Places, prices: Numbers, temperature: float, exactness: float, steps: int
) -> Numbers:
    """Prices moved until demand meets capacity, or the steps are used up."""
    damping = 1e-2
    capacity = places.capacity
    spread = _spread(curves, places, pages, prices, temperature)
    for _ in range(steps):
        lack = capacity - spread.wanted
        if np.abs(lack).sum() < exactness * capacity.sum():
            break
        bend = -spread.together
        bend[np.diag_indices(prices.size)] += spread.wanted + damping * capacity
        move = np.linalg.solve(bend, -lack)
        move -= move.mean()
        farthest = np.abs(move).max()
        if farthest > _FARTHEST:
            move *= _FARTHEST / farthest
        tried = prices + temperature * move
        found = _spread(curves, places, pages, tried, temperature)
        if found.worth < spread.worth:
            prices, spread, damping = tried, found, max(damping / 5, 1e-8)
        else:
            damping *= 10
    return prices


def _spread(curves: Curves, places: Knots, pages: Places, prices: Numbers, temperature: float) -> _Spread:
    each = curves.count / pages.size
    worth = float(places.capacity @ prices)
    wanted = np.zeros(prices.size)
    together = np.zeros((prices.size, prices.size))
    for start in range(0, pages.size, _CHUNK):
        rows = pages[start : start + _CHUNK]
        gain = curves.after(rows[:, None], places.times[None, :])
        gain -= prices
        gain /= temperature
        best = gain.max(axis=1, keepdims=True)
        gain -= best
        np.maximum(gain, -60.0, out=gain)
        np.exp(gain, out=gain)
        total = gain.sum(axis=1, keepdims=True)
        gain /= total
        worth += each * temperature * float((best + np.log(total)).sum())
        wanted += each * gain.sum(axis=0)
        together += each * (gain.T @ gain)
    return _Spread(worth, wanted, together)
