"""HACS: a change lies half-way between the visit that saw it and the one before; then the rate by eq. 5.

Moving the changes makes the sequence of times that the paper fits: an interval that ends at a change is `t_c`, one
that ends at a visit without is `t_u`. It counts a change seen after a long pause as half as old, so the rate is
higher than `irregular` where intervals differ much.
"""

from __future__ import annotations

import numpy as np

from webstrata.predict.poisson import irregular
from webstrata.predict.rate_estimate import RateEstimate
from webstrata.predict.visit_history import VisitHistory


def interpolated(history: VisitHistory) -> RateEstimate:
    return irregular(moved(history))


def moved(history: VisitHistory) -> VisitHistory:
    """The visits with each change put half-way back to the visit before."""
    back = np.where(history.changed, history.elapsed_days / 2, 0.0)
    return VisitHistory(
        offsets=history.offsets,
        elapsed_days=history.elapsed_days - back + history.previous(back),
        changed=history.changed,
        at_days=history.at_days - back,
    )
