"""The algorithms by the names that experiments and the command line give them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from webstrata.errors import UsageError
from webstrata.sharp.hottest_middle import hottest_middle, hottest_middle_online, sharc_threshold
from webstrata.sharp.lengths import TAU
from webstrata.sharp.linktree import LinkTree
from webstrata.sharp.online_run import optimal_online
from webstrata.sharp.optimal import hopeless_pages, optimal
from webstrata.sharp.rates import Numbers
from webstrata.sharp.schedule import SharpSchedule, survivals
from webstrata.sharp.solar import shrink, solar_offline, solar_online
from webstrata.sharp.survival import PoissonSurvival


@dataclass(frozen=True)
class ScheduleInput:
    """What an algorithm is told: rates per slot, confidence lengths in slots, weights, and where pages are found."""

    rates: Numbers
    lengths: Numbers
    weights: Numbers
    tree: LinkTree
    tau: float = TAU


def _optimal_online(site: ScheduleInput) -> SharpSchedule:
    schedule, _ = optimal_online(site.rates, site.tree, site.weights)
    chances = survivals(schedule, PoissonSurvival(site.rates))
    return SharpSchedule(schedule.visits, schedule.revisits, hopeless_pages(chances))


OFFLINE: dict[str, Callable[[ScheduleInput], SharpSchedule]] = {
    "hottest-middle": lambda site: hottest_middle(site.rates),
    "sharc-threshold": lambda site: sharc_threshold(site.rates, site.tau),
    "solar-offline": lambda site: solar_offline(site.lengths),
    "solar-offline-shrunk": lambda site: shrink(solar_offline(site.lengths)),
    "optimal": lambda site: optimal(site.rates, site.weights)[0],
}
"""All pages and rates are known beforehand."""

ONLINE: dict[str, Callable[[ScheduleInput], SharpSchedule]] = {
    "hottest-middle-online": lambda site: hottest_middle_online(site.rates, site.tree),
    "solar-online": lambda site: solar_online(site.lengths, site.tree),
    "optimal-online": _optimal_online,
}
"""Pages are found by links."""

ALGORITHMS = OFFLINE | ONLINE


def schedule_by(name: str, site: ScheduleInput) -> SharpSchedule:
    """The schedule of the algorithm of this name."""
    if name not in ALGORITHMS:
        raise UsageError(f"no algorithm {name!r}. There are: {', '.join(ALGORITHMS)}.")
    return ALGORITHMS[name](site)


def simulated(schedule: SharpSchedule, rates: Numbers, runs: int, seed: int) -> Numbers:
    """##pages of so many executions: each page's first change after its visit is drawn, and falls behind its revisit or
    not."""
    random = np.random.default_rng(seed)
    expected_changes = rates * schedule.spans()
    draws = (random.exponential(size=rates.size) for _ in range(runs))
    return np.array([np.count_nonzero(drawn > expected_changes) for drawn in draws], dtype=np.float64)
