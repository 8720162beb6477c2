"""How likely a page is unchanged over a span: convex and falling, which is all that the best schedules need."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from webstrata.errors import UsageError
from webstrata.sharp.rates import Numbers, Places, as_column, checked_rates

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
