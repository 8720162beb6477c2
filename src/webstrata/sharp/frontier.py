"""The frontier of a capture: pages found and not yet visited.

The next page to visit is the one with the least regret. The waiting pages are planned as a mirror schedule, together
with placeholders for the pages not found yet; their rates are quantiles of the known rates. Visiting a page now moves
it from its planned slot to the outermost free slot, and every page planned outside of it one slot inwards. The regret
is the total loss from that. A page that leads to other pages cannot be delayed to a slot so far inside that the pages
behind it have no room left.

Pages of equal weight are planned anew for every visit. Weighted pages are planned anew when enough has changed; in
between, a new page takes the slot of a placeholder with a similar rate. If no unknown pages remain, the plan is optimal
and visits follow it from the outside. On small sites `small_site.py` chooses while pages are unknown.
"""

from __future__ import annotations

import numpy as np

from webstrata.sharp.optimal import best_plan
from webstrata.sharp.rates import Indices, Numbers
from webstrata.sharp.segments import SegmentSplit
from webstrata.sharp.site_size import SiteSize
from webstrata.sharp.small_site import SMALL_UP_TO, next_on_small_site
from webstrata.sharp.survival import Survival, mirror_curves, survival_of_beliefs

TIE = 0.05
"""While pages are unknown, pages whose regret is within this of the least (in pages of mean weight) tie."""
_TIE_SHARE = 0.2
"""The tie is at most this share of the plan's mean loss per page: if little is lost, small differences matter."""
_HELD_BACK = 2.0
"""A waiting page holds back this multiple of its share of the unknown pages, because other waiting pages hold back
theirs as well."""
_REPLAN_EVERY = 25
"""A weighted plan is used until one in this many of its pages was added or removed."""


