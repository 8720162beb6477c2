"""Plans of the passes of a capture whose downloads take different times.

A page whose download takes a minute delays all pages behind it by a minute; `slow_pages.py` finds the order.

Every further pass over the pages defines a new instant, after the last download of each page. A page that was found
changed is best downloaded just before the new instant and again just after it, which delays the other pages.
`further_pass` computes which of the two plans makes more pages sharp.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike

from webstrata.sharp.optimal import SlotPlan
from webstrata.sharp.rates import Indices, Numbers, checked_rates
from webstrata.sharp.slow_pages import best_order, slow_page_queue
from webstrata.sharp.survival import Survival, as_survival


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
    return best_order(slow_page_queue(survival, weights, np.zeros(survival.count), durations, first=0.0, sides=2.0))


def uneven_revisits(
    rates: ArrayLike | Survival,
    visited_before: ArrayLike,
    weights: ArrayLike | None,
    durations: ArrayLike,
    first: float,
) -> SlotPlan:
    """Revisits after visits that were made `visited_before` the instant; the first revisit is `first` after it."""
    elapsed = checked_rates(visited_before)
    return best_order(slow_page_queue(as_survival(rates), weights, elapsed, durations, first=first, sides=1.0))


def start_times(durations: ArrayLike, order: Indices, first: float) -> Numbers:
    """By page: when its download starts if pages are downloaded in this order, the first one at `first`."""
    column = checked_rates(durations)
    times = np.empty(order.size)
    times[order] = first + np.concatenate([[0.0], np.cumsum(column[order[:-1]])])
    return times
