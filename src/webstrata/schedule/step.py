"""Datamonitor's step: how far an interval moves by the share of visits that see a change."""

from __future__ import annotations

import numpy as np

from webstrata.columns import Days

# Above these shares the interval is divided, below those it is multiplied; all comparisons are strict.
_DIVIDE = ((0.9, 3.0), (0.75, 2.0), (0.6, 1.5))
_MULTIPLY = ((0.1, 3.0), (0.25, 2.0), (0.4, 1.5))


def step(interval: Days, share: Days) -> Days:
    """The next interval, not yet clamped; where the share is no number, the same."""
    shorter = [share > limit for limit, _ in _DIVIDE]
    longer = [share < limit for limit, _ in _MULTIPLY]
    moved = [interval / by for _, by in _DIVIDE] + [interval * by for _, by in _MULTIPLY]
    return np.select(shorter + longer, moved, default=interval)
