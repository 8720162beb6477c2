"""A further pass over the pages of a capture: in which order, and whether some are better looked at once more before.

Every pass makes a new instant, before which each page's last download lies. A page that was found changed is best
looked at just before the new instant and just after it; the others wait a little longer for that. Which of the two
makes more pages sharp is computed, not guessed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike

from webstrata.sharp.optimal import Plan, best_revisits, optimal
from webstrata.sharp.rates import Numbers, Places


class Pass(Struct, frozen=True):
    """Downloads to come, and what to expect of them."""

    before: tuple[int, ...]
    """Pages to be looked at before the instant, in order."""
    after: tuple[int, ...]
    """All pages, after the instant, in order."""
    chances: Numbers
    """Of each page to be the same on both sides."""
    worth: float


def revisits(rates: ArrayLike, heads_s: ArrayLike, weights: ArrayLike, slot_s: float) -> Pass:
    """The best order after downloads that lie so many seconds before the instant."""
    times = slot_s * (np.arange(np.size(rates)) + 1.0)
    order = best_revisits(rates, heads_s, weights, times).order
    return in_order(rates, heads_s, weights, slot_s, _whole(order))


def in_order(rates: ArrayLike, heads_s: ArrayLike, weights: ArrayLike, slot_s: float, order: Sequence[int]) -> Pass:
    """What a given order is worth."""
    rate, heads, weighed = (np.asarray(one, dtype=np.float64) for one in (rates, heads_s, weights))
    pages = np.asarray(order, dtype=np.intp)
    chances = np.zeros(rate.size)
    chances[pages] = np.exp(-rate[pages] * (heads[pages] + slot_s * (np.arange(pages.size) + 1.0)))
    return Pass((), _whole(pages), chances, float(np.dot(weighed, chances)))


def further_pass(
    rates: ArrayLike, heads_s: ArrayLike, weights: ArrayLike, slot_s: float, blurred: Sequence[int]
) -> Pass:
    """The better of two: all pages again at once, or the blurred ones before and after the instant.

    `heads_s`: time since each page's last download, as of now.
    """
    rate, heads, weighed = (np.asarray(one, dtype=np.float64) for one in (rates, heads_s, weights))
    at_once = revisits(rate, heads, weighed, slot_s)
    if not blurred:
        return at_once
    rows = np.asarray(blurred, dtype=np.intp)
    inside = _inside(rate[rows] * slot_s, weighed[rows])
    later = heads + slot_s * rows.size
    later[rows[inside.order]] = slot_s * (np.arange(rows.size) + 1.0)
    prepared = revisits(rate, later, weighed, slot_s)
    if prepared.worth <= at_once.worth:
        return at_once
    return Pass(_whole(rows[inside.order[::-1]]), prepared.after, prepared.chances, prepared.worth)


def _inside(rates: Numbers, weights: Numbers) -> Plan:
    """Pages by their distance from the instant, the nearest first."""
    return optimal(rates, weights)[1]


def _whole(places: Places) -> tuple[int, ...]:
    return tuple(int(place) for place in places)
