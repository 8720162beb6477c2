"""Change-rate groups ("Looking at both the present and the past"): `historic` and `bayesian` move pages in them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from webstrata.errors import BadSettings


class RateGroup(Struct, frozen=True, kw_only=True):
    """Pages that change about every `days`. After `visits` of them in it a page may be moved: to the slower group if
    its share of changes is below `slower_below`, to the faster one if it is above `faster_above`."""

    days: float
    visits: int
    slower_below: float = 0.2
    faster_above: float = 0.8

    def __post_init__(self) -> None:
        if not 0 < self.days < float("inf") or not 1 <= self.visits <= 255:
            raise BadSettings(f"a group of every {self.days:g} days and {self.visits} visits cannot be.")
        if not 0 <= self.slower_below <= self.faster_above <= 1:
            raise BadSettings(f"thresholds {self.slower_below:g} and {self.faster_above:g}: 0 to 1, in this order.")


TABLE_2 = tuple(
    RateGroup(days=days, visits=visits, slower_below=0.3, faster_above=0.7)
    for days, visits in ((1, 10), (7, 8), (30, 6), (100, 2))
)
"""The paper's example."""
TABLE_4 = tuple(RateGroup(days=days, visits=visits) for days, visits in ((1, 3), (3, 2), (31, 2), (96, 1)))
"""What the paper found best."""


def nearest(groups: tuple[RateGroup, ...], days: float) -> int:
    """The group whose interval is nearest to this one, in ratio."""
    return int(np.argmin(np.abs(np.log([group.days for group in groups]) - np.log(max(days, 1e-9)))))


def check(groups: tuple[RateGroup, ...], most: int) -> None:
    """BadSettings unless there are one to `most` groups, fastest first."""
    if not 1 <= len(groups) <= most or any(one.days >= other.days for one, other in pairwise(groups)):
        raise BadSettings(f"between 1 and {most} groups, each slower than the one before it.")


def column(groups: tuple[RateGroup, ...], name: str) -> NDArray[np.float64]:
    return np.array([getattr(group, name) for group in groups], dtype=np.float64)
