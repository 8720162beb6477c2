"""What each page is worth in each slot: the one shape that mirror schedules and revisits share.

Page i in slot k is worth weight_i * S_i(head_i + times_k): S falls and is convex. For a mirror schedule heads are 0 and
times are twice the slots' distances; for revisits the head is what has passed since the visit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from webstrata.errors import UsageError
from webstrata.sharp.rates import Numbers, Places, checked_times, checked_weights
from webstrata.sharp.survival import Survival


@dataclass(frozen=True)
class Curves:
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

    def matrix(self, pages: Places, slots: Places) -> NDArray[np.float64]:
        return self.at(pages[:, None], slots[None, :])

    def worth(self, order: Places) -> float:
        """Of all pages in this order, inside to outside."""
        return float(self.at(order, np.arange(order.size)).sum())


def mirror_curves(survival: Survival, weights: ArrayLike | None, times: ArrayLike | None) -> Curves:
    """Every page as far from the instant on either side: spans are twice the slots' distances."""
    count = survival.count
    slots = np.arange(count, dtype=np.float64) if times is None else checked_times(times, count)
    return Curves(survival, checked_weights(weights, count), np.zeros(count), 2.0 * slots)


def revisit_curves(
    survival: Survival, weights: ArrayLike | None, visited_before: ArrayLike, times: ArrayLike | None
) -> Curves:
    """Visits are made, `visited_before` the instant; revisits are free."""
    count = survival.count
    heads = np.asarray(visited_before, dtype=np.float64)
    if heads.shape != (count,) or not np.isfinite(heads).all() or (heads < 0).any():
        raise UsageError("Every page needs the time from its visit to the instant: finite, 0 or more.")
    slots = np.arange(count, dtype=np.float64) if times is None else checked_times(times, count)
    return Curves(survival, checked_weights(weights, count), heads, slots)
