"""HACS: changes are dated half-way between the visit that saw them and the previous visit, then eq. 5 gives the rate.

The moved times form the sequence of the paper: an interval that ends at a change is `t_c`, one that ends at a visit
without a change is `t_u`. Moving halves the intervals before changes, so the rate is higher than `irregular` if
intervals differ much.
"""

from __future__ import annotations

import numpy as np

from webstrata.predict.poisson import RateEstimate, irregular, without_interval
from webstrata.predict.visit_history import VisitHistory


def interpolated(history: VisitHistory) -> RateEstimate:
    """Has no interval: the moved times are not those at which the page was seen."""
    found = irregular(moved(history))
    return without_interval(found.rate, found.error)


def moved(history: VisitHistory) -> VisitHistory:
    """The visits with each change moved half-way to the previous visit."""
    back = np.where(history.changed, history.elapsed_days / 2, 0.0)
    return VisitHistory(
        offsets=history.offsets,
        elapsed_days=history.elapsed_days - back + history.previous(back),
        changed=history.changed,
        at_days=history.at_days - back,
    )
