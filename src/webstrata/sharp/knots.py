"""Few places that stand for many slots: prices are straight between knots, so n slots need some hundred prices.

Worth is convex in time and prices are straight between knots, so what a page gains above the price is convex there and
greatest on a knot. A bound from prices on knots holds for all slots.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from webstrata.sharp.rates import Numbers, Places

_SINGLE = 16
"""Innermost slots that are knots themselves: prices bend most there."""
_GROWTH = 1 / 48
_FEW = 1500
"""So few slots need no more than coarse knots: prices for every single one follow."""
_COARSE = 1 / 24


@dataclass(frozen=True)
class PriceKnots:
    slots: Places
    times: Numbers
    capacity: Numbers
    """How many slots each knot stands for; a slot between two knots is shared by its distances in time."""

    @property
    def edges(self) -> Places:
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
