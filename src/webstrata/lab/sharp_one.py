"""One schedule for pages given by their confidence lengths: what an algorithm does with them, slot by slot."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from webstrata.lab.sharp_algorithms import ScheduleInput, schedule_by
from webstrata.sharp.lengths import TAU, checked_lengths, rates_of
from webstrata.sharp.linktree import read_tree
from webstrata.sharp.optimal import optimal
from webstrata.sharp.rates import checked_weights
from webstrata.sharp.schedule import expected_sharp


class OneSchedule(msgspec.Struct, frozen=True):
    visits: list[int]
    """Slots before the instant, by page."""
    revisits: list[int]
    """Slots after it."""
    hopeless: list[int]
    expected: float
    bound: float
    """No schedule of these pages has more."""
    algorithm: str


def one_schedule(
    lengths: Sequence[float], weights: Sequence[float] | None, algorithm: str, tree: str = "", tau: float = TAU
) -> OneSchedule:
    """Rates are ln(1/tau) / length; pages are numbered as given."""
    rates = rates_of(lengths, tau)
    weighed = checked_weights(weights, rates.size)
    site = ScheduleInput(rates, checked_lengths(lengths), weighed, read_tree(tree, rates.size), tau)
    schedule = schedule_by(algorithm, site)
    return OneSchedule(
        visits=schedule.visits.tolist(),
        revisits=schedule.revisits.tolist(),
        hopeless=list(schedule.hopeless),
        expected=expected_sharp(schedule, rates, weighed),
        bound=optimal(rates, weighed)[1].bound,
        algorithm=algorithm,
    )
