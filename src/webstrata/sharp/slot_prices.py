"""Prices of slots for many pages: the dual of the assignment. They bound every plan, and `rounding.py` makes a plan of
them.

Prices are piecewise linear between knots, so n slots need some hundred prices. Worth is convex in time, so the gain of
a page above the price is convex between two knots and has its maximum at a knot. A bound from the prices of the knots
is therefore valid for all slots.

The dual is smoothed and solved by damped Newton steps. At temperature m every page is spread over the knots in
proportion to exp(gain / m); prices move until the demand for every knot equals its number of slots. The temperature
falls from the worth of the greatest page to a small fraction of the mean worth of a page in the plan. (Not of its worth
in the innermost slot: where most pages are hopeless, that is a hundred times as much, and the bound would be too high
by the difference.) Any prices bound every plan: the best gain of every page plus all prices.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from webstrata.sharp.rates import Indices, Numbers
from webstrata.sharp.survival import WorthCurves

_SINGLE_SLOT_KNOTS = 16
"""The innermost slots are knots themselves: the prices are most curved there."""
_GROWTH = 1 / 48
_COARSE_GROWTH = 1 / 24
_COARSE_UP_TO = 1500
"""Up to this number of slots coarse knots are enough: prices for every single slot are computed afterwards."""
_SAMPLE = 10_000
"""Prices are computed from this number of pages. Small errors of the prices cost little: the bound is flat near its
minimum."""
_CHUNK = 8192
_COOLING = 3.0
"""Faster cooling leaves the prices out of equilibrium at the last temperature on some sites."""
_LAST_TEMPERATURE = 3e-5
"""As a fraction of the mean worth of a page in the plan."""
_COARSE_LAST_TEMPERATURE = 1e-4
"""For small sites, whose plan is refined afterwards."""
_NEWTON_STEPS = 25
_MAX_MOVE = 6.0
"""A price moves by at most this many temperatures in one step."""


@dataclass(frozen=True)
class PriceKnots:
    """The slots that have a price of their own."""

    slots: Indices
    times: Numbers
    capacity: Numbers
    """How many slots each knot stands for; a slot between two knots is divided by its distances in time."""

    @property
    def edges(self) -> Indices:
        """The first slot of each knot's block of nearest slots, and the end of the last block."""
        between = (self.slots[1:] + self.slots[:-1] + 1) // 2
        return np.concatenate([[0], between, [self.slots[-1] + 1]])


def price_knots(times: Numbers) -> PriceKnots:
    """Knots for slots at these times: dense inside, sparse outside."""
    count = times.size
    growth = _COARSE_GROWTH if count <= _COARSE_UP_TO else _GROWTH
    chosen = list(range(min(_SINGLE_SLOT_KNOTS, count)))
    while chosen[-1] < count - 1:
        chosen.append(min(max(chosen[-1] + 1, round(chosen[-1] * (1 + growth))), count - 1))
    slots = np.array(chosen, dtype=np.intp)
    if count == 1:
        return PriceKnots(slots, times[slots], np.ones(1))
    left = np.clip(np.searchsorted(slots, np.arange(count), side="right") - 1, 0, slots.size - 2)
    step = times[slots[left + 1]] - times[slots[left]]
    share = np.divide(times - times[slots[left]], step, out=np.zeros(count), where=step > 0)
    capacity = np.bincount(left, 1 - share, slots.size) + np.bincount(left + 1, share, slots.size)
    return PriceKnots(slots, times[slots], capacity.astype(np.float64))


@dataclass(frozen=True)
class KnotPrices:
    """A price for every knot at which the demand for it is about its capacity."""

    knots: PriceKnots
    prices: Numbers
    temperature: float
    """At which they were computed; 0 if no page is worth anything."""

    def gains(self, curves: WorthCurves, pages: Indices) -> NDArray[np.float64]:
        """The worths of these pages (rows) on the knots (columns), above the prices."""
        return curves.after(pages[:, None], self.knots.times[None, :]) - self.prices

    def bound(self, curves: WorthCurves) -> float:
        """An upper bound of the worth of every plan."""
        gains = sum(float(self.gains(curves, pages).max(axis=1).sum()) for pages in chunks(np.arange(curves.count)))
        return gains + float(self.knots.capacity @ self.prices)


def chunks(pages: Indices) -> Iterator[Indices]:
    """The pages in parts whose gains on all knots fit into memory."""
    for start in range(0, pages.size, _CHUNK):
        yield pages[start : start + _CHUNK]


