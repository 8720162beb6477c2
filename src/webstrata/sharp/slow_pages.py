"""The order of pages whose downloads take different times.

A page whose download takes a minute delays all pages behind it by a minute. The time of a slot then depends on the
pages inside of it, and the optimal order is no longer a linear assignment. It depends only on their set, however, so up
to fourteen pages dynamic programming over sets of pages finds the optimal order.

For more pages the search starts from the optimal order for slots of the mean duration. It exchanges neighbours wherever
both together gain, which delays no other page; it moves slow pages to where their gain, minus the loss of the pages
that they delay, is greatest; and it repeats. Up to forty pages, all moves and exchanges of single pages are tried. Then
every window of consecutive pages gets its optimal order; a window takes equally long in any order. The bound is the
optimal assignment to the slots that the fastest order of pages would have: no order is better.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from webstrata.errors import UsageError
from webstrata.sharp.optimal import SlotPlan, best_plan
from webstrata.sharp.rates import Indices, Numbers, checked_rates, checked_weights
from webstrata.sharp.survival import Survival, WorthCurves

EXACT_SLOW_UP_TO = 14
"""The search over all sets of pages takes 8 ms for this number of pages; each further page doubles it."""
_WINDOW = 8
_WINDOWS_UP_TO = 2000
_WINDOW_ROUNDS = 6
_ROUNDS = 8
_NEIGHBOUR_PASSES = 500
_CHUNK = 512
_TOLERANCE = 1e-9
_MOVES_UP_TO = 40
_BOUND_UP_TO = 1500
"""The bound takes as long to compute as the plan: larger sites get none."""


@dataclass(frozen=True)
class SlowPageQueue:
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


def slow_page_queue(
    survival: Survival, weights: ArrayLike | None, elapsed: Numbers, durations: ArrayLike, *, first: float, sides: float
) -> SlowPageQueue:
    column = checked_rates(durations)
    if column.size != survival.count or elapsed.size != survival.count:
        raise UsageError("Every page needs a duration and, for revisits, the time since its visit.")
    checked = checked_weights(weights, survival.count)
    return SlowPageQueue(WorthCurves(survival, checked, elapsed, np.zeros(survival.count)), column, first, sides)


def best_order(queue: SlowPageQueue) -> SlotPlan:
    count = queue.durations.size
    plan = queue.plan_for(queue.sides * (queue.first + queue.durations.mean() * np.arange(count)))
    if count == 1 or np.ptp(queue.durations) == 0.0:
        return plan
    fastest_first = np.argsort(queue.durations, kind="stable")
    if count <= EXACT_SLOW_UP_TO:
        best = exact_orders(queue, plan.order[None, :], np.zeros(1))[0]
    else:
        best = _searched_order(queue, plan.order, fastest_first)
    bound = queue.plan_for(queue.times(fastest_first)).bound if count <= _BOUND_UP_TO else np.inf
    return SlotPlan(best, queue.worth(best), bound)


def _searched_order(queue: SlowPageQueue, start: Indices, fastest_first: Indices) -> Indices:
    best = _exchange_neighbours(queue, start)
    for _ in range(_ROUNDS):
        candidate = _exchange_neighbours(queue, _move_slow_pages(queue, best))
        if queue.worth(candidate) <= queue.worth(best) + _TOLERANCE:
            break
        best = candidate
    if start.size <= _MOVES_UP_TO:
        starts = (best, fastest_first, _by_loss_per_time(queue))
        best = max((_best_moves(queue, order) for order in starts), key=queue.worth)
    return _best_windows(queue, best) if start.size <= _WINDOWS_UP_TO else best


def _by_loss_per_time(queue: SlowPageQueue) -> Indices:
    """The pages that lose most while one of them is downloaded come first, per unit of their own time."""
    pages = np.arange(queue.durations.size)
    first = np.full(pages.size, queue.sides * queue.first)
    loss = queue.curves.after(pages, first) - queue.curves.after(pages, first + queue.sides * queue.durations.mean())
    return np.argsort(-loss / np.maximum(queue.durations, 1e-12), kind="stable")


def _best_windows(queue: SlowPageQueue, order: Indices) -> Indices:
    """Every window of consecutive pages in its optimal order, windows at two offsets in turn, until none gains."""
    order, worth = order.copy(), queue.worth(order)
    for _ in range(_WINDOW_ROUNDS):
        for offset in (0, _WINDOW // 2):
            starts = np.arange(offset, order.size - _WINDOW + 1, _WINDOW)
            windows = starts[:, None] + np.arange(_WINDOW)
            delays = np.concatenate([[0.0], np.cumsum(queue.durations[order])])[starts]
            order[windows] = exact_orders(queue, order[windows], delays)
        if queue.worth(order) <= worth + _TOLERANCE:
            break
        worth = queue.worth(order)
    return order


def exact_orders(queue: SlowPageQueue, pages: Indices, delays: Numbers) -> Indices:
    """The optimal order of each row of pages, all of which come after a delay.

    Sets of the pages of a row are numbered by their bits. The page that follows a set starts after the durations of the
    set, whatever its order. So the best order of a set is its best last page after the best order of the others.
    """
    rows, count = pages.shape
    sets = np.arange(1 << count)
    members = (sets[:, None] >> np.arange(count)) & 1
    elapsed = delays[:, None] + queue.durations[pages] @ members.T
    times = queue.sides * (queue.first + elapsed)
    following = queue.curves.after(pages[:, :, None], times[:, None, :])
    best = np.zeros((rows, sets.size))
    last = np.zeros((rows, sets.size), dtype=np.intp)
    sizes = members.sum(axis=1)
    for size in range(1, count + 1):
        wholes = sets[sizes == size]
        options = np.full((rows, count, wholes.size), -np.inf)
        for page in range(count):
            has = (wholes >> page) & 1 == 1
            others = wholes[has] ^ (1 << page)
            options[:, page, has] = best[:, others] + following[:, page, others]
        last[:, wholes] = options.argmax(axis=1)
        best[:, wholes] = options.max(axis=1)
    order = np.empty_like(pages)
    remaining = np.full(rows, sets.size - 1)
    every = np.arange(rows)
    for index in range(count - 1, -1, -1):
        page = last[every, remaining]
        order[:, index] = pages[every, page]
        remaining ^= 1 << page
    return order


def _move_slow_pages(queue: SlowPageQueue, order: Indices) -> Indices:
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


def _best_moves(queue: SlowPageQueue, order: Indices) -> Indices:
    """For few pages: of all moves of one page and all exchanges of two, make the best, and repeat until none gains."""
    indices = np.arange(order.size)
    moves = [np.insert(np.delete(indices, old), new, old) for old in indices for new in indices]
    moves += [
        np.where(indices == one, other, np.where(indices == other, one, indices))
        for one in indices
        for other in indices[:one]
    ]
    moved = np.stack(moves)
    worth = queue.worth(order)
    while True:
        candidates = order[moved]
        delays = np.cumsum(queue.durations[candidates], axis=1) - queue.durations[candidates]
        worths = queue.curves.after(candidates, queue.sides * (queue.first + delays)).sum(axis=1)
        best = int(np.argmax(worths))
        if worths[best] <= worth + _TOLERANCE:
            return order
        order, worth = candidates[best], float(worths[best])


def _exchange_neighbours(queue: SlowPageQueue, order: Indices) -> Indices:
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
