"""Near-optimal plans for many weighted pages: prices of slots (the dual of the assignment), then rounding to a plan.

Prices are piecewise linear between knots, so n slots need some hundred prices. Worth is convex in time, so the gain of
a page above the price is convex between two knots and has its maximum at a knot. A bound from the prices of the knots
is therefore valid for all slots.

The dual is smoothed and solved by damped Newton steps. At temperature m every page is spread over the knots in
proportion to exp(gain / m); prices move until the demand for every knot equals its number of slots. The temperature
falls from the worth of the greatest page to a small fraction of the mean. Any prices bound every plan: the best gain of
every page plus all prices.
"""

from __future__ import annotations

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
_COOLING = 7.0
_LAST_TEMPERATURE = 3e-5
"""As a fraction of the mean worth."""
_COARSE_LAST_TEMPERATURE = 1e-4
"""For small sites, whose plan is refined afterwards."""
_NEWTON_STEPS = 25
_MAX_MOVE = 6.0
"""A price moves by at most this many temperatures in one step."""
_SWEEPS = 12


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


def knot_prices(curves: WorthCurves, knots: PriceKnots) -> Numbers:
    """A price for every knot at which the demand for it is about its capacity."""
    pages, multiplicity = sample(curves, _SAMPLE)
    first = curves.after(np.arange(curves.count), curves.times[:1])
    scale, greatest = float(first.mean()), float(first.max())
    prices = np.zeros(knots.slots.size)
    if scale <= 0.0:
        return prices
    last = scale * (_COARSE_LAST_TEMPERATURE if curves.count <= _COARSE_UP_TO else _LAST_TEMPERATURE)
    table = _WorthTable(curves.after(pages[:, None], knots.times[None, :]), multiplicity, knots.capacity)
    levels = max(2, int(np.ceil(np.log(max(greatest / 8, scale / 2) / last) / np.log(_COOLING))) + 1)
    for temperature in last * _COOLING ** np.arange(levels - 1, -1, -1.0):
        tolerance = 2e-3 if temperature == last else 5e-2
        prices = _equilibrium(table, prices, float(temperature), tolerance)
    return prices


def knot_bound(curves: WorthCurves, knots: PriceKnots, prices: Numbers) -> float:
    """An upper bound of the worth of every plan."""
    gains = 0.0
    for start in range(0, curves.count, _CHUNK):
        pages = np.arange(start, min(start + _CHUNK, curves.count))
        gains += float(_gains(curves, knots, prices, pages).max(axis=1).sum())
    return gains + float(knots.capacity @ prices)


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


def _equilibrium(table: _WorthTable, prices: Numbers, temperature: float, tolerance: float) -> Numbers:
    """Prices moved until demand equals capacity within the tolerance, or until the last step."""
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
    return prices


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


def plan_from_prices(curves: WorthCurves, knots: PriceKnots, prices: Numbers) -> Indices:
    """Pages by slot: every page in the block of slots where it gains most, then reordered within blocks."""
    edges = knots.edges
    order = _sorted_in_windows(curves, np.argsort(_best_blocks(curves, knots, prices), kind="stable"), edges)
    shifted = np.unique(np.concatenate([[0], (edges[1:] + edges[:-1]) // 2, edges[-1:]]))
    for _ in range(_SWEEPS):
        order = _improved_in_windows(curves, order, shifted)
        order = _improved_in_windows(curves, order, edges)
    return order


def _best_blocks(curves: WorthCurves, knots: PriceKnots, prices: Numbers) -> Indices:
    """The block where each page gains most.

    If a block has more pages than slots, the pages overflow into the next blocks. The exchanges of pages that follow
    find better slots for them faster than a balanced distribution would.
    """
    block = np.empty(curves.count, dtype=np.intp)
    for start in range(0, curves.count, _CHUNK):
        pages = np.arange(start, min(start + _CHUNK, curves.count))
        block[pages] = _gains(curves, knots, prices, pages).argmax(axis=1)
    return block


def _gains(curves: WorthCurves, knots: PriceKnots, prices: Numbers, pages: Indices) -> NDArray[np.float64]:
    return curves.after(pages[:, None], knots.times[None, :]) - prices


def _sorted_in_windows(curves: WorthCurves, order: Indices, edges: Indices) -> Indices:
    """Within each window, the pages that lose most from its inner to its outer end come first."""
    window = np.repeat(np.arange(edges.size - 1), np.diff(edges))
    loss = curves.at(order, edges[:-1][window]) - curves.at(order, edges[1:][window] - 1)
    return order[np.lexsort((-loss, window))]


def _improved_in_windows(curves: WorthCurves, order: Indices, edges: Indices) -> Indices:
    """The order sorted within every window where that increases the worth."""
    slots = np.arange(order.size)
    other = _sorted_in_windows(curves, order, edges)
    gain = np.add.reduceat(curves.at(other, slots) - curves.at(order, slots), edges[:-1])
    return np.where(np.repeat(gain > 0, np.diff(edges)), other, order)
