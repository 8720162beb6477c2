"""The probability that a page stays unchanged over a span, and the worth of each page in each slot.

Survival falls with the span and is convex; the optimal schedules need no more than that.

Page i in slot k is worth weight_i * S_i(elapsed_i + times_k). In a mirror schedule `elapsed` is 0 and `times` are twice
the slots' distances from the instant. For revisits `elapsed` is the time from the visit to the instant.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from webstrata.errors import UsageError
from webstrata.sharp.rates import Indices, Numbers, as_column, checked_rates, checked_times, checked_weights

_MAX_EXPONENT = 700.0
"""exp(-700) is close to the smallest normal float. Smaller results would be subnormal and slow to compute with."""
_CERTAIN = 1e12
"""A Gamma belief with this shape is treated as a rate that is known exactly."""


@runtime_checkable
class Survival(Protocol):
    """Probabilities of no change, by page; falling and convex in the span."""

    @property
    def count(self) -> int: ...

    def unchanged(self, pages: Indices, spans: NDArray[np.float64]) -> NDArray[np.float64]:
        """The probability that each of these pages stays unchanged over its span (the arguments are broadcast)."""
        ...

    def mean_rates(self) -> Numbers:
        """Expected changes per unit of time at the start of a span; orders pages from cold to hot."""
        ...

    def subset(self, pages: Indices) -> Survival:
        """The survival of these pages only, in this order."""
        ...


class PoissonSurvival:
    """Pages whose rates are known exactly: exp(-rate * span)."""

    def __init__(self, rates: ArrayLike) -> None:
        self.rates = checked_rates(rates)

    @property
    def count(self) -> int:
        return self.rates.size

    def unchanged(self, pages: Indices, spans: NDArray[np.float64]) -> NDArray[np.float64]:
        exponent = self.rates[pages] * spans
        np.minimum(exponent, _MAX_EXPONENT, out=exponent if exponent.ndim else None)
        return np.asarray(np.exp(-exponent))

    def mean_rates(self) -> Numbers:
        return self.rates

    def subset(self, pages: Indices) -> Survival:
        return PoissonSurvival(self.rates[pages])


class GammaSurvival:
    """Pages whose rates have a Gamma posterior (shape, and exposure in units of time):
    (exposure / (exposure + span))^shape.

    It is a mixture of exponentials, so it is convex. After c changes in a time T under a prior (a, b) the posterior is
    (a + c, b + T).
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

    def unchanged(self, pages: Indices, spans: NDArray[np.float64]) -> NDArray[np.float64]:
        exponent = self.shape[pages] * np.log1p(spans / self.exposure[pages])
        return np.asarray(np.exp(-np.minimum(exponent, _MAX_EXPONENT)))

    def mean_rates(self) -> Numbers:
        return self.shape / self.exposure

    def subset(self, pages: Indices) -> Survival:
        return GammaSurvival(self.shape[pages], self.exposure[pages])


def as_survival(rates: ArrayLike | Survival) -> Survival:
    """A survival as it is; plain rates are taken as known exactly."""
    return rates if isinstance(rates, Survival) else PoissonSurvival(rates)


def survival_of_beliefs(rates: ArrayLike, shapes: ArrayLike) -> Survival:
    """The survival of pages with these mean rates and shapes of the Gamma beliefs about them. A small shape means an
    uncertain rate; an infinite shape means a rate that is known exactly."""
    mean = checked_rates(rates)
    finite_shapes = checked_rates(np.minimum(as_column(shapes, "shapes"), _CERTAIN))
    if finite_shapes.size != mean.size or (finite_shapes == 0).any():
        raise UsageError(f"{finite_shapes.size} shapes for {mean.size} rates: every rate needs one, above 0.")
    if (finite_shapes == _CERTAIN).all():
        return PoissonSurvival(mean)
    changing = mean > 0
    exposure = np.divide(finite_shapes, mean, out=np.ones(mean.size), where=changing)
    return GammaSurvival(np.where(changing, finite_shapes, 0.0), exposure)


@dataclass(frozen=True)
class WorthCurves:
    """The worth of each page as a function of its slot."""

    survival: Survival
    weights: Numbers
    elapsed: Numbers
    """By page: the part of its span that no slot changes."""
    times: Numbers
    """By slot: the part of the span that the slot adds, rising."""

    @property
    def count(self) -> int:
        return self.survival.count

    @property
    def differ_only_in_rate(self) -> bool:
        """All pages have the same weight and the same elapsed time."""
        return bool((self.weights == self.weights[0]).all() and (self.elapsed == self.elapsed[0]).all())

    def at(self, pages: Indices, slots: Indices) -> NDArray[np.float64]:
        """Worths of pages in slots (the arguments are broadcast)."""
        return self.after(pages, self.times[slots])

    def after(self, pages: Indices, times: NDArray[np.float64]) -> NDArray[np.float64]:
        """Worths of pages after these times (the arguments are broadcast)."""
        return self.weights[pages] * self.survival.unchanged(pages, self.elapsed[pages] + times)

    def table(self, pages: Indices) -> NDArray[np.float64]:
        """The worths of these pages (rows) in all slots (columns)."""
        rates = getattr(self.survival, "rates", None)
        if rates is None or not self._equal_steps:
            return self.after(pages[:, None], self.times[None, :])
        # Slots of equal length and exact rates: one exponential per block of slots times one per slot in a block.
        side = math.isqrt(self.times.size) + 1
        step = self.times[1] - self.times[0]
        inner = self.after(pages[:, None], self.times[0] + step * np.arange(side)[None, :])
        outer = self.survival.unchanged(pages[:, None], step * side * np.arange(side)[None, :])
        outer[outer < 1e-150] = 0.0  # avoids products that are subnormal and slow
        inner[inner < 1e-150] = 0.0
        return (outer[:, :, None] * inner[:, None, :]).reshape(pages.size, side * side)[:, : self.times.size]

    @property
    def _equal_steps(self) -> bool:
        steps = np.diff(self.times)
        return steps.size > 0 and bool(np.ptp(steps) <= 1e-12 * self.times[-1])

    def total(self, order: Indices) -> float:
        """The worth of all pages in this order, innermost slot first."""
        return float(self.at(order, np.arange(order.size)).sum())


def mirror_curves(survival: Survival, weights: ArrayLike | None, times: ArrayLike | None) -> WorthCurves:
    """Worths in a mirror schedule: each span is twice the distance of the slot from the instant."""
    count = survival.count
    return WorthCurves(survival, checked_weights(weights, count), np.zeros(count), 2.0 * checked_times(times, count))


def revisit_curves(
    survival: Survival, weights: ArrayLike | None, visited_before: ArrayLike, times: ArrayLike | None
) -> WorthCurves:
    """Worths in revisit slots, for visits that were made `visited_before` the instant."""
    count = survival.count
    elapsed = np.asarray(visited_before, dtype=np.float64)
    if elapsed.shape != (count,) or not np.isfinite(elapsed).all() or (elapsed < 0).any():
        raise UsageError("Every page needs the time from its visit to the instant: finite, 0 or more.")
    return WorthCurves(survival, checked_weights(weights, count), elapsed, checked_times(times, count))
