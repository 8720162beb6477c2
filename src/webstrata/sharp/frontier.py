"""How many pages a site has that are not found yet, guessed from how many new ones its visits found.

Two guesses, each too high where the other is not; the lower counts, and never more than three times what is known:

- by the latest visits: if they find y new pages in the mean, and those y each in turn, every waiting page leads to
  y + y^2 + … more. Blind while y is 1 or above.
- by depth: pages lead to as many as others of their depth did, drawn towards the mean of all; those deeper than any
  visited are taken to lead to few.

The pages found and not yet visited, with stand-ins for those not found yet: which one is to be visited now.

Unknown pages are drawn as quantiles of the rates seen so far, and lie behind the waiting ones. Pages of equal weight
are planned anew for every visit; weighted ones when enough has changed, and in between a page stands where the plan
has a stand-in like it.
Once no page is unknown the plan is the best there is, and visits follow it from the outside.
"""

from __future__ import annotations

import msgspec
import numpy as np

from webstrata.sharp.optimal import best_plan
from webstrata.sharp.rates import Numbers, Indices
from webstrata.sharp.segments import SegmentSplit
from webstrata.sharp.segments import regrets
from webstrata.sharp.segments import split_order
from webstrata.sharp.survival import Survival, believed, mirror_curves

_LATEST = 0.25
"""The part of the visits that is the latest."""
_LEAST = 20
_GROWTH = 3.0
_PRIOR_VISITS = 2.0
_DEEPER = 0.7
"""New pages per page at depths not visited, at most."""


class SiteSize(msgspec.Struct):
    found: list[int] = msgspec.field(default_factory=list)
    """New pages by visit."""
    visits_at: list[int] = msgspec.field(default_factory=list)
    """Visits by depth."""
    found_at: list[int] = msgspec.field(default_factory=list)
    """New pages that they found."""

    def learn(self, depth: int, new: int) -> None:
        """A page at this depth was visited and named this many pages for the first time."""
        self.found.append(new)
        while len(self.visits_at) <= depth:
            self.visits_at.append(0)
            self.found_at.append(0)
        self.visits_at[depth] += 1
        self.found_at[depth] += new

    def unknown(self, waiting: Indices, known: int) -> int:
        """Pages still to be found, with pages waiting at these depths and so many known in all."""
        if not waiting.size:
            return 0
        return round(min(_GROWTH * known, self._by_latest(waiting.size), self._by_depth(waiting)))

    def _by_latest(self, waiting: int) -> float:
        latest = self.found[-max(_LEAST, round(len(self.found) * _LATEST)) :]
        each = sum(latest) / len(latest) if latest else 1.0
        return np.inf if each >= 1.0 else waiting * each / (1.0 - each)

    def _by_depth(self, waiting: Indices) -> float:
        if not self.found:
            return np.inf
        mean = min(_DEEPER, sum(self.found) / len(self.found))
        deepest = max(int(waiting.max()), len(self.visits_at) - 1) + 2
        behind = np.zeros(deepest + 1)
        for depth in range(deepest - 1, -1, -1):
            visits, found = self._at(depth)
            each = (found + _PRIOR_VISITS * mean) / (visits + _PRIOR_VISITS) if depth else found / max(1, visits)
            behind[depth] = min(1e9, each * (1.0 + behind[depth + 1]))
        return float(behind[waiting].sum())

    def _at(self, depth: int) -> tuple[int, int]:
        return (self.visits_at[depth], self.found_at[depth]) if depth < len(self.visits_at) else (0, 0)


TIE = 0.05
"""Pages whose regret is within this of the least (in pages of mean weight) tie while there are pages to be found."""
_SHARE = 0.2
"""Nor is it more than this part of what the plan loses by page: where little is lost, order matters in small."""
_BEHIND = 2.0
"""A waiting page keeps back so many times its share of the unknown pages: others that wait keep theirs back too."""
_STALE = 25
"""A weighted plan serves until one in so many of its pages has come or gone."""


class FrontierPlan(msgspec.Struct):
    """What was planned last, plain: a capture that is resumed goes on with it."""

    split: SegmentSplit = msgspec.field(default_factory=SegmentSplit)
    places: dict[int, int] = msgspec.field(default_factory=dict)
    """Slots of known rows in the last weighted plan."""
    strangers: list[tuple[float, int]] = msgspec.field(default_factory=list)
    """Rate and slot of each stand-in in it, coldest first."""
    moved: int = 0
    """Pages that came or went since."""
    last_leg: list[int] | None = None
    """Rows by slot once nothing is unknown."""


