"""How likely a page is unchanged over a span: convex and falling, which is all that the best schedules need.

What each page is worth in each slot: the one shape that mirror schedules and revisits share.

Page i in slot k is worth weight_i * S_i(head_i + times_k): S falls and is convex. For a mirror schedule heads are 0 and
times are twice the slots' distances; for revisits the head is what has passed since the visit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from webstrata.errors import UsageError
from webstrata.sharp.rates import Numbers, Places, as_column, checked_rates, checked_times, checked_weights

_NEVER = 700.0
"""exp(-700) is the smallest power that is still quick to compute with; nothing is lost by stopping there."""
_SURE = 1e12
"""A belief of this shape is as good as a rate known for sure."""


@runtime_checkable
class Survival(Protocol):
    """Chances of no change, page by page; falling and convex in the span."""

    @property
    def count(self) -> int: ...

    def unchanged(self, pages: Places, spans: NDArray[np.float64]) -> NDArray[np.float64]:
        """The chance that each of these pages stays unchanged over its span (the two broadcast together)."""
        ...

    def hotness(self) -> Numbers:
        """Expected changes per unit of time at the start: orders pages from cold to hot."""
        ...

    def some(self, pages: Places) -> Survival:
        """The same for these pages only, in this order."""
        ...


class PoissonSurvival:
    """Rates known for sure: exp(-rate * span)."""

    def __init__(self, rates: ArrayLike) -> None:
        self.rates = checked_rates(rates)

    @property
    def count(self) -> int:
        return self.rates.size

    def unchanged(self, pages: Places, spans: NDArray[np.float64]) -> NDArray[np.float64]:
        exponent = self.rates[pages] * spans
        np.minimum(exponent, _NEVER, out=exponent if exponent.ndim else None)
        return np.asarray(np.exp(-exponent))

    def hotness(self) -> Numbers:
        return self.rates

    def some(self, pages: Places) -> Survival:
        return PoissonSurvival(self.rates[pages])


class GammaSurvival:
    """Rates known by a Gamma posterior (shape, and exposure in units of time): (exposure / (exposure + span))^shape.

    A mixture of exponentials, so convex as well. After c changes in a time T under a prior (a, b) it is (a + c, b + T).
    """

    def __init__(self, shape: ArrayLike, exposure: ArrayLike) -> None:
        self.shape = checked_rates(shape)
        self.exposure = checked_rates(exposure)
        if self.shape.size != self.exposure.size:
            raise UsageError("A Gamma posterior needs one shape and one exposure for every page.")
        if (self.exposure == 0).any():
            raise UsageError("A Gamma posterior needs an exposure above 0: add a prior.")

    @property
    def count(self) -> int:
        return self.shape.size

    def unchanged(self, pages: Places, spans: NDArray[np.float64]) -> NDArray[np.float64]:
        exponent = self.shape[pages] * np.log1p(spans / self.exposure[pages])
        return np.asarray(np.exp(-np.minimum(exponent, _NEVER)))

    def hotness(self) -> Numbers:
        return self.shape / self.exposure

    def some(self, pages: Places) -> Survival:
        return GammaSurvival(self.shape[pages], self.exposure[pages])


def as_survival(rates: ArrayLike | Survival) -> Survival:
    """Rates known for sure, or whatever is known of them."""
    return rates if isinstance(rates, Survival) else PoissonSurvival(rates)


def believed(rates: ArrayLike, shapes: ArrayLike) -> Survival:
    """Mean rates, and the shapes of the Gamma beliefs about them: the smaller, the less is known; infinite: sure."""
    mean = checked_rates(rates)
    firm = checked_rates(np.minimum(as_column(shapes, "shapes"), _SURE))
    if firm.size != mean.size or (firm == 0).any():
        raise UsageError(f"{firm.size} shapes for {mean.size} rates: every rate needs one, above 0.")
    if (firm == _SURE).all():
        return PoissonSurvival(mean)
    moving = mean > 0
    exposure = np.divide(firm, mean, out=np.ones(mean.size), where=moving)
    return GammaSurvival(np.where(moving, firm, 0.0), exposure)


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
