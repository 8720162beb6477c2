"""The best schedule of all, and a bound that no schedule passes.

Survival is convex in the span, so f(a + r) <= (f(2a) + f(2r)) / 2: of the two mirror schedules made from the visits or
from the revisits of any schedule, one is at least as good. The best schedule is therefore a linear assignment of pages
to slots, and so are the best revisits once visits are made.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from webstrata.sharp.assignment import assign, closing_prices
from webstrata.sharp.rates import Numbers, Indices
from webstrata.sharp.slot_prices import rounded
from webstrata.sharp.slot_prices import swapped_afar
from webstrata.sharp.slot_prices import swapped_neighbours
from webstrata.sharp.schedule import SharpSchedule, mirror
from webstrata.sharp.segments import best_segments, front_back, segment_slots
from webstrata.sharp.slot_prices import knot_bound, knot_prices, knots
from webstrata.sharp.survival import Survival, WorthCurves, as_survival, mirror_curves, revisit_curves

EXACT_UP_TO = 400
"""Sites of this size and below get the exact plan, whatever their weights."""
_TABLE_UP_TO = 1500
"""Up to here all pages by all slots fit into one table."""
_SAME = 1e-9
_PASSES = 60
_AFAR = 2


@dataclass(frozen=True)
class SlotPlan:
    """Pages by slot, what that is worth, and what no plan can be worth more than."""

    order: Indices
    worth: float
    bound: float

    @property
    def slots(self) -> Indices:
        """Slot by page."""
        slots = np.empty(self.order.size, dtype=np.intp)
        slots[self.order] = np.arange(self.order.size)
        return slots

    @property
    def proved(self) -> bool:
        """The plan meets its bound: it is the best, not only near it."""
        return self.bound - self.worth <= _SAME * max(1.0, self.worth)


def optimal(
    rates: ArrayLike | Survival, weights: ArrayLike | None = None, times: ArrayLike | None = None
) -> tuple[SharpSchedule, SlotPlan]:
    """The best schedule of known pages. `times`: distances of the slots from the instant, if they are not 0, 1, 2, …"""
    curves = mirror_curves(as_survival(rates), weights, times)
    plan = best_plan(curves)
    chances = np.empty(curves.count)
    chances[plan.order] = curves.survival.unchanged(plan.order, curves.times)
    return mirror(plan.slots, hopeless_pages(chances)), plan


def hopeless_pages(chances: Numbers) -> tuple[int, ...]:
    """Pages whose chance to be sharp is below 1/e: past that point a page gains less by standing one slot further
    inside than a colder one would, so it has made room."""
    return tuple(int(page) for page in np.flatnonzero(chances < np.exp(-1.0)))


def best_revisits(
    rates: ArrayLike | Survival,
    visited_before: ArrayLike,
    weights: ArrayLike | None = None,
    times: ArrayLike | None = None,
) -> SlotPlan:
    """The best order of revisits when visits are made: `visited_before` is each page's time from visit to instant."""
    return best_plan(revisit_curves(as_survival(rates), weights, visited_before, times))


def best_plan(curves: WorthCurves) -> SlotPlan:
    """Exact for small sites; else the best of the quick plans, with a bound beside it."""
    if curves.count == 1:
        worth = curves.worth(np.zeros(1, dtype=np.intp))
        return SlotPlan(np.zeros(1, dtype=np.intp), worth, worth)
    if curves.count > _TABLE_UP_TO:
        return _large(curves)
    plan = _tabled(curves) if curves.alike else _last_first(curves)
    if plan.proved:
        return plan
    plan = _better(plan, _priced(curves))
    return _exact(curves, plan) if curves.count <= EXACT_UP_TO else _closed(curves, plan)


def _hot_to_cold(survival: Survival) -> Indices:
    return np.argsort(-survival.hotness(), kind="stable")


def _split(curves: WorthCurves) -> Indices:
    pages = _hot_to_cold(curves.survival)
    return pages[np.argsort(segment_slots(curves.count, *best_segments(curves, pages)))]


def _tabled(curves: WorthCurves) -> SlotPlan:
    """Pages that differ only in rate: from the inside or the outside, hottest first; then with some of them frozen."""
    pages = _hot_to_cold(curves.survival)
    table = curves.table(pages)
    plan = _front_back(pages, table, curves.count)
    if plan.proved:
        return plan
    return _better(plan, _front_back(pages, table, curves.count - best_segments(curves, pages)[1]))


def _front_back(pages: Indices, table: NDArray[np.float64], moving: int) -> SlotPlan:
    slots = np.concatenate([front_back(table[:moving, :moving]), np.arange(moving, pages.size)])
    rows = np.argsort(slots)
    ordered = table[rows]
    return SlotPlan(pages[rows], float(np.trace(ordered)), closing_prices(ordered)[1])


def _priced(curves: WorthCurves) -> SlotPlan:
    places = knots(curves.times)
    prices = knot_prices(curves, places)
    order = rounded(curves, places, prices)
    for _ in range(_AFAR):
        order = swapped_afar(curves, order)
    order = swapped_neighbours(curves, order, _PASSES)
    return SlotPlan(order, curves.worth(order), knot_bound(curves, places, prices))


def _large(curves: WorthCurves) -> SlotPlan:
    plan = _priced(curves)
    if curves.alike:
        order = swapped_neighbours(curves, _split(curves), _PASSES)
        return _better(plan, SlotPlan(order, curves.worth(order), plan.bound))
    return _better(plan, _last_first(curves))


def _last_first(curves: WorthCurves) -> SlotPlan:
    """Last visited, first revisited: near the best where the visits were planned well."""
    order = swapped_neighbours(curves, np.argsort(curves.heads, kind="stable"), _PASSES)
    plan = SlotPlan(order, curves.worth(order), np.inf)
    return _closed(curves, plan) if curves.heads.any() and curves.count <= _TABLE_UP_TO else plan


def _better(one: SlotPlan, other: SlotPlan) -> SlotPlan:
    """The better plan under the tighter bound."""
    best = one if one.worth >= other.worth else other
    return SlotPlan(best.order, best.worth, min(one.bound, other.bound))


def _closed(curves: WorthCurves, plan: SlotPlan) -> SlotPlan:
    """The same plan, its bound tightened by prices for every slot."""
    return SlotPlan(plan.order, plan.worth, min(plan.bound, closing_prices(curves.table(plan.order))[1]))


def _exact(curves: WorthCurves, start: SlotPlan) -> SlotPlan:
    table = curves.table(start.order)
    slots = assign(table, closing_prices(table)[0], np.arange(curves.count))
    order = np.empty_like(start.order)
    order[slots] = start.order
    table = curves.table(order)
    return SlotPlan(order, float(np.trace(table)), closing_prices(table)[1])
