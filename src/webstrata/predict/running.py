"""The rate by eq. 5, updated visit by visit from sums instead of histories.

Eq. 5 needs every interval that saw a change. The state keeps 24 classes of length (each 1.6 times the previous one)
with number and sum, and eq. 5 is solved for their means: exact if the intervals of a class are equal, otherwise usually
within one per cent, and within a fifth at worst (nearly every visit found a change, at both ends of one class).
"""

from __future__ import annotations

import numpy as np

from webstrata.columns import Days, Flags, Rows, State, columns
from webstrata.predict.poisson import irregular_rate
from webstrata.predict.visit_history import VisitHistory, visit_history

_CLASSES = 24
_SHORTEST = 5 / 1440  # days
_RATIO = 1.6

RUNNING = columns(
    {
        "visits": np.float64,
        "days": np.float64,
        "changes": np.float64,
        "number": (np.uint16, (_CLASSES,)),
        "sums": (np.float32, (_CLASSES,)),
    }
)
"""One row for each page: 168 bytes."""


def after_visit(state: State, rows: Rows, elapsed_days: Days, changed: Flags) -> None:
    """Pages in `rows` were visited `elapsed_days` after the previous visit. In place."""
    seen = state[rows]
    lasting = elapsed_days > 0
    seen["visits"] += lasting
    seen["days"] += elapsed_days
    hit = np.flatnonzero(lasting & changed)
    seen["changes"][hit] += 1
    column = _class(elapsed_days[hit])
    full = seen["number"][hit, column] == np.iinfo(np.uint16).max
    seen["number"][hit[full], column[full]] //= 2
    seen["sums"][hit[full], column[full]] /= 2
    seen["number"][hit, column] += 1
    seen["sums"][hit, column] += elapsed_days[hit]
    state[rows] = seen


def running_irregular_rate(state: State) -> Days:
    """Eq. 5 for the means of the classes."""
    return irregular_rate(as_visits(state))


def as_visits(state: State) -> VisitHistory:
    """A history with the same sums: the mean of each class repeated by its number, then the visits without a change."""
    number, sums = state["number"].astype(np.int64), state["sums"].astype(np.float64)
    means = np.divide(sums, number, out=np.zeros_like(sums), where=number > 0)
    hits = number.sum(axis=1)
    still = np.maximum(state["visits"].astype(np.int64) - hits, 0)
    rest = np.maximum(state["days"] - sums.sum(axis=1), 0.0)
    each = np.divide(rest, still, out=np.zeros_like(rest), where=still > 0)
    lengths = np.concatenate([means, each[:, None]], axis=1)
    times = np.concatenate([number, still[:, None]], axis=1)
    changed = np.broadcast_to(np.arange(_CLASSES + 1) < _CLASSES, times.shape)
    offsets = np.concatenate([[0], np.cumsum(times.sum(axis=1))])
    return visit_history(offsets, np.repeat(lengths.ravel(), times.ravel()), np.repeat(changed.ravel(), times.ravel()))


def _class(elapsed_days: Days) -> Rows:
    ratio = np.log(np.maximum(elapsed_days, _SHORTEST) / _SHORTEST) / np.log(_RATIO)
    number: Rows = np.minimum(ratio.astype(np.intp), _CLASSES - 1)
    return number
