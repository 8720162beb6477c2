"""What each page is worth in each slot: the one shape that mirror schedules and revisits share.

Page i in slot k is worth weight_i * S_i(head_i + times_k): S falls and is convex. For a mirror schedule heads are 0 and
times are twice the slots' distances; for revisits the head is what has passed since the visit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from webstrata.errors import UsageError
from webstrata.sharp.rates import Numbers, Places, checked_times, checked_weights
from webstrata.sharp.survival import Survival


@dataclass(frozen=True)
class WorthCurves:
    survival: Survival
    weights: Numbers
    heads: Numbers
    times: Numbers
    """Added span by slot, rising."""

    @property
    def count(self) -> int:
        return self.survival.count

    @property
    def alike(self) -> bool:
        """All pages weigh the same and start at once: only their rates tell them apart."""
        return bool((self.weights == self.weights[0]).all() and (self.heads == self.heads[0]).all())

    def at(self, pages: Places, slots: Places) -> NDArray[np.float64]:
        return self.after(pages, self.times[slots])

    def after(self, pages: Places, times: NDArray[np.float64]) -> NDArray[np.float64]:
        """Worth of pages after these times (broadcast together)."""
        return self.weights[pages] * self.survival.unchanged(pages, self.heads[pages] + times)

    def table(self, pages: Places) -> NDArray[np.float64]:
        """These pages by all slots."""
        rates = getattr(self.survival, "rates", None)
        if rates is None or not self._even:
            return self.after(pages[:, None], self.times[None, :])
        # Slots of one length and sure rates: a power for every block of slots times one for every place in a block.
        side = math.isqrt(self.times.size) + 1
        step = self.times[1] - self.times[0]
        inner = self.after(pages[:, None], self.times[0] + step * np.arange(side)[None, :])
        outer = self.survival.unchanged(pages[:, None], step * side * np.arange(side)[None, :])
        outer[outer < 1e-150] = 0.0  # products below that would be slow, and are nothing
        inner[inner < 1e-150] = 0.0
        return (outer[:, :, None] * inner[:, None, :]).reshape(pages.size, side * side)[:, : self.times.size]

    @property
    def _even(self) -> bool:
        steps = np.diff(self.times)
        return steps.size > 0 and bool(np.ptp(steps) <= 1e-12 * self.times[-1])

    def worth(self, order: Places) -> float:
        """Of all pages in this order, inside to outside."""
        return float(self.at(order, np.arange(order.size)).sum())


def mirror_curves(survival: Survival, weights: ArrayLike | None, times: ArrayLike | None) -> WorthCurves:
    """Every page as far from the instant on either side: spans are twice the slots' distances."""
    count = survival.count
    slots = np.arange(count, dtype=np.float64) if times is None else checked_times(times, count)
    return WorthCurves(survival, checked_weights(weights, count), np.zeros(count), 2.0 * slots)


def revisit_curves(
    survival: Survival, weights: ArrayLike | None, visited_before: ArrayLike, times: ArrayLike | None
) -> WorthCurves:
    """Visits are made, `visited_before` the instant; revisits are free."""
    count = survival.count
    heads = np.asarray(visited_before, dtype=np.float64)
    if heads.shape != (count,) or not np.isfinite(heads).all() or (heads < 0).any():
        raise UsageError("Every page needs the time from its visit to the instant: finite, 0 or more.")
    slots = np.arange(count, dtype=np.float64) if times is None else checked_times(times, count)
    return WorthCurves(survival, checked_weights(weights, count), heads, slots)
