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

from webstrata.sharp.rates import Numbers, Places
from webstrata.sharp.survival import Survival
from webstrata.sharp.uneven import uneven_mirror, uneven_revisits, waits


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


def _whole(places: Places) -> tuple[int, ...]:
    return tuple(int(place) for place in places)
