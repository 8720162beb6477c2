"""From prices of slots to a plan of many pages.

Pages of similar rates often gain equally much in two places, near the instant and far outside, and the optimal plan
sends a share of them to each. Were every page sent to its best block, all pages of a rate would go to the same one, so
the blocks would overflow. Instead each page is spread over the blocks as in the smoothed dual (`slot_prices.py`), and
the shares are rounded by rate: a page goes to the block that is furthest behind the sum of its shares so far. Then
pages are reordered within windows of slots.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webstrata.sharp.rates import Indices
from webstrata.sharp.slot_prices import KnotPrices, chunks
from webstrata.sharp.survival import WorthCurves

_SWEEPS = 12
_DECIDED = 0.999
"""A page with at least this share of one block goes there."""
_MIN_SHARE = 1e-3
"""A page goes to no block with a smaller share."""


def plan_from_prices(curves: WorthCurves, prices: KnotPrices) -> Indices:
    """Pages by slot: every page in one of the blocks where it gains most, then reordered within blocks."""
    edges = prices.knots.edges
    order = _sorted_in_windows(curves, np.argsort(_blocks(curves, prices), kind="stable"), edges)
    shifted = np.unique(np.concatenate([[0], (edges[1:] + edges[:-1]) // 2, edges[-1:]]))
    for _ in range(_SWEEPS):
        order = _improved_in_windows(curves, order, shifted)
        order = _improved_in_windows(curves, order, edges)
    return order


def _blocks(curves: WorthCurves, prices: KnotPrices) -> Indices:
    """The block of each page, in proportion to its shares."""
    block = np.zeros(curves.count, dtype=np.intp)
    if prices.temperature == 0.0:
        return block
    behind = np.zeros(prices.prices.size)
    for pages in chunks(np.argsort(curves.survival.mean_rates(), kind="stable")):
        shares = _shares(prices.gains(curves, pages), prices.temperature)
        chosen = shares.argmax(axis=1)
        for row in np.flatnonzero(shares.max(axis=1) < _DECIDED):
            behind += shares[row]
            possible = np.flatnonzero(shares[row] >= _MIN_SHARE)
            chosen[row] = possible[behind[possible].argmax()]
            behind[chosen[row]] -= 1.0
        block[pages] = chosen
    return block


def _shares(gains: NDArray[np.float64], temperature: float) -> NDArray[np.float64]:
    """The share of each page (row) in each block, in proportion to exp(gain / temperature)."""
    gains -= gains.max(axis=1)[:, None]
    gains /= temperature
    np.maximum(gains, -60.0, out=gains)
    np.exp(gains, out=gains)
    gains /= gains.sum(axis=1)[:, None]
    return gains


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
