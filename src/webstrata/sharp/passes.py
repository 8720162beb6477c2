"""Plans of the passes of a capture whose downloads take different times.

A page whose download takes a minute delays all pages behind it by a minute. The time of a slot then depends on the
pages inside of it, and the optimal order is no longer a linear assignment. The search starts from the optimal order for
slots of the mean duration. It exchanges neighbours wherever both together gain, which delays no other page; it moves
slow pages to where their gain, minus the loss of the pages that they delay, is greatest; and it repeats. The bound is
the optimal assignment to the slots that the fastest order of pages would have: no order is better.

Every further pass over the pages defines a new instant, after the last download of each page. A page that was found
changed is best downloaded just before the new instant and again just after it, which delays the other pages.
`further_pass` computes which of the two plans makes more pages sharp.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike

from webstrata.errors import UsageError
from webstrata.sharp.optimal import SlotPlan, best_plan
from webstrata.sharp.rates import Indices, Numbers, checked_rates, checked_weights
from webstrata.sharp.survival import Survival, WorthCurves, as_survival

_ROUNDS = 8
_NEIGHBOUR_PASSES = 500
_CHUNK = 512
_TOLERANCE = 1e-9
_REINSERT_UP_TO = 40
_BOUND_UP_TO = 1500
"""The bound takes as long to compute as the plan: larger sites get none."""


class PassPages(Struct, frozen=True):
    """Pages to be downloaded again: their survival, weights and durations."""

    survival: Survival
    weights: Numbers
    durations_s: Numbers
    """From the start of a page's download to the start of the next one."""

    def first_s(self) -> float:
        """The time from the instant to the first download after it: the download at the instant takes time as well."""
        return float(np.median(self.durations_s))


class RevisitPass(Struct, frozen=True):
    """The downloads of a pass and the expected outcome."""

    before: tuple[int, ...]
    """Pages to be downloaded before the instant, in order."""
    after: tuple[int, ...]
    """All pages, in the order of their downloads after the instant."""
    chances: Numbers
    """By page: the probability of equal contents on both sides of the instant."""
    worth: float


def revisits(pages: PassPages, elapsed_s: ArrayLike) -> RevisitPass:
    """The best order of revisits, for downloads that were made `elapsed_s` before the instant."""
    plan = uneven_revisits(pages.survival, elapsed_s, pages.weights, pages.durations_s, pages.first_s())
    return in_order(pages, elapsed_s, plan.order.tolist())


def in_order(pages: PassPages, elapsed_s: ArrayLike, order: Sequence[int]) -> RevisitPass:
    """The pass that downloads all pages in the given order."""
    rows = np.asarray(order, dtype=np.intp)
    spans = np.asarray(elapsed_s, dtype=np.float64) + start_times(pages.durations_s, rows, pages.first_s())
    chances = pages.survival.unchanged(np.arange(rows.size), spans)
    return RevisitPass((), tuple(rows.tolist()), chances, float(np.dot(pages.weights, chances)))


def further_pass(pages: PassPages, elapsed_s: ArrayLike, blurred: Sequence[int]) -> RevisitPass:
    """The better of two plans: all pages again now, or the blurred pages before and after a new instant.

    `elapsed_s`: by page, the time since its last download.
    """
    elapsed = np.asarray(elapsed_s, dtype=np.float64)
    immediate = revisits(pages, elapsed)
    if not blurred:
        return immediate
    rows = np.asarray(blurred, dtype=np.intp)
    durations = pages.durations_s[rows]
    inside_out = uneven_mirror(pages.survival.subset(rows), pages.weights[rows], durations).order
    elapsed_then = elapsed + durations.sum()
    elapsed_then[rows] = start_times(durations, inside_out, 0.0) + durations
    prepared = revisits(pages, elapsed_then)
    if prepared.worth <= immediate.worth:
        return immediate
    return RevisitPass(tuple(rows[inside_out[::-1]].tolist()), prepared.after, prepared.chances, prepared.worth)


def uneven_mirror(rates: ArrayLike | Survival, weights: ArrayLike | None, durations: ArrayLike) -> SlotPlan:
    """A mirror schedule in which page i takes `durations[i]` units of time on either side."""
    survival = as_survival(rates)
    return _best_order(_queue(survival, weights, np.zeros(survival.count), durations, first=0.0, sides=2.0))


def uneven_revisits(
    rates: ArrayLike | Survival,
    visited_before: ArrayLike,
    weights: ArrayLike | None,
    durations: ArrayLike,
    first: float,
) -> SlotPlan:
    """Revisits after visits that were made `visited_before` the instant; the first revisit is `first` after it."""
    elapsed = checked_rates(visited_before)
    return _best_order(_queue(as_survival(rates), weights, elapsed, durations, first=first, sides=1.0))


def start_times(durations: ArrayLike, order: Indices, first: float) -> Numbers:
    """By page: when its download starts if pages are downloaded in this order, the first one at `first`."""
    column = checked_rates(durations)
    times = np.empty(order.size)
    times[order] = first + np.concatenate([[0.0], np.cumsum(column[order[:-1]])])
    return times