@dataclass(frozen=True)
class _WorthTable:
    """Worths of a sample of pages on the knots."""

    worths: NDArray[np.float64]
    multiplicity: Numbers
    """The number of pages that each row represents."""
    capacity: Numbers


@dataclass(frozen=True)
class _SmoothedDual:
    """The smoothed dual at some prices: its value, and the parts of its gradient and Hessian."""

    value: float
    demand: Numbers
    joint_demand: NDArray[np.float64]


def knot_prices(curves: WorthCurves) -> KnotPrices:
    """Prices of the slots of these curves."""
    knots = price_knots(curves.times)
    pages, multiplicity = sample(curves, _SAMPLE)
    first = curves.after(np.arange(curves.count), curves.times[:1])
    prices = np.zeros(knots.slots.size)
    temperature = max(float(first.max()) / 8, float(first.mean()) / 2)
    if temperature <= 0.0:
        return KnotPrices(knots, prices, 0.0)
    share = _COARSE_LAST_TEMPERATURE if curves.count <= _COARSE_UP_TO else _LAST_TEMPERATURE
    table = _WorthTable(curves.after(pages[:, None], knots.times[None, :]), multiplicity, knots.capacity)
    while True:
        prices, value = _equilibrium(table, prices, temperature, 1e-2)
        last = share * value / curves.count
        if temperature <= last * _COOLING:
            break
        temperature /= _COOLING
    return KnotPrices(knots, _equilibrium(table, prices, last, 2e-3)[0], last)


def sample(curves: WorthCurves, max_pages: int) -> tuple[Indices, Numbers]:
    """Pages that represent all pages, and how many pages each represents.

    The pages of greatest worth represent themselves. The others are spread evenly over the rates, and over the worths
    among pages of similar rates.
    """
    count = curves.count
    if count <= max_pages:
        return np.arange(count), np.ones(count)
    first = curves.after(np.arange(count), curves.times[:1])
    by_worth = np.argsort(-first, kind="stable")
    greatest, others = by_worth[: max_pages // 3], by_worth[max_pages // 3 :]
    by_rate = others[np.argsort(curves.survival.mean_rates()[others], kind="stable")]
    strips = np.arange(by_rate.size) * 64 // by_rate.size
    order = by_rate[np.lexsort((first[by_rate], strips))]
    rest = max_pages - greatest.size
    chosen = order[(np.arange(rest) * order.size + order.size // 2) // rest]
    multiplicity = np.concatenate([np.ones(greatest.size), np.full(rest, order.size / rest)])
    return np.concatenate([greatest, chosen]), multiplicity


def _equilibrium(table: _WorthTable, prices: Numbers, temperature: float, tolerance: float) -> tuple[Numbers, float]:
    """Prices moved until demand equals capacity within the tolerance, or until the last step; the dual's value."""
    damping = 1e-2
    capacity = table.capacity
    dual = _smoothed_dual(table, prices, temperature)
    for _ in range(_NEWTON_STEPS):
        gradient = capacity - dual.demand
        if np.abs(gradient).sum() < tolerance * capacity.sum():
            break
        hessian = -dual.joint_demand
        hessian[np.diag_indices(prices.size)] += dual.demand + damping * capacity
        move = np.linalg.solve(hessian, -gradient)
        move -= move.mean()
        largest = np.abs(move).max()
        if largest > _MAX_MOVE:
            move *= _MAX_MOVE / largest
        next_prices = prices + temperature * move
        next_dual = _smoothed_dual(table, next_prices, temperature)
        if next_dual.value < dual.value:
            prices, dual, damping = next_prices, next_dual, max(damping / 5, 1e-8)
        else:
            damping *= 10
    return prices, dual.value


def _smoothed_dual(table: _WorthTable, prices: Numbers, temperature: float) -> _SmoothedDual:
    gain = table.worths - prices
    gain /= temperature
    best = gain.max(axis=1)
    gain -= best[:, None]
    np.maximum(gain, -60.0, out=gain)
    np.exp(gain, out=gain)
    total = gain.sum(axis=1)
    gain /= total[:, None]
    value = float(table.capacity @ prices) + temperature * float(table.multiplicity @ (best + np.log(total)))
    shares = gain * table.multiplicity[:, None]
    # The Hessian only sets the direction of the next step: single precision is enough and takes half the time.
    joint_demand = (shares.astype(np.float32).T @ gain.astype(np.float32)).astype(np.float64)
    return _SmoothedDual(value, shares.sum(axis=0), joint_demand)
