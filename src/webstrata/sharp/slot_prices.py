"""Few places that stand for many slots: prices are straight between knots, so n slots need some hundred prices.

Worth is convex in time and prices are straight between knots, so what a page gains above the price is convex there and
greatest on a knot. A bound from prices on knots holds for all slots.

Prices of slots for many pages of any weight: the dual of the assignment, smoothed, solved by damped Newton steps.

With temperature m every page spreads over the knots by exp(gain / m); prices are moved until every knot is wanted by
as many pages as it has slots. The temperature falls from the worth of the greatest page to a small part of the mean.
Whatever the prices are in the end, they bound every plan: best gain of every page, plus all prices.

From prices to a plan: every page into the block of slots that it gains most by, then order within blocks.
"""

from __future__ import annotations

from dataclasses import dataclass
import numpy as np
from numpy.typing import NDArray
from webstrata.sharp.rates import Numbers, Indices
from webstrata.sharp.survival import WorthCurves

_SINGLE = 16
"""Innermost slots that are knots themselves: prices bend most there."""
_GROWTH = 1 / 48
_FEW = 1500
"""So few slots need no more than coarse knots: prices for every single one follow."""
_COARSE = 1 / 24


@dataclass(frozen=True)
class PriceKnots:
    slots: Indices
    times: Numbers
    capacity: Numbers
    """How many slots each knot stands for; a slot between two knots is shared by its distances in time."""

    @property
    def edges(self) -> Indices:
        """Where the slots nearest to each knot begin, and where the last ones end."""
        between = (self.slots[1:] + self.slots[:-1] + 1) // 2
        return np.concatenate([[0], between, [self.slots[-1] + 1]])


def knots(times: Numbers) -> PriceKnots:
    """Knots for slots at these times, dense inside, sparse outside."""
    count = times.size
    growth = _COARSE if count <= _FEW else _GROWTH
    places = list(range(min(_SINGLE, count)))
    while places[-1] < count - 1:
        places.append(min(max(places[-1] + 1, round(places[-1] * (1 + growth))), count - 1))
    slots = np.array(places, dtype=np.intp)
    if count == 1:
        return PriceKnots(slots, times[slots], np.ones(1))
    left = np.clip(np.searchsorted(slots, np.arange(count), side="right") - 1, 0, slots.size - 2)
    step = times[slots[left + 1]] - times[slots[left]]
    share = np.divide(times - times[slots[left]], step, out=np.zeros(count), where=step > 0)
    capacity = np.bincount(left, 1 - share, slots.size) + np.bincount(left + 1, share, slots.size)
    return PriceKnots(slots, times[slots], capacity.astype(np.float64))


_SAMPLE = 10_000
"""Pages that find the prices for all. Prices that are a little off cost little: the bound is flat near its best."""
_CHUNK = 8192
_COOLING = 7.0
_COLDEST = 3e-5
"""Last temperature, as a part of the mean worth."""
_COOL = 1e-4
"""The same for few pages, whose plan is refined afterwards."""
_STEPS = 25
_FARTHEST = 6.0
"""No price moves by more temperatures than this in one step."""


@dataclass(frozen=True)
class _WorthTable:
    """Worths of some pages, which stand for all, on the knots."""

    worths: NDArray[np.float64]
    each: Numbers
    """How many pages every row stands for."""
    capacity: Numbers


@dataclass(frozen=True)
class _SmoothedDual:
    """Where pages go at some prices: the smoothed dual, its slope and its bend."""

    worth: float
    wanted: Numbers
    together: NDArray[np.float64]


def knot_prices(curves: WorthCurves, places: PriceKnots) -> Numbers:
    """A price for every knot under which each is wanted by about as many pages as it has slots."""
    pages, each = sample(curves, _SAMPLE)
    first = curves.after(np.arange(curves.count), curves.times[:1])
    scale, hottest = float(first.mean()), float(first.max())
    prices = np.zeros(places.slots.size)
    if scale <= 0.0:
        return prices
    coldest = scale * (_COOL if curves.count <= _FEW else _COLDEST)
    table = _WorthTable(curves.after(pages[:, None], places.times[None, :]), each, places.capacity)
    levels = max(2, int(np.ceil(np.log(max(hottest / 8, scale / 2) / coldest) / np.log(_COOLING))) + 1)
    for temperature in coldest * _COOLING ** np.arange(levels - 1, -1, -1.0):
        exactness = 2e-3 if temperature == coldest else 5e-2
        prices = _settled(table, prices, float(temperature), exactness, _STEPS)
    return prices


def knot_bound(curves: WorthCurves, places: PriceKnots, prices: Numbers) -> float:
    """No plan is worth more than this."""
    gains = 0.0
    for start in range(0, curves.count, _CHUNK):
        pages = np.arange(start, min(start + _CHUNK, curves.count))
        gains += float((curves.after(pages[:, None], places.times[None, :]) - prices).max(axis=1).sum())
    return gains + float(places.capacity @ prices)


