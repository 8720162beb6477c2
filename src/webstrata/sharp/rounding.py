"""From prices to a plan: every page into the block of slots that it gains most by, then order within blocks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webstrata.sharp.rates import Numbers, Places
from webstrata.sharp.slot_prices import PriceKnots
from webstrata.sharp.survival import WorthCurves

_CHUNK = 8192
_SWEEPS = 12


def rounded(curves: WorthCurves, places: PriceKnots, prices: Numbers) -> Places:
    """Pages by slot: the plan that these prices suggest."""
    edges = places.edges
    order = _sorted_in(curves, np.argsort(_wanted(curves, places, prices), kind="stable"), edges)
    shifted = np.unique(np.concatenate([[0], (edges[1:] + edges[:-1]) // 2, edges[-1:]]))
    for _ in range(_SWEEPS):
        order = _improved_in(curves, order, shifted)
        order = _improved_in(curves, order, edges)
    return order


def swapped_neighbours(curves: WorthCurves, order: Places, passes: int) -> Places:
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


def swapped_afar(curves: WorthCurves, order: Places) -> Places:
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


def _wanted(curves: WorthCurves, places: PriceKnots, prices: Numbers) -> Places:
    """The block that every page gains most by. Where too many want one, those behind it take in the rest: pages that
    change places afterwards find better ones, and quicker, than a fair distribution would."""
    block = np.empty(curves.count, dtype=np.intp)
    for start in range(0, curves.count, _CHUNK):
        pages = np.arange(start, min(start + _CHUNK, curves.count))
        block[pages] = _gains(curves, places, prices, pages).argmax(axis=1)
    return block


def _gains(curves: WorthCurves, places: PriceKnots, prices: Numbers, pages: Places) -> NDArray[np.float64]:
    return curves.after(pages[:, None], places.times[None, :]) - prices


def _sorted_in(curves: WorthCurves, order: Places, edges: Places) -> Places:
    """Within each window those first that would lose most from its inner to its outer end."""
    window = np.repeat(np.arange(edges.size - 1), np.diff(edges))
    loss = curves.at(order, edges[:-1][window]) - curves.at(order, edges[1:][window] - 1)
    return order[np.lexsort((-loss, window))]


def _improved_in(curves: WorthCurves, order: Places, edges: Places) -> Places:
    """Sorted so in every window where that gains."""
    slots = np.arange(order.size)
    other = _sorted_in(curves, order, edges)
    gain = np.add.reduceat(curves.at(other, slots) - curves.at(order, slots), edges[:-1])
    return np.where(np.repeat(gain > 0, np.diff(edges)), other, order)
