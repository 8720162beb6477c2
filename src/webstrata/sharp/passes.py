"""Slots that pages make long or short themselves: a page that takes a minute keeps all behind it waiting for a minute.

Then the time of a slot depends on which pages stand inside of it, and the best order is no assignment any more. It is
sought from the best one for slots of the mean time: neighbours change places wherever both together gain, which moves
nobody else; slow pages move to where they gain most, less what those outside lose by waiting for them; and again. No
order is better than the best assignment to the slots that the quickest pages would make: that is the bound.

A further pass over the pages of a capture: in which order, and whether some are better looked at once more before.

Every pass makes a new instant, before which each page's last download lies. A page that was found changed is best
looked at just before the new instant and just after it; the others wait a little longer for that. Which of the two
makes more pages sharp is computed, not guessed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
import numpy as np
from numpy.typing import ArrayLike
from webstrata.errors import UsageError
from webstrata.sharp.optimal import SlotPlan, best_plan
from webstrata.sharp.rates import Numbers, Indices, checked_rates, checked_weights
from webstrata.sharp.survival import Survival, WorthCurves, as_survival
from collections.abc import Sequence
from msgspec import Struct
from webstrata.sharp.rates import Numbers, Indices
from webstrata.sharp.survival import Survival

_ROUNDS = 8
_PASSES = 500
_CHUNK = 512
_SAME = 1e-9
_FEW = 40
_BOUNDED = 1500
"""The bound takes as long as the plan: larger sites go without."""


@dataclass(frozen=True)
class _SlowPageQueue:
    """Pages that wait for one another: page i holds up all behind it by `lasts[i]`."""

    curves: WorthCurves
    """Their times are none of a slot: only survival, weights and heads count."""
    lasts: Numbers
    first: float
    """From the instant to the innermost slot."""
    sides: float
    """2: the order is mirrored at the instant, and every wait counts on both sides."""

    def times(self, order: Indices) -> Numbers:
        waits = np.concatenate([[0.0], np.cumsum(self.lasts[order[:-1]])])
        return self.sides * (self.first + waits)

    def planned(self, times: Numbers) -> SlotPlan:
        return best_plan(replace(self.curves, times=times))

    def worth(self, order: Indices) -> float:
        return float(self.curves.after(order, self.times(order)).sum())


def uneven_mirror(rates: ArrayLike | Survival, weights: ArrayLike | None, lasts: ArrayLike) -> SlotPlan:
    """Visits and revisits in one order, where page i takes `lasts[i]` units of time on either side."""
    survival = as_survival(rates)
    return _best(_queue(survival, weights, np.zeros(survival.count), lasts, first=0.0, sides=2.0))


def uneven_revisits(
    rates: ArrayLike | Survival,
    visited_before: ArrayLike,
    weights: ArrayLike | None,
    lasts: ArrayLike,
    first: float,
) -> SlotPlan:
    """Revisits after visits that lie so long before the instant; the first revisit is `first` after it."""
    heads = checked_rates(visited_before)
    return _best(_queue(as_survival(rates), weights, heads, lasts, first=first, sides=1.0))


def waits(lasts: ArrayLike, order: Indices, first: float) -> Numbers:
    """When each page's turn comes, by page, in this order."""
    column = checked_rates(lasts)
    times = np.empty(order.size)
    times[order] = first + np.concatenate([[0.0], np.cumsum(column[order[:-1]])])
    return times


def _queue(
    survival: Survival, weights: ArrayLike | None, heads: Numbers, lasts: ArrayLike, *, first: float, sides: float
) -> _SlowPageQueue:
    column = checked_rates(lasts)
    if column.size != survival.count or heads.size != survival.count:
        raise UsageError("Every page needs one time that it takes and, for revisits, one since its visit.")
    weighed = checked_weights(weights, survival.count)
    return _SlowPageQueue(WorthCurves(survival, weighed, heads, np.zeros(survival.count)), column, first, sides)


def _best(queue: _SlowPageQueue) -> SlotPlan:
    count = queue.lasts.size
    plan = queue.planned(queue.sides * (queue.first + queue.lasts.mean() * np.arange(count)))
    if count == 1 or np.ptp(queue.lasts) == 0.0:
        return plan
    best = _swapped(queue, plan.order)
    for _ in range(_ROUNDS):
        found = _swapped(queue, _moved(queue, best))
        if queue.worth(found) <= queue.worth(best) + _SAME:
            break
        best = found
    quickest = np.argsort(queue.lasts, kind="stable")
    if count <= _FEW:
        best = max((_reinserted(queue, start) for start in (best, quickest)), key=queue.worth)
    bound = queue.planned(queue.times(quickest)).bound if count <= _BOUNDED else np.inf
    return SlotPlan(best, queue.worth(best), bound)


