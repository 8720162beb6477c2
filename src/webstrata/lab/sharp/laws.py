"""Laws of change rates, for the measurement of plans: sites whose pages change in different ways."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from webstrata.lab.sharp.tables import skewed, smooth
from webstrata.sharp.rates import Numbers

Law = Callable[[int, np.random.Generator], Numbers]


def _lognormal(count: int, random: np.random.Generator) -> Numbers:
    return np.exp(random.normal(-6.0, 2.0, count))


def _half_static(count: int, random: np.random.Generator) -> Numbers:
    return np.where(random.random(count) < 0.5, 0.0, _lognormal(count, random))


RATE_LAWS: dict[str, Law] = {
    "smooth": lambda count, _: smooth(count),
    "skewed": lambda count, _: skewed(count),
    "lognormal": _lognormal,
    "lognormal, slow": lambda count, random: np.exp(random.normal(-np.log(count), 2.0, count)),
    "uniform": lambda count, random: random.uniform(0.0, 0.01, count),
    "uniform, slow": lambda count, random: random.uniform(0.0, 10.0 / count, count),
    "half static": _half_static,
    "Pareto": lambda count, random: (random.pareto(1.2, count) + 1.0) / count,
}
"""Name -> rates per slot of this number of pages. On a slow site the typical page changes about once in a capture; on
the others most pages of a large site change many times."""


def pareto_weights(count: int, random: np.random.Generator) -> Numbers:
    """Weights of pages of which a few are worth as much as all others together."""
    return random.pareto(1.5, count) + 1.0
