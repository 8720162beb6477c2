"""The next visit on a site of at most 150 pages, while pages are unknown.

A cold page loses almost nothing by being visited early, so cold pages come first, coldest first. If none waits, a page
must be visited far from the instant that would better be visited near it, and then the pages behind the waiting pages
matter: all of them are visited after the page that leads to them. Each waiting page is planned together with the pages
expected behind it, like a page whose download takes long; dynamic programming over sets of waiting pages finds the best
order, and its outermost page is visited now.
"""

from __future__ import annotations

import numpy as np

from webstrata.sharp.rates import Numbers
from webstrata.sharp.slow_pages import SlowPageQueue, exact_orders
from webstrata.sharp.survival import Survival, WorthCurves

SMALL_UP_TO = 150
MAX_PLANNED = 12
"""The plan of more waiting pages takes too long for every visit."""
_COLD_LOSS = 0.05
"""A page is cold if a visit now makes it blurred with at most this probability."""
_SIDES = 1.5
"""The span of a page for every slot between its visit and the instant: 2 if its revisit mirrors its visit, 1 if it is
revisited at once. Pages visited too early are revisited early."""


def next_on_small_site(survival: Survival, weights: Numbers, behind: Numbers) -> int | None:
    """The index of the waiting page to visit now; None if too many pages wait for a plan.

    `behind`: by waiting page, the expected number of unknown pages behind it.
    """
    count = survival.count
    slot = count - 1 + behind.sum()
    loss = weights * (1.0 - survival.unchanged(np.arange(count), np.full(count, _SIDES * slot)))
    coldest = int(np.argmin(loss))
    if loss[coldest] < _COLD_LOSS * weights[coldest]:
        return coldest
    if count > MAX_PLANNED:
        return None
    queue = SlowPageQueue(
        WorthCurves(survival, weights, _SIDES * behind, np.zeros(count)), 1.0 + behind, first=0.0, sides=_SIDES
    )
    return int(exact_orders(queue, np.arange(count)[None, :], np.zeros(1))[0, -1])
