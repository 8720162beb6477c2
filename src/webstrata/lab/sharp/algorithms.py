"""The solar paper's two data sets, and what its tables say.

The algorithms by the names that experiments and the command line give them.

One schedule for pages given by their confidence lengths: what an algorithm does with them, slot by slot.

The online strategies run over a site whose links are known, as the lab compares them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
import msgspec
import numpy as np
from webstrata.errors import UsageError
from webstrata.sharp.solar import hottest_middle
from webstrata.sharp.solar import hottest_middle_online
from webstrata.sharp.solar import sharc_threshold
from webstrata.sharp.link_tree import LinkTree, read_tree
from webstrata.sharp.optimal import hopeless_pages, optimal
from webstrata.sharp.rates import Numbers, checked_weights
from webstrata.sharp.schedule import TAU, SharpSchedule, checked_lengths, expected_sharp, rates_of, survivals
from webstrata.sharp.solar import shrink, solar_offline, solar_online
from webstrata.sharp.survival import PoissonSurvival
from numpy.typing import ArrayLike
from webstrata.sharp.link_tree import LinkTree
from webstrata.sharp.online import OnlineScheduler
from webstrata.sharp.optimal import SlotPlan, best_revisits
from webstrata.sharp.rates import Indices, checked_rates, checked_weights
from webstrata.sharp.schedule import SharpSchedule

PAGES = 1000


def skewed(count: int = PAGES) -> Numbers:
    """A static site with a few lively pages: rates fall by 6 % three times, by 0.1 % six times, and so on."""
    steps = np.where(np.arange(count - 1) % 9 < 3, 1.06, 1.001)
    rates = np.ones(count)
    for page in range(1, count):
        rates[page] = rates[page - 1] / steps[page - 1]
    return rates


def smooth(count: int = PAGES) -> Numbers:
    """A lively site: confidence intervals of 1, 2, 3, … slots."""
    return math.log(1.0 / TAU) / np.arange(1, count + 1)


DATASETS = {"skewed": skewed, "smooth": smooth}

PAPER: dict[str, dict[str, tuple[float, int]]] = {
    "sharc-threshold": {"skewed": (684.286, 682), "smooth": (492.864, 493)},
    "hottest-middle": {"skewed": (649.577, 647), "smooth": (492.864, 493)},
    "solar-offline": {"skewed": (704.041, 710), "smooth": (515.249, 515)},
    "hottest-middle-online": {"skewed": (672.271, 669), "smooth": (455.512, 449)},
    "solar-online": {"skewed": (680.421, 679), "smooth": (459.799, 455)},
}
"""Algorithm -> data set -> (E(##pages), ##pages of one execution) as printed."""


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


def optimal_online(
    rates: ArrayLike, tree: LinkTree, weights: ArrayLike | None = None, *, count_known: bool = True
) -> tuple[SharpSchedule, SlotPlan]:
    """Visits by least regret, one a slot; then the best revisits (the plan tells their worth and bound)."""
    column = checked_rates(rates)
    weighed = checked_weights(weights, column.size)
    tree.must_hold(column.size)
    visits = regret_visits(OnlineScheduler(1.0, count=column.size if count_known else None), column, weighed, tree)
    plan = best_revisits(column, visits.astype(np.float64), weighed)
    return SharpSchedule(visits, plan.slots), plan


def regret_visits(scheduler: OnlineScheduler, rates: ArrayLike, weights: ArrayLike, tree: LinkTree) -> Indices:
    """The visit slot of every page, as the scheduler chooses them."""
    column, weighed = np.asarray(rates), np.asarray(weights)

    def tell(pages: tuple[int, ...], found_on: str | None) -> None:
        rows = list(pages)
        scheduler.discovered([str(page) for page in pages], column[rows], weighed[rows], found_on=found_on)

    visits = np.zeros(column.size, dtype=np.intp)
    tell(tree.seeds, None)
    slot = column.size - 1
    while (page := scheduler.next_visit()) is not None:
        scheduler.visited(page, float(-slot), float(-slot))
        visits[int(page)] = slot
        tell(tree.children[int(page)], page)
        slot -= 1
    return visits