class Frontier:
    """Chooses the next page to visit. Rows are numbered in the order of `add`; rates are per slot, and `shape` is that
    of the Gamma belief about the rate (infinite: the rate is known exactly)."""

    def __init__(self) -> None:
        self._waiting: dict[int, None] = {}
        self._rates = np.zeros(0)
        self._shapes = np.zeros(0)
        self._weights = np.zeros(0)
        self._depths = np.zeros(0, dtype=np.intp)
        self._split = SegmentSplit()
        self._planned_slots: dict[int, int] = {}
        """Slots of known rows in the last weighted plan."""
        self._placeholders: list[tuple[float, int]] = []
        """Rate and slot of each placeholder in that plan, coldest first."""
        self._changes = 0
        """Pages added and removed since that plan."""
        self._final_order: list[int] | None = None
        """Rows by slot if no pages are unknown."""

    def add(self, rate: float, shape: float, weight: float, depth: int) -> None:
        """Add a page that was found."""
        self._waiting[self._rates.size] = None
        self._rates = np.append(self._rates, rate)
        self._shapes = np.append(self._shapes, shape)
        self._weights = np.append(self._weights, weight)
        self._depths = np.append(self._depths, depth)
        self._final_order = None
        self._changes += 1

    def remove(self, row: int) -> None:
        """Remove a page that was visited or given up."""
        if row not in self._waiting:
            return
        del self._waiting[row]
        self._changes += 1
        if self._final_order and row in self._final_order:
            self._final_order.remove(row)

    def waiting(self) -> Indices:
        return np.fromiter(self._waiting, dtype=np.intp, count=len(self._waiting))

    def depths(self) -> Indices:
        return self._depths[self.waiting()]

    def next(self, unknown: int, site: SiteSize, *, estimated: bool) -> int:
        """The row to visit now, if `unknown` pages are still to be found; `estimated`: their number is not certain."""
        rows = self.waiting()
        if unknown <= 0:
            return self._outermost(rows)
        if rows.size == 1:
            return int(rows[0])
        mostly_visited = self._rates.size - rows.size >= rows.size + unknown
        if self._rates.size + unknown <= SMALL_UP_TO and (mostly_visited or not estimated):
            waiting = survival_of_beliefs(self._rates[rows], self._shapes[rows])
            chosen = next_on_small_site(waiting, self._weights[rows], site.shares(self._depths[rows], unknown))
            if chosen is not None:
                return int(rows[chosen])
        survival = self._with_placeholders(rows, unknown)
        mean_weight = float(self._weights.mean())
        weights = np.concatenate([self._weights[rows], np.full(unknown, mean_weight)])
        equal = bool((weights == weights[0]).all())
        order = self._split.order(survival) if equal else self._weighted_order(rows, survival, weights)
        innermost = np.zeros(order.size, dtype=np.intp)
        innermost[: rows.size] = int(_HELD_BACK * unknown / rows.size)
        regret = np.empty(order.size)
        regret[order], plan_loss = _regrets(survival.subset(order), weights[order], innermost[order])
        tie = min(TIE * mean_weight, _TIE_SHARE * plan_loss / order.size)
        return int(rows[self._least(regret[: rows.size], rows, tie)])

    def _with_placeholders(self, rows: Indices, unknown: int) -> Survival:
        """The waiting pages, then the placeholders: quantiles of the known rates, each with the shape of the nearest
        page."""
        shares = (np.arange(unknown) + 0.5) / unknown
        by_rate = np.argsort(self._rates, kind="stable")
        nearest = by_rate[np.round(shares * (by_rate.size - 1)).astype(np.intp)]
        rates = np.concatenate([self._rates[rows], np.quantile(self._rates, shares)])
        return survival_of_beliefs(rates, np.concatenate([self._shapes[rows], self._shapes[nearest]]))

    def _outermost(self, rows: Indices) -> int:
        if self._final_order is None:
            survival = survival_of_beliefs(self._rates[rows], self._shapes[rows])
            plan = best_plan(mirror_curves(survival, self._weights[rows], None))
            self._final_order = [int(row) for row in rows[plan.order]]
        return self._final_order[-1]

    def _weighted_order(self, rows: Indices, survival: Survival, weights: Numbers) -> Indices:
        rates = survival.mean_rates()
        if not self._placeholders or self._changes * _REPLAN_EVERY > rates.size:
            slots = best_plan(mirror_curves(survival, weights, None)).slots
            self._planned_slots = dict(zip(rows.tolist(), slots[: rows.size].tolist(), strict=True))
            self._placeholders = list(zip(rates[rows.size :].tolist(), slots[rows.size :].tolist(), strict=True))
            self._changes = 0
        placeholder_rates, placeholder_slots = np.array(self._placeholders).T
        similar = np.minimum(np.searchsorted(placeholder_rates, rates), placeholder_rates.size - 1)
        slots = placeholder_slots[similar]
        slots[: rows.size] = [self._planned_slots.get(int(row), slots[i]) for i, row in enumerate(rows)]
        return np.argsort(slots, kind="stable")

    def _least(self, regret: Numbers, rows: Indices, tie: float) -> int:
        """The page of least regret. Among pages that tie: the shallowest, which leads to most pages; then the hottest;
        then the first found."""
        near = np.flatnonzero(regret <= regret.min() + tie)
        return int(near[np.lexsort((near, -self._rates[rows[near]], self._depths[rows[near]]))[0]])


def _regrets(survival: Survival, weights: Numbers, innermost: Indices) -> tuple[Numbers, float]:
    """The regret of each page, and the total loss of the plan (total weight minus expected worth).

    Pages are in the order of their planned slots, innermost first. `innermost`: the innermost slot that each page can
    be delayed to.
    """
    curves = mirror_curves(survival, weights, None)
    slots = np.arange(survival.count)
    planned = curves.at(slots, slots)
    inwards = curves.at(slots[1:], slots[:-1]) - planned[1:]
    gained_outside = np.concatenate([np.cumsum(inwards[::-1])[::-1], [0.0]])
    latest = np.maximum(slots, np.minimum(innermost, slots[-1]))
    outermost = curves.at(slots, np.full(slots.size, slots[-1]))
    regret = np.asarray(curves.at(slots, latest) - outermost - gained_outside[latest])
    return regret, float((weights - planned).sum())
