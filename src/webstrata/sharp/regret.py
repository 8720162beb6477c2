"""What it costs to visit a page now, in the outermost slot that is left, instead of where it was planned.

The remaining pages are planned as a mirror schedule. Visiting a page now moves it from its slot to the outermost, and
every page planned outside of it one slot inwards: what that costs all together is its regret. A page that others are
found behind cannot be kept for its slot if that lies further inside than those others have room.
"""

from __future__ import annotations

import msgspec
import numpy as np

from webstrata.sharp.rates import Numbers, Places
from webstrata.sharp.segments import segment_slots, split_worths
from webstrata.sharp.survival import Survival, WorthCurves, mirror_curves

_REACH = 2


class SegmentSplit(msgspec.Struct):
    """The last split of pages that weigh the same: the next one is near."""

    hopeless: int = 0
    frozen: int = 0
    planned: int = 0
    """How many pages it was for."""


def regrets(survival: Survival, weights: Numbers, held: Places) -> tuple[Numbers, float]:
    """Of pages in the order of their planned slots, inside to outside (rates per slot); and what the plan loses of all
    that the pages weigh. `held`: the innermost slot that each could be kept for."""
    curves = mirror_curves(survival, weights, None)
    slots = np.arange(survival.count)
    now = curves.at(slots, slots)
    inwards = curves.at(slots[1:], slots[:-1]) - now[1:]
    gained_outside = np.concatenate([np.cumsum(inwards[::-1])[::-1], [0.0]])
    kept = np.maximum(slots, np.minimum(held, slots[-1]))
    outermost = curves.at(slots, np.full(slots.size, slots[-1]))
    return np.asarray(curves.at(slots, kept) - outermost - gained_outside[kept]), float((weights - now).sum())


def split_order(survival: Survival, split: SegmentSplit) -> Places:
    """Pages of equal weight in the order of their slots, in three segments; the split is searched round the last."""
    curves = mirror_curves(survival, None, None)
    pages = np.argsort(-survival.hotness(), kind="stable")
    _search(curves, pages, split)
    return pages[np.argsort(segment_slots(survival.count, split.hopeless, split.frozen))]


def _search(curves: WorthCurves, pages: Places, split: SegmentSplit) -> None:
    """Hill climbing; wide steps first where the number of pages has changed by more than one."""
    count = curves.count
    step = _REACH if abs(count - split.planned) <= 1 else max(_REACH, count // 8)
    hopeless = min(split.hopeless, count - 1)
    best = hopeless, min(split.frozen, count - 1 - hopeless)
    worth = float(split_worths(curves, pages, np.array([best]))[0])
    while step:
        near = [(best[0] + i * step, best[1] + j * step) for i in (-1, 0, 1) for j in (-1, 0, 1)]
        pairs = [pair for pair in near if pair != best and min(pair) >= 0 and sum(pair) < count]
        worths = split_worths(curves, pages, np.array(pairs)) if pairs else np.zeros(1)
        place = int(np.argmax(worths))
        if pairs and worths[place] > worth + 1e-12:
            best, worth = pairs[place], float(worths[place])
        else:
            step //= 2
    split.hopeless, split.frozen = best
    split.planned = count
