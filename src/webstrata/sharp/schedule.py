"""A schedule: when each page is visited before the instant and revisited after it, and what that promises.

Slots count outwards from the instant: page i is visited at -visits[i] and revisited at +revisits[i]. Both are a
permutation of 0..n-1. The page with slot 0 on both sides is downloaded once.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from webstrata.errors import UsageError
from webstrata.sharp.rates import Numbers, Places, checked_times, checked_weights
from webstrata.sharp.survival import Survival, as_survival


@dataclass(frozen=True)
class SharpSchedule:
    visits: Places
    revisits: Places
    hopeless: tuple[int, ...] = field(default=())
    """Pages given up, in the order of their ids: placed where they disturb nobody."""

    def __post_init__(self) -> None:
        slots = np.arange(self.visits.size)
        for name, side in (("visits", self.visits), ("revisits", self.revisits)):
            if not np.array_equal(np.sort(side), slots):
                raise UsageError(f"the {name} are no schedule: every slot from 0 to n-1 must be used once.")

    def spans(self, times: ArrayLike | None = None) -> Numbers:
        """From each page's visit to its revisit, in slots; or in the unit of `times`, the slots' distances from the
        instant."""
        at = np.arange(self.visits.size, dtype=np.float64) if times is None else checked_times(times, self.visits.size)
        return at[self.visits] + at[self.revisits]


def mirror(slots: Places, hopeless: tuple[int, ...] = ()) -> SharpSchedule:
    """Every page as far from the instant on one side as on the other."""
    return SharpSchedule(slots, slots, hopeless)


def survivals(schedule: SharpSchedule, survival: Survival, times: ArrayLike | None = None) -> Numbers:
    """Each page's chance to be sharp."""
    return survival.unchanged(np.arange(survival.count), schedule.spans(times))


def expected_sharp(
    schedule: SharpSchedule,
    rates: ArrayLike | Survival,
    weights: ArrayLike | None = None,
    times: ArrayLike | None = None,
) -> float:
    """E(##pages): the expected (weighted) number of pages unchanged between their visit and their revisit."""
    survival = as_survival(rates)
    if survival.count != schedule.visits.size:
        raise UsageError(f"{survival.count} rates for a schedule of {schedule.visits.size} pages.")
    return float(np.dot(checked_weights(weights, survival.count), survivals(schedule, survival, times)))