def sample(curves: WorthCurves, most: int) -> tuple[Indices, Numbers]:
    """Pages that stand for all, and for how many each: those of greatest worth for themselves, the others spread evenly
    over rates, and over worths among pages of like rate."""
    count = curves.count
    if count <= most:
        return np.arange(count), np.ones(count)
    first = curves.after(np.arange(count), curves.times[:1])
    by_worth = np.argsort(-first, kind="stable")
    great, others = by_worth[: most // 3], by_worth[most // 3 :]
    hot = others[np.argsort(curves.survival.hotness()[others], kind="stable")]
    strips = np.arange(hot.size) * 64 // hot.size
    order = hot[np.lexsort((first[hot], strips))]
    few = most - great.size
    chosen = order[(np.arange(few) * order.size + order.size // 2) // few]
    return np.concatenate([great, chosen]), np.concatenate([np.ones(great.size), np.full(few, order.size / few)])


def _settled(table: _WorthTable, prices: Numbers, temperature: float, exactness: float, steps: int) -> Numbers:
    """Prices moved until demand meets capacity, or the steps are used up."""
    damping = 1e-2
    capacity = table.capacity
    spread = _spread(table, prices, temperature)
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
        found = _spread(table, tried, temperature)
        if found.worth < spread.worth:
            prices, spread, damping = tried, found, max(damping / 5, 1e-8)
        else:
            damping *= 10
    return prices


def _spread(table: _WorthTable, prices: Numbers, temperature: float) -> _SmoothedDual:
    gain = table.worths - prices
    gain /= temperature
    best = gain.max(axis=1)
    gain -= best[:, None]
    np.maximum(gain, -60.0, out=gain)
    np.exp(gain, out=gain)
    total = gain.sum(axis=1)
    gain /= total[:, None]
    worth = float(table.capacity @ prices) + temperature * float(table.each @ (best + np.log(total)))
    weighed = gain * table.each[:, None]
    # The bend only says where to look next: half the precision is half the time.
    together = (weighed.astype(np.float32).T @ gain.astype(np.float32)).astype(np.float64)
    return _SmoothedDual(worth, weighed.sum(axis=0), together)


_CHUNK = 8192
_SWEEPS = 12


def rounded(curves: WorthCurves, places: PriceKnots, prices: Numbers) -> Indices:
    """Pages by slot: the plan that these prices suggest."""
    edges = places.edges
    order = _sorted_in(curves, np.argsort(_wanted(curves, places, prices), kind="stable"), edges)
    shifted = np.unique(np.concatenate([[0], (edges[1:] + edges[:-1]) // 2, edges[-1:]]))
    for _ in range(_SWEEPS):
        order = _improved_in(curves, order, shifted)
        order = _improved_in(curves, order, edges)
    return order


def swapped_neighbours(curves: WorthCurves, order: Indices, passes: int) -> Indices:
    """Neighbours change places wherever both together gain, even and odd pairs in turn."""
    order = order.copy()
    idle = 0
    for turn in range(passes):
        inner = np.arange(turn % 2, order.size - 1, 2)
        near, far = order[inner], order[inner + 1]
        gain = curves.at(far, inner) + curves.at(near, inner + 1) - curves.at(near, inner) - curves.at(far, inner + 1)
        better = gain > 1e-15
        order[inner[better]], order[inner[better] + 1] = far[better], near[better]
        idle = 0 if better.any() else idle + 1
        if idle == 2:
            break
    return order


def swapped_afar(curves: WorthCurves, order: Indices) -> Indices:
    """Pages change places over great distances, then over smaller ones, wherever both together gain."""
    order = order.copy()
    slots = np.arange(order.size)
    reach = np.unique(np.round(2.0 ** np.arange(0.0, np.log2(max(2, order.size)), 0.5)).astype(np.intp))
    for distance in reach[::-1]:
        for half in (0, 1):
            inner = slots[: order.size - distance]
            inner = inner[inner // distance % 2 == half]
            outer = inner + distance
            near, far = order[inner], order[outer]
            gain = curves.at(far, inner) + curves.at(near, outer) - curves.at(near, inner) - curves.at(far, outer)
            better = gain > 1e-15
            order[inner[better]], order[outer[better]] = far[better], near[better]
    return order


def _wanted(curves: WorthCurves, places: PriceKnots, prices: Numbers) -> Indices:
    """The block that every page gains most by. Where too many want one, those behind it take in the rest: pages that
    change places afterwards find better ones, and quicker, than a fair distribution would."""
    block = np.empty(curves.count, dtype=np.intp)
    for start in range(0, curves.count, _CHUNK):
        pages = np.arange(start, min(start + _CHUNK, curves.count))
        block[pages] = _gains(curves, places, prices, pages).argmax(axis=1)
    return block


def _gains(curves: WorthCurves, places: PriceKnots, prices: Numbers, pages: Indices) -> NDArray[np.float64]:
    return curves.after(pages[:, None], places.times[None, :]) - prices


def _sorted_in(curves: WorthCurves, order: Indices, edges: Indices) -> Indices:
    """Within each window those first that would lose most from its inner to its outer end."""
    window = np.repeat(np.arange(edges.size - 1), np.diff(edges))
    loss = curves.at(order, edges[:-1][window]) - curves.at(order, edges[1:][window] - 1)
    return order[np.lexsort((-loss, window))]


def _improved_in(curves: WorthCurves, order: Indices, edges: Indices) -> Indices:
    """Sorted so in every window where that gains."""
    slots = np.arange(order.size)
    other = _sorted_in(curves, order, edges)
    gain = np.add.reduceat(curves.at(other, slots) - curves.at(order, slots), edges[:-1])
    return np.where(np.repeat(gain > 0, np.diff(edges)), other, order)
