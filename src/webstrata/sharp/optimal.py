"""The optimal schedule of known pages, and the optimal revisits after given visits, each with an upper bound.

Survival is convex in the span, so f(a + r) <= (f(2a) + f(2r)) / 2. Of the two mirror schedules made from the visits and
from the revisits of any schedule, one is therefore at least as good as that schedule. So the optimal schedule is a
linear assignment of pages to slots, and so are the optimal revisits after given visits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from webstrata.sharp.assignment import assign, closing_prices
from webstrata.sharp.rates import Indices, Numbers
from webstrata.sharp.rounding import plan_from_prices
from webstrata.sharp.schedule import SharpSchedule, mirror
from webstrata.sharp.segments import best_segments, front_back, segment_slots
from webstrata.sharp.slot_prices import knot_prices
from webstrata.sharp.survival import Survival, WorthCurves, as_survival, mirror_curves, revisit_curves

EXACT_UP_TO = 400
"""Sites with at most this number of pages get the exact plan, whatever their weights."""
_TABLE_UP_TO = 1500
"""Up to this number of pages, the worths of all pages in all slots fit into one table."""
_TOLERANCE = 1e-9
_NEIGHBOUR_PASSES = 60
_DISTANT_PASSES = 2


@dataclass(frozen=True)
class SlotPlan:
    """An order of pages, its worth, and an upper bound of the worth of every plan."""

    order: Indices
    """Pages by slot."""
    worth: float
    bound: float

    @property
    def slots(self) -> Indices:
        """Slots by page."""
        return np.argsort(self.order)

    @property
    def proved(self) -> bool:
        """The worth equals the bound, so the plan is optimal."""
        return self.bound - self.worth <= _TOLERANCE * max(1.0, self.worth)


def optimal(
    rates: ArrayLike | Survival, weights: ArrayLike | None = None, times: ArrayLike | None = None
) -> tuple[SharpSchedule, SlotPlan]:
    """The best schedule of known pages. `times`: distances of the slots from the instant, by default 0, 1, 2, …"""
    curves = mirror_curves(as_survival(rates), weights, times)
    plan = best_plan(curves)
    chances = curves.survival.unchanged(np.arange(curves.count), curves.times[plan.slots])
    return mirror(plan.slots, hopeless_pages(chances)), plan


def hopeless_pages(chances: Numbers) -> tuple[int, ...]:
    """Pages whose probability to be sharp is below 1/e. Beyond that point a page gains less from a slot further inside
    than a colder page would, so the optimal plan gives the slot to the colder page."""
    return tuple(int(page) for page in np.flatnonzero(chances < np.exp(-1.0)))


def best_revisits(
    rates: ArrayLike | Survival,
    visited_before: ArrayLike,
    weights: ArrayLike | None = None,
    times: ArrayLike | None = None,
) -> SlotPlan:
    """The best order of revisits. `visited_before`: by page, the time from its visit to the instant."""
    return best_plan(revisit_curves(as_survival(rates), weights, visited_before, times))


def best_plan(curves: WorthCurves) -> SlotPlan:
    """The exact plan for small sites, else the best of the approximate plans; with a bound."""
    if curves.count == 1:
        worth = curves.total(np.zeros(1, dtype=np.intp))
        return SlotPlan(np.zeros(1, dtype=np.intp), worth, worth)
    if curves.count > _TABLE_UP_TO:
        return _large_plan(curves)
    plan = _front_back_plan(curves) if curves.differ_only_in_rate else _last_visited_first(curves)
    if plan.proved:
        return plan
    plan = _better(plan, _priced_plan(curves))
    return _exact_plan(curves, plan) if curves.count <= EXACT_UP_TO else _with_tighter_bound(curves, plan)


def _hot_to_cold(survival: Survival) -> Indices:
    return np.argsort(-survival.mean_rates(), kind="stable")


def _front_back_plan(curves: WorthCurves) -> SlotPlan:
    """For pages that differ only in rate: the best front-back plan, with and without frozen pages."""
    pages = _hot_to_cold(curves.survival)
    table = curves.table(pages)
    plan = _front_back_with(pages, table, curves.count)
    if plan.proved:
        return plan
    return _better(plan, _front_back_with(pages, table, curves.count - best_segments(curves, pages)[1]))


def _front_back_with(pages: Indices, table: NDArray[np.float64], not_frozen: int) -> SlotPlan:
    slots = np.concatenate([front_back(table[:not_frozen, :not_frozen]), np.arange(not_frozen, pages.size)])
    rows = np.argsort(slots)
    ordered = table[rows]
    return SlotPlan(pages[rows], float(np.trace(ordered)), closing_prices(ordered)[1])


def _priced_plan(curves: WorthCurves) -> SlotPlan:
    prices = knot_prices(curves)
    order = plan_from_prices(curves, prices)
    for _ in range(_DISTANT_PASSES):
        order = _exchange_distant(curves, order)
    order = _exchange_neighbours(curves, order)
    return SlotPlan(order, curves.total(order), prices.bound(curves))


def _large_plan(curves: WorthCurves) -> SlotPlan:
    plan = _priced_plan(curves)
    if curves.differ_only_in_rate:
        pages = _hot_to_cold(curves.survival)
        segmented = pages[np.argsort(segment_slots(curves.count, *best_segments(curves, pages)))]
        order = _exchange_neighbours(curves, segmented)
        return _better(plan, SlotPlan(order, curves.total(order), plan.bound))
    return _better(plan, _last_visited_first(curves))


def _last_visited_first(curves: WorthCurves) -> SlotPlan:
    """The page visited last is revisited first: near the optimum if the visits were planned well."""
    order = _exchange_neighbours(curves, np.argsort(curves.elapsed, kind="stable"))
    plan = SlotPlan(order, curves.total(order), np.inf)
    small = curves.elapsed.any() and curves.count <= _TABLE_UP_TO
    return _with_tighter_bound(curves, plan) if small else plan


def _better(plan: SlotPlan, other: SlotPlan) -> SlotPlan:
    """The better plan with the tighter bound."""
    best = plan if plan.worth >= other.worth else other
    return SlotPlan(best.order, best.worth, min(plan.bound, other.bound))


def _with_tighter_bound(curves: WorthCurves, plan: SlotPlan) -> SlotPlan:
    """The same plan, with a bound from prices of every slot."""
    return SlotPlan(plan.order, plan.worth, min(plan.bound, closing_prices(curves.table(plan.order))[1]))


def _exact_plan(curves: WorthCurves, start: SlotPlan) -> SlotPlan:
    table = curves.table(start.order)
    slots = assign(table, closing_prices(table)[0], np.arange(curves.count))
    order = np.empty_like(start.order)
    order[slots] = start.order
    table = curves.table(order)
    return SlotPlan(order, float(np.trace(table)), closing_prices(table)[1])


def _exchange_neighbours(curves: WorthCurves, order: Indices) -> Indices:
    """Exchange neighbours wherever that increases the worth, even and odd pairs in turn."""
    order = order.copy()
    idle = 0
    for turn in range(_NEIGHBOUR_PASSES):
        inner = np.arange(turn % 2, order.size - 1, 2)
        idle = 0 if _exchange(curves, order, inner, inner + 1) else idle + 1
        if idle == 2:
            break
    return order


def _exchange_distant(curves: WorthCurves, order: Indices) -> Indices:
    """Exchange pages over falling distances wherever that increases the worth."""
    order = order.copy()
    slots = np.arange(order.size)
    distances = np.unique(np.round(2.0 ** np.arange(0.0, np.log2(max(2, order.size)), 0.5)).astype(np.intp))
    for distance in distances[::-1]:
        for half in (0, 1):
            inner = slots[: order.size - distance]
            inner = inner[inner // distance % 2 == half]
            _exchange(curves, order, inner, inner + distance)
    return order


def _exchange(curves: WorthCurves, order: Indices, inner: Indices, outer: Indices) -> bool:
    """Exchange the pages of each pair of slots, in place, where that increases the worth. Says whether any moved."""
    near, far = order[inner], order[outer]
    gain = curves.at(far, inner) + curves.at(near, outer) - curves.at(near, inner) - curves.at(far, outer)
    better = gain > 1e-15
    order[inner[better]], order[outer[better]] = far[better], near[better]
    return bool(better.any())
