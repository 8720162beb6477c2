"""Two parts of the SOLAR paper that its tables do not show: Algorithm 2 as printed, and the exchange of figure 1(b)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from webstrata.sharp.link_tree import LinkTree
from webstrata.sharp.rates import Numbers
from webstrata.sharp.schedule import SharpSchedule, checked_lengths


def solar_online_printed(lengths: ArrayLike, tree: LinkTree) -> SharpSchedule:
    """Algorithm 2 of the paper, line by line.

    The longest detected page whose revisit r = v + I is above 0 and not taken is visited; if there is none, the
    shortest page is visited and is hopeless. In the end the revisits are shrunk: the hopeful pages keep their order and
    get the slots 0, 1, 2, …; the hopeless pages follow, last visited first.

    The pseudocode does not print that v grows by 1 and that a visited page is no longer detected; both are assumed. It
    starts at v = -n for the pages p_0 to p_n, so the last visit is at 0. Revisits above n are allowed before shrinking.
    The nearest reading of the paper's figures (`sharp.solar.solar_online`) differs from it: there a page may take any
    free revisit up to v + I, only the longest page is tried, and nothing is shrunk.
    """
    column = checked_lengths(lengths)
    tree.require_size(column.size)
    count = column.size
    visits, revisits = np.zeros(count, dtype=np.intp), np.full(count, np.inf)
    detected, taken = set(tree.seeds), set[float]()
    hopeless: list[int] = []
    for slot in range(count - 1, -1, -1):
        longest_first = sorted(detected, key=lambda page: (-column[page], page))
        page = next((page for page in longest_first if _fits(column[page] - slot, taken)), None)
        if page is None:
            page = min(detected, key=lambda page: (column[page], page))
            hopeless.append(page)
        else:
            revisits[page] = column[page] - slot
            taken.add(float(revisits[page]))
        visits[page] = slot
        detected.remove(page)
        detected |= set(tree.children[page])
    order = sorted(set(range(count)) - set(hopeless), key=lambda page: (revisits[page], page))
    slots = np.empty(count, dtype=np.intp)
    slots[[*order, *reversed(hopeless)]] = np.arange(count)
    return SharpSchedule(visits, slots, tuple(sorted(hopeless)))


def _fits(revisit: float, taken: set[float]) -> bool:
    """A page that never changes has no last revisit: it fits always."""
    return revisit > 0 and (np.isinf(revisit) or revisit not in taken)


def exchange_short(schedule: SharpSchedule, lengths: ArrayLike) -> SharpSchedule:
    """SOLAR-offline with the step that "replaces the one short with two long" (section 5): a hopeful page is given up
    where two hopeless pages become hopeful in its place, shortest page first, until there is no such page.

    The paper prints no pseudocode for it. For the lengths of figure 1(a) the step gives what the text says about figure
    1(b), six hopeful pages and p_1 hopeless. One of the pages p_2 to p_6 is shorter than in the figure by one slot.
    """
    column = checked_lengths(lengths)
    visits, revisits = schedule.visits.copy(), schedule.revisits.copy()
    hopeless = sorted(schedule.hopeless, key=lambda page: (-column[page], page))
    hopeful = [int(page) for page in np.lexsort((np.arange(column.size), column)) if page not in set(hopeless)]
    free_visits, free_revisits = set(visits[hopeless].tolist()), set(revisits[hopeless].tolist())
    for page in hopeful:
        if len(hopeless) < 2 or visits[page] + revisits[page] == 0:
            continue
        free = free_visits | {int(visits[page])}, free_revisits | {int(revisits[page])}
        placed = [_place(column, other, *free) for other in hopeless[:2]]
        if None in placed:
            continue
        for other, pair in zip(hopeless[:2], placed, strict=True):
            if pair is not None:
                visits[other], revisits[other] = pair
        hopeless = sorted([*hopeless[2:], page], key=lambda other: (-column[other], other))
        free_visits, free_revisits = free
    visits[hopeless], revisits[hopeless] = sorted(free_visits), sorted(free_revisits)
    return SharpSchedule(visits, revisits, tuple(sorted(hopeless)))


def _place(lengths: Numbers, page: int, visits: set[int], revisits: set[int]) -> tuple[int, int] | None:
    """The smallest free revisit and for it the farthest free visit within the page's length; takes both."""
    revisit = min(revisits)
    possible = [visit for visit in visits if visit + revisit <= lengths[page]]
    if not possible:
        return None
    visit = max(possible)
    visits.remove(visit)
    revisits.remove(revisit)
    return visit, revisit
