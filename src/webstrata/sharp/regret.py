"""Which page found so far loses least by being visited now, in the outermost slot that is left.

The remaining pages are planned as a mirror schedule, unknown ones as quantiles of the rates seen so far. Visiting a
page now moves it from its planned slot to the outermost, and every page planned outside of it one slot inwards: what
that costs is its regret. Until all pages are found, pages of nearly the least regret tie, and what may lead to
more pages goes first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from webstrata.sharp.curves import Curves, mirror_curves
from webstrata.sharp.optimal import best_plan
from webstrata.sharp.rates import Numbers, Places
from webstrata.sharp.segments import segment_slots, split_worths
from webstrata.sharp.survival import Poisson

TIE = 0.05
"""Pages whose regret is within this of the least (in sharp pages) tie while there are pages to be found."""
_REACH = 2


@dataclass
class Split:
    """(hopeless, frozen) of the last plan: the next one is near."""

    hopeless: int = 0
    frozen: int = 0
    planned: int = 0


def with_unknown(rates: Numbers, seen: Numbers, unknown: int) -> Numbers:
    """The rates, and as many unknown ones as are expected: quantiles of those seen."""
    if unknown <= 0:
        return rates
    return np.concatenate([rates, np.quantile(seen, (np.arange(unknown) + 0.5) / unknown)])


def regrets(rates: Numbers, weights: Numbers, split: Split) -> Numbers:
    """What each remaining page would lose all together by going outermost."""
    curves = mirror_curves(Poisson(rates), weights, None)
    order = _planned(curves, split)
    places = np.arange(order.size)
    now = curves.at(order, places)
    inward = np.concatenate([[0.0], curves.at(order[1:], places[:-1]) - now[1:]])
    gained_outside = np.concatenate([np.cumsum(inward[::-1])[::-1][1:], [0.0]])
    lost = np.empty(order.size)
    lost[order] = now - curves.at(order, np.full(order.size, order.size - 1)) - gained_outside
    return lost


def _planned(curves: Curves, split: Split) -> Places:
    """Pages by slot. Pages that weigh the same are split in three segments, searched round the last split."""
    if not curves.alike:
        return best_plan(curves).order
    count = curves.count
    pages = np.argsort(-curves.survival.hotness(), kind="stable")
    _searched(curves, pages, split)
    return pages[np.argsort(segment_slots(count, split.hopeless, split.frozen))]


def _searched(curves: Curves, pages: Places, split: Split) -> None:
    """Hill climbing from the last split, with wider steps where the site has grown."""
    count = curves.count
    step = max(_REACH, count // 8 if abs(count - split.planned) > 1 or not split.planned else _REACH)
    best = (min(split.hopeless, count - 1), 0)
    best = (best[0], min(split.frozen, count - 1 - best[0]))
    split.planned = count
    while step:
        h, s = best
        near = {(h + i * step, s + j * step) for i in (-1, 0, 1) for j in (-1, 0, 1)}
        pairs = np.array(sorted(pair for pair in near if min(pair) >= 0 and sum(pair) < count), dtype=np.intp)
        worths = split_worths(curves, pages, pairs)
        found = pairs[int(np.argmax(worths))]
        if tuple(found) == best or worths.max() <= worths[[tuple(pair) == best for pair in pairs]][0] + 1e-12:
            step //= 2
        else:
            best = (int(found[0]), int(found[1]))
    split.hopeless, split.frozen = best


def choose(lost: Numbers, depths: Places, rates: Numbers, tie: float) -> int:
    """Of the pages whose regret is within `tie` of the least: the shallowest, then the hottest, then the first."""
    near = np.flatnonzero(lost <= lost.min() + tie)
    return int(near[np.lexsort((near, -rates[near], depths[near]))[0]])
