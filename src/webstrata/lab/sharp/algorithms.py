"""The schedule algorithms by name, and the online algorithm run over a site whose links are known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from webstrata.errors import UsageError
from webstrata.lab.sharp.solar_printed import exchange_short, solar_online_printed
from webstrata.sharp.link_tree import LinkTree, read_tree
from webstrata.sharp.online import OnlineScheduler
from webstrata.sharp.optimal import SlotPlan, best_revisits, hopeless_pages, optimal
from webstrata.sharp.rates import Indices, Numbers, checked_rates, checked_weights
from webstrata.sharp.schedule import TAU, SharpSchedule, checked_lengths, expected_sharp, rates_of, survivals
from webstrata.sharp.solar import (
    hottest_middle,
    hottest_middle_online,
    sharc_threshold,
    shrink,
    solar_offline,
    solar_online,
)
from webstrata.sharp.survival import PoissonSurvival


def optimal_online(
    rates: ArrayLike, tree: LinkTree, weights: ArrayLike | None = None, *, count_known: bool = True
) -> tuple[SharpSchedule, SlotPlan]:
    """Visits by least regret, one per slot, then the best revisits. The plan has the worth and the bound of the
    revisits."""
    column = checked_rates(rates)
    page_weights = checked_weights(weights, column.size)
    tree.require_size(column.size)
    scheduler = OnlineScheduler(1.0, count=column.size if count_known else None)
    visits = _visit_slots(scheduler, column, page_weights, tree)
    plan = best_revisits(column, visits.astype(np.float64), page_weights)
    return SharpSchedule(visits, plan.slots), plan


def _visit_slots(scheduler: OnlineScheduler, rates: Numbers, weights: Numbers, tree: LinkTree) -> Indices:
    """The visit slot of every page, as the scheduler chooses them."""

    def discover(pages: tuple[int, ...], found_on: str | None) -> None:
        rows = list(pages)
        scheduler.discovered([str(page) for page in pages], rates[rows], weights[rows], found_on=found_on)

    visits = np.zeros(rates.size, dtype=np.intp)
    discover(tree.seeds, None)
    slot = rates.size - 1
    while (page := scheduler.next_visit()) is not None:
        scheduler.visited(page, float(-slot), float(-slot))
        visits[int(page)] = slot
        discover(tree.children[int(page)], page)
        slot -= 1
    return visits


@dataclass(frozen=True)
class SharpScheduleInput:
    """The input of an algorithm: rates per slot, confidence lengths in slots, weights, and the tree of links."""

    rates: Numbers
    lengths: Numbers
    weights: Numbers
    tree: LinkTree
    tau: float = TAU


def _optimal_online(site: SharpScheduleInput) -> SharpSchedule:
    schedule, _ = optimal_online(site.rates, site.tree, site.weights)
    chances = survivals(schedule, PoissonSurvival(site.rates))
    return SharpSchedule(schedule.visits, schedule.revisits, hopeless_pages(chances))


OFFLINE: dict[str, Callable[[SharpScheduleInput], SharpSchedule]] = {
    "hottest-middle": lambda site: hottest_middle(site.rates),
    "sharc-threshold": lambda site: sharc_threshold(site.rates, site.tau),
    "solar-offline": lambda site: solar_offline(site.lengths),
    "solar-offline-shrunk": lambda site: shrink(solar_offline(site.lengths)),
    "solar-offline-exchanged": lambda site: exchange_short(solar_offline(site.lengths), site.lengths),
    "optimal": lambda site: optimal(site.rates, site.weights)[0],
}
"""All pages and their rates are known beforehand."""

ONLINE: dict[str, Callable[[SharpScheduleInput], SharpSchedule]] = {
    "hottest-middle-online": lambda site: hottest_middle_online(site.rates, site.tree),
    "solar-online": lambda site: solar_online(site.lengths, site.tree),
    "solar-online-printed": lambda site: solar_online_printed(site.lengths, site.tree),
    "optimal-online": _optimal_online,
}
"""Pages are found by links."""

ALGORITHMS = OFFLINE | ONLINE


def schedule_by(name: str, site: SharpScheduleInput) -> SharpSchedule:
    """The schedule that the algorithm of this name computes."""
    if name not in ALGORITHMS:
        raise UsageError(f"no algorithm {name!r}. There are: {', '.join(ALGORITHMS)}.")
    return ALGORITHMS[name](site)


class OneSchedule(msgspec.Struct, frozen=True):
    """The schedule of pages given by their confidence lengths."""

    visits: list[int]
    """By page: slots before the instant."""
    revisits: list[int]
    """By page: slots after the instant."""
    hopeless: list[int]
    expected: float
    bound: float
    """An upper bound of `expected` for every schedule of these pages."""
    algorithm: str


def one_schedule(
    lengths: Sequence[float], weights: Sequence[float] | None, algorithm: str, tree: str = "", tau: float = TAU
) -> OneSchedule:
    """Schedule pages with these confidence lengths; their rates are ln(1/tau) / length."""
    rates = rates_of(lengths, tau)
    page_weights = checked_weights(weights, rates.size)
    site = SharpScheduleInput(rates, checked_lengths(lengths), page_weights, read_tree(tree, rates.size), tau)
    schedule = schedule_by(algorithm, site)
    return OneSchedule(
        visits=schedule.visits.tolist(),
        revisits=schedule.revisits.tolist(),
        hopeless=list(schedule.hopeless),
        expected=expected_sharp(schedule, rates, page_weights),
        bound=optimal(rates, page_weights)[1].bound,
        algorithm=algorithm,
    )