@dataclass(frozen=True)
class _SlowPageQueue:
    """Pages that are downloaded one after the other: page i delays all pages behind it by `durations[i]`."""

    curves: WorthCurves
    """Only its survival, weights and elapsed times are used; its slot times are not."""
    durations: Numbers
    first: float
    """From the instant to the innermost slot."""
    sides: float
    """2 for a mirror schedule, in which every delay counts on both sides of the instant; else 1."""

    def times(self, order: Indices) -> Numbers:
        delays = np.concatenate([[0.0], np.cumsum(self.durations[order[:-1]])])
        return self.sides * (self.first + delays)

    def plan_for(self, times: Numbers) -> SlotPlan:
        return best_plan(replace(self.curves, times=times))

    def worth(self, order: Indices) -> float:
        return float(self.curves.after(order, self.times(order)).sum())


def _queue(
    survival: Survival, weights: ArrayLike | None, elapsed: Numbers, durations: ArrayLike, *, first: float, sides: float
) -> _SlowPageQueue:
    column = checked_rates(durations)
    if column.size != survival.count or elapsed.size != survival.count:
        raise UsageError("Every page needs a duration and, for revisits, the time since its visit.")
    checked = checked_weights(weights, survival.count)
    return _SlowPageQueue(WorthCurves(survival, checked, elapsed, np.zeros(survival.count)), column, first, sides)


def _best_order(queue: _SlowPageQueue) -> SlotPlan:
    count = queue.durations.size
    plan = queue.plan_for(queue.sides * (queue.first + queue.durations.mean() * np.arange(count)))
    if count == 1 or np.ptp(queue.durations) == 0.0:
        return plan
    best = _exchange_neighbours(queue, plan.order)
    for _ in range(_ROUNDS):
        candidate = _exchange_neighbours(queue, _move_slow_pages(queue, best))
        if queue.worth(candidate) <= queue.worth(best) + _TOLERANCE:
            break
        best = candidate
    fastest_first = np.argsort(queue.durations, kind="stable")
    if count <= _REINSERT_UP_TO:
        best = max((_reinsert(queue, start) for start in (best, fastest_first)), key=queue.worth)
    bound = queue.plan_for(queue.times(fastest_first)).bound if count <= _BOUND_UP_TO else np.inf
    return SlotPlan(best, queue.worth(best), bound)


def _move_slow_pages(queue: _SlowPageQueue, order: Indices) -> Indices:
    """Move each slow page to where its gain, minus the loss of the pages that it delays, is greatest."""
    times = queue.times(order)
    delayed = queue.curves.after(order, times + queue.sides * queue.durations.mean())
    losses = queue.curves.after(order, times) - delayed
    losses_outside = np.concatenate([np.cumsum(losses[::-1])[::-1][1:], [0.0]])
    targets = times.copy()
    slow = np.flatnonzero(queue.durations[order] > np.median(queue.durations))
    for start in range(0, slow.size, _CHUNK):
        indices = slow[start : start + _CHUNK]
        pages = order[indices]
        relative = queue.durations[pages] / queue.durations.mean()
        gains = queue.curves.after(pages[:, None], times[None, :]) - relative[:, None] * losses_outside[None, :]
        targets[indices] = times[gains.argmax(axis=1)]
    return order[np.lexsort((queue.durations[order], targets))]


def _reinsert(queue: _SlowPageQueue, order: Indices) -> Indices:
    """For few pages: try each page at every index, make the best move, and repeat until no move gains."""
    count = order.size
    indices = np.arange(count)
    moves = np.stack([np.insert(np.delete(indices, old), new, old) for old in indices for new in indices])
    worth = queue.worth(order)
    while True:
        candidates = order[moves]
        delays = np.cumsum(queue.durations[candidates], axis=1) - queue.durations[candidates]
        worths = queue.curves.after(candidates, queue.sides * (queue.first + delays)).sum(axis=1)
        best = int(np.argmax(worths))
        if worths[best] <= worth + _TOLERANCE:
            return order
        order, worth = candidates[best], float(worths[best])


def _exchange_neighbours(queue: _SlowPageQueue, order: Indices) -> Indices:
    """Exchange neighbours wherever both together gain, even and odd pairs in turn; no other page is delayed by it."""
    order = order.copy()
    curves, idle = queue.curves, 0
    for turn in range(_NEIGHBOUR_PASSES):
        inner = np.arange(turn % 2, order.size - 1, 2)
        near, far, at = order[inner], order[inner + 1], queue.times(order)[inner]
        now = curves.after(near, at) + curves.after(far, at + queue.sides * queue.durations[near])
        then = curves.after(far, at) + curves.after(near, at + queue.sides * queue.durations[far])
        better = then > now + 1e-12
        order[inner[better]], order[inner[better] + 1] = far[better], near[better]
        idle = 0 if better.any() else idle + 1
        if idle == 2:
            break
    return order
