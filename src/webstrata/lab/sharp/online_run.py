"""The online strategies run over a site whose links are known, as the lab compares them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from webstrata.sharp.link_tree import LinkTree
from webstrata.sharp.online import OnlineScheduler
from webstrata.sharp.optimal import SlotPlan, best_revisits
from webstrata.sharp.rates import Places, checked_rates, checked_weights
from webstrata.sharp.schedule import SharpSchedule


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


def regret_visits(scheduler: OnlineScheduler, rates: ArrayLike, weights: ArrayLike, tree: LinkTree) -> Places:
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
