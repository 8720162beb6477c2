"""What a group says about the activity level of a page at its first visit.

From the visits that followed, the chances of the level at the first visit are computed for each page (the backward
part of forward-backward, from the start of any page). Summed over pages they give how frequent each group is on each
level, and by Bayes' rule how frequent each level is in each group if all pages start as `POOLED.start` says. So the
groups only divide the pages: their mixture is the start of any page. On levels that few pages have, and in groups of
few pages, the shares are near those of all pages.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webstrata.predict.activity import Activity, Belief, pooled_activity
from webstrata.predict.first_sight.groups import GroupNumbers
from webstrata.predict.visit_history import VisitHistory

_OTHER_PAGES = 10.0
"""The shares of all pages weigh as much as this number of pages on each level."""
_LONGEST_DAYS = 365.0
"""Visits are not joined beyond this, which is within what the model distinguishes."""


def levels_at_first_visit(history: VisitHistory, activity: Activity | None = None) -> NDArray[np.float64]:
    """For each page the chances of its level at the first visit, given all later ones."""
    activity = activity or pooled_activity()
    history = _merged(history.lasting())
    logs = np.zeros((history.pages, activity.width))
    belief: Belief = np.tile(np.eye(activity.width, dtype=np.float32), (history.pages, 1))
    for step in range(int(history.counts.max(initial=0))):
        page = np.flatnonzero(history.counts > step)
        visit = history.offsets[:-1][page] + step
        rows = (page[:, None] * activity.width + np.arange(activity.width)).ravel()
        days = np.repeat(history.elapsed_days[visit], activity.width)
        changed = np.repeat(history.changed[visit], activity.width)
        unchanged = activity.forecast(belief, days, rows).unchanged.astype(np.float64)
        chance = np.clip(np.where(changed, 1.0 - unchanged, unchanged), 1e-12, 1.0)
        logs[page] += np.log(chance).reshape(len(page), activity.width)
        belief[rows] = activity.after_visit(belief[rows], days, changed)
    likelihood = np.exp(logs - logs.max(axis=1, keepdims=True)) * activity.start(1)
    levels: NDArray[np.float64] = likelihood / likelihood.sum(axis=1, keepdims=True)
    return levels


def level_chances(
    group: GroupNumbers, levels: NDArray[np.float64], k: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How frequent each group is among all pages, and for each group the chances of the levels."""
    start = pooled_activity().start(1)[0].astype(np.float64)
    start /= start.sum()
    mass = np.stack([levels[group == one].sum(axis=0) for one in range(k)]) + 1e-3
    shares = mass.sum(axis=1, keepdims=True) / mass.sum()
    by_level = (mass + _OTHER_PAGES * shares) / (mass.sum(axis=0) + _OTHER_PAGES)
    joint = by_level * start
    share = joint.sum(axis=1)
    return share / share.sum(), joint / share[:, None]


def _merged(history: VisitHistory) -> VisitHistory:
    """The history with visits without a change joined to the next visit without one: they say the same of the model."""
    if not len(history.changed):
        return history
    page = history.page_of()
    follows = np.zeros(len(page), dtype=np.bool_)
    follows[1:] = (page[1:] == page[:-1]) & ~history.changed[1:] & ~history.changed[:-1]
    year = history.at_days // _LONGEST_DAYS
    follows[1:] &= year[1:] == year[:-1]
    begins = np.flatnonzero(~follows)
    number = np.concatenate([[0], np.cumsum(~follows)])
    return VisitHistory(
        offsets=number[history.offsets],
        elapsed_days=np.add.reduceat(history.elapsed_days, begins),
        changed=history.changed[begins],
        at_days=history.at_days[begins],
    )