class Frontier:
    """Rows are numbered in the order of their coming; rates are per slot, with the shapes of the beliefs about them."""

    def __init__(self, outlook: FrontierPlan | None = None) -> None:
        self.outlook = outlook or FrontierPlan()
        self._waiting: dict[int, None] = {}
        self._rates = np.zeros(0)
        self._shapes = np.zeros(0)
        self._weights = np.zeros(0)
        self._depths = np.zeros(0, dtype=np.intp)

    def add(self, rates: Numbers, shapes: Numbers, weights: Numbers, depth: int) -> None:
        """Pages found."""
        self.restore(rates, shapes, weights, np.full(rates.size, depth, dtype=np.intp))
        self.outlook.last_leg = None
        self.outlook.moved += rates.size

    def restore(self, rates: Numbers, shapes: Numbers, weights: Numbers, depths: Indices) -> None:
        """Pages that the outlook knows already."""
        start = self._rates.size
        self._waiting.update(dict.fromkeys(range(start, start + rates.size)))
        self._rates = np.concatenate([self._rates, rates])
        self._shapes = np.concatenate([self._shapes, shapes])
        self._weights = np.concatenate([self._weights, weights])
        self._depths = np.concatenate([self._depths, depths])

    def remove(self, row: int) -> None:
        """Visited, or given up."""
        if row not in self._waiting:
            return
        del self._waiting[row]
        self.outlook.moved += 1
        leg = self.outlook.last_leg
        if leg and row in leg:
            leg.remove(row)

    def waiting(self) -> Indices:
        return np.fromiter(self._waiting, dtype=np.intp, count=len(self._waiting))

    def depths(self) -> Indices:
        return self._depths[self.waiting()]

    def next(self, unknown: int) -> int:
        """The row to visit now, if so many pages are still to be found."""
        rows = self.waiting()
        if unknown <= 0:
            return self._outermost(rows)
        survival = self._with_strangers(rows, unknown)
        mean = float(self._weights.mean())
        weights = np.concatenate([self._weights[rows], np.full(unknown, mean)])
        alike = bool((weights == weights[0]).all())
        order = split_order(survival, self.outlook.split) if alike else self._weighted(rows, survival, weights)
        held = np.zeros(order.size, dtype=np.intp)
        held[: rows.size] = int(_BEHIND * unknown / rows.size)
        lost = np.empty(order.size)
        lost[order], lost_in_all = regrets(survival.some(order), weights[order], held[order])
        tie = min(TIE * mean, _SHARE * lost_in_all / order.size)
        return int(rows[self._least(lost[: rows.size], rows, tie)])

    def _with_strangers(self, rows: Indices, unknown: int) -> Survival:
        """The waiting pages, then stand-ins: as many quantiles of the rates seen so far, each as sure as the page that
        it is nearest to."""
        shares = (np.arange(unknown) + 0.5) / unknown
        known = np.argsort(self._rates, kind="stable")
        like = known[np.round(shares * (known.size - 1)).astype(np.intp)]
        rates = np.concatenate([self._rates[rows], np.quantile(self._rates, shares)])
        return believed(rates, np.concatenate([self._shapes[rows], self._shapes[like]]))

    def _outermost(self, rows: Indices) -> int:
        if self.outlook.last_leg is None:
            survival = believed(self._rates[rows], self._shapes[rows])
            plan = best_plan(mirror_curves(survival, self._weights[rows], None))
            self.outlook.last_leg = [int(row) for row in rows[plan.order]]
        return self.outlook.last_leg[-1]

    def _weighted(self, rows: Indices, survival: Survival, weights: Numbers) -> Indices:
        look, rates = self.outlook, survival.hotness()
        if not look.strangers or look.moved * _STALE > rates.size:
            slots = best_plan(mirror_curves(survival, weights, None)).slots
            look.places = dict(zip(rows.tolist(), slots[: rows.size].tolist(), strict=True))
            look.strangers = list(zip(rates[rows.size :].tolist(), slots[rows.size :].tolist(), strict=True))
            look.moved = 0
        known, slots_of = np.array(look.strangers).T
        like = np.minimum(np.searchsorted(known, rates), known.size - 1)
        slots = slots_of[like]
        slots[: rows.size] = [look.places.get(int(row), slots[place]) for place, row in enumerate(rows)]
        return np.argsort(slots, kind="stable")

    def _least(self, lost: Numbers, rows: Indices, tie: float) -> int:
        """Of those that tie: the shallowest, which leads to most, then the hottest, then the first found."""
        near = np.flatnonzero(lost <= lost.min() + tie)
        return int(near[np.lexsort((near, -self._rates[rows[near]], self._depths[rows[near]]))[0]])
