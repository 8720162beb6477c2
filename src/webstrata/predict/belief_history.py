"""The belief of the activity model after a whole history, for pages without a stored one: copies, layers of links."""

from __future__ import annotations

import numpy as np

from webstrata.columns import Days
from webstrata.predict.activity import Activity, Belief
from webstrata.predict.visit_history import VisitHistory

_SHARE_OUTSIDE = 0.025
"""Of the belief, at each end of the range of levels."""


def beliefs_after(activity: Activity, history: VisitHistory, start: Belief | None = None) -> Belief:
    """The belief about each page after its last visit; the same as visit by visit. `start`: before the first one."""
    belief = activity.start(history.pages) if start is None else start.copy()
    counts = history.counts
    order = np.argsort(-counts, kind="stable")
    for number in range(int(counts.max(initial=0))):
        rows = order[: np.searchsorted(-counts[order], -number, side="left")]
        visit = history.offsets[rows] + number
        belief[rows] = activity.after_visit(belief[rows], history.elapsed_days[visit], history.changed[visit])
    return belief


def level_range(activity: Activity, belief: Belief) -> tuple[Days, Days]:
    """The rates between which 95 % of the belief lies. A level stands for the rates that are nearest to it."""
    edges = np.sqrt(activity.per_day[1:] * activity.per_day[:-1])
    low_edges = np.concatenate([[0.0], edges])
    high_edges = np.concatenate([edges, activity.per_day[-1:]])
    share = np.cumsum(belief, axis=1, dtype=np.float64)
    share /= share[:, -1:]
    lowest = (share > _SHARE_OUTSIDE).argmax(axis=1)
    highest = (share >= 1.0 - _SHARE_OUTSIDE).argmax(axis=1)
    return low_edges[lowest], high_edges[highest]
