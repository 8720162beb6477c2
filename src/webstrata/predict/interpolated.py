"""HACS: updates are dated half-way between the visit that saw them and the previous visit, then eq. 5 gives the rate.

The moved times form the sequence of the paper: an interval that ends at an update is `t_c`, one that ends at a visit
without an update is `t_u`. Moving halves the intervals before updates, so the rate is higher than `irregular` if
intervals differ much.
"""

from __future__ import annotations

import numpy as np

from webstrata.predict.poisson import RateEstimate, irregular, with_interval
from webstrata.predict.visit_history import VisitHistory

_JOINED_DAYS = 1e-6
"""Two intervals follow each other if the second begins at most this much after the end of the first."""


def interpolated(history: VisitHistory) -> RateEstimate:
    """The interval is that of the visits as they were: the moved times are estimates, and an interval from them alone
    would be too narrow (docs/decisions/0089-interval-of-interpolated-updates.md)."""
    found = irregular(moved(history))
    return with_interval(history.lasting(), found.rate, found.error)


def moved(history: VisitHistory) -> VisitHistory:
    """The visits with each update moved half-way to the previous visit. Nothing is moved over a gap in the history."""
    back = np.where(history.changed, history.elapsed_days / 2, 0.0)
    gap = history.at_days - history.elapsed_days - history.previous(history.at_days)
    return VisitHistory(
        offsets=history.offsets,
        elapsed_days=history.elapsed_days - back + np.where(gap <= _JOINED_DAYS, history.previous(back), 0.0),
        changed=history.changed,
        at_days=history.at_days - back,
    )