def _moved(queue: _SlowPageQueue, order: Indices) -> Indices:
    """Every page where it gains most, less what it costs those outside of it to wait for it longer than for others."""
    times = queue.times(order)
    later = queue.curves.after(order, times) - queue.curves.after(order, times + queue.sides * queue.lasts.mean())
    outside = np.concatenate([np.cumsum(later[::-1])[::-1][1:], [0.0]])
    wanted = times.copy()
    slow = np.flatnonzero(queue.lasts[order] > np.median(queue.lasts))
    for start in range(0, slow.size, _CHUNK):
        places = slow[start : start + _CHUNK]
        pages = order[places]
        longer = queue.lasts[pages] / queue.lasts.mean()
        gains = queue.curves.after(pages[:, None], times[None, :]) - longer[:, None] * outside[None, :]
        wanted[places] = times[gains.argmax(axis=1)]
    return order[np.lexsort((queue.lasts[order], wanted))]


def _reinserted(queue: _SlowPageQueue, order: Indices) -> Indices:
    """Few pages: each one tried in every place, the best move made, and again until none gains."""
    count = order.size
    places = np.arange(count)
    moves = np.stack([np.insert(np.delete(places, old), new, old) for old in places for new in places])
    worth = queue.worth(order)
    while True:
        tried = order[moves]
        waited = np.cumsum(queue.lasts[tried], axis=1) - queue.lasts[tried]
        worths = queue.curves.after(tried, queue.sides * (queue.first + waited)).sum(axis=1)
        place = int(np.argmax(worths))
        if worths[place] <= worth + _SAME:
            return order
        order, worth = tried[place], float(worths[place])


def _swapped(queue: _SlowPageQueue, order: Indices) -> Indices:
    """Neighbours change places wherever both together gain, even and odd pairs in turn: nobody else is moved by it."""
    order = order.copy()
    curves, idle = queue.curves, 0
    for turn in range(_PASSES):
        inner = np.arange(turn % 2, order.size - 1, 2)
        near, far, at = order[inner], order[inner + 1], queue.times(order)[inner]
        now = curves.after(near, at) + curves.after(far, at + queue.sides * queue.lasts[near])
        then = curves.after(far, at) + curves.after(near, at + queue.sides * queue.lasts[far])
        better = then > now + 1e-12
        order[inner[better]], order[inner[better] + 1] = far[better], near[better]
        idle = 0 if better.any() else idle + 1
        if idle == 2:
            break
    return order


class RevisitPass(Struct, frozen=True):
    """Downloads to come, and what to expect of them."""

    before: tuple[int, ...]
    """Pages to be looked at before the instant, in order."""
    after: tuple[int, ...]
    """All pages, after the instant, in order."""
    chances: Numbers
    """Of each page to be the same on both sides."""
    worth: float


class PassPages(Struct, frozen=True):
    """Pages to be downloaded again: what is believed of their rates, what they weigh, and how long each takes."""

    survival: Survival
    weights: Numbers
    lasts_s: Numbers
    """From the start of its download to that of the next."""

    def first_s(self) -> float:
        """From the instant to the first download after it: the one in the middle takes its time as well."""
        return float(np.median(self.lasts_s))


def revisits(tour: PassPages, heads_s: ArrayLike) -> RevisitPass:
    """The best order after downloads that lie so many seconds before the instant."""
    plan = uneven_revisits(tour.survival, heads_s, tour.weights, tour.lasts_s, tour.first_s())
    return in_order(tour, heads_s, _whole(plan.order))


def in_order(tour: PassPages, heads_s: ArrayLike, order: Sequence[int]) -> RevisitPass:
    """What a given order of all pages is worth."""
    pages = np.asarray(order, dtype=np.intp)
    spans = np.asarray(heads_s, dtype=np.float64) + waits(tour.lasts_s, pages, tour.first_s())
    chances = tour.survival.unchanged(np.arange(pages.size), spans)
    return RevisitPass((), _whole(pages), chances, float(np.dot(tour.weights, chances)))


def further_pass(tour: PassPages, heads_s: ArrayLike, blurred: Sequence[int]) -> RevisitPass:
    """The better of two: all pages again at once, or the blurred ones before and after the instant.

    `heads_s`: time since each page's last download, as of now.
    """
    heads = np.asarray(heads_s, dtype=np.float64)
    at_once = revisits(tour, heads)
    if not blurred:
        return at_once
    rows = np.asarray(blurred, dtype=np.intp)
    lasts = tour.lasts_s[rows]
    inside = uneven_mirror(tour.survival.some(rows), tour.weights[rows], lasts).order
    later = heads + lasts.sum()
    later[rows] = waits(lasts, inside, 0.0) + lasts
    prepared = revisits(tour, later)
    if prepared.worth <= at_once.worth:
        return at_once
    return RevisitPass(_whole(rows[inside[::-1]]), prepared.after, prepared.chances, prepared.worth)


def _whole(places: Indices) -> tuple[int, ...]:
    return tuple(int(place) for place in places)
