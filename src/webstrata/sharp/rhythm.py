"""The weekly rhythm of a site's changes, and the best time to start a capture.

Changes are counted by hour of the week (UTC). The rate of each hour is shrunk towards the rate of the same hour on all
days, and that one towards the mean; the fewer changes, the stronger. A site with few changes has almost no rhythm.
"""

from __future__ import annotations

import math

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from webstrata.errors import UsageError
from webstrata.sharp.rates import Numbers

HOUR_S = 3600.0
_DAY_HOURS = 24
_WEEK_HOURS = 168
_PRIOR_CHANGES = 10.0
"""The prior of an hour weighs as much as this number of changes."""
_STEP_S = 900.0


class CaptureStart(msgspec.Struct, frozen=True):
    """The best time to start a capture."""

    at: float
    relative: float
    """Changes expected during the capture, relative to a capture that starts now."""


def weekly_rhythm(changes_at: ArrayLike) -> Numbers:
    """The relative rate of each hour of the week; 1 is the mean. The first hour is Thursday 00:00 UTC, like the Unix
    epoch."""
    at = np.asarray(changes_at, dtype=np.float64)
    if not np.isfinite(at).all():
        raise UsageError("Instants of changes must be finite numbers of seconds.")
    hours = np.floor(at / HOUR_S).astype(np.int64) % _WEEK_HOURS
    counts = np.bincount(hours, minlength=_WEEK_HOURS).astype(np.float64)
    mean = counts.sum() / _WEEK_HOURS
    if mean == 0:
        return np.ones(_WEEK_HOURS)
    by_day_hour = counts.reshape(-1, _DAY_HOURS).sum(axis=0)
    daily = (by_day_hour + _PRIOR_CHANGES) / (7 * mean + _PRIOR_CHANGES)
    daily /= daily.mean()
    expected = np.tile(daily, 7)
    weekly = expected * (counts + _PRIOR_CHANGES) / (mean * expected + _PRIOR_CHANGES)
    return np.asarray(weekly / weekly.mean())


def best_start(changes_at: ArrayLike, now: float, within_s: float, duration_s: float) -> CaptureStart:
    """The start within the next `within_s` seconds for which the fewest changes are expected during the capture.

    Starts are tried in steps of a quarter of an hour; among equal ones the earliest is taken. The capture may end after
    `within_s`.
    """
    if not (within_s >= 0 and math.isfinite(within_s) and duration_s > 0 and math.isfinite(duration_s)):
        raise UsageError("The best start needs a time ahead of 0 or more, and a duration of the capture above 0.")
    rhythm = weekly_rhythm(changes_at)
    starts = now + np.arange(0.0, within_s + 1e-9, _STEP_S)
    origin = float(np.floor(now / (_WEEK_HOURS * HOUR_S)) * _WEEK_HOURS * HOUR_S)  # small numbers keep the sums exact
    expected_changes = _integral(rhythm, starts + duration_s - origin) - _integral(rhythm, starts - origin)
    best = int(np.argmin(np.round(expected_changes / expected_changes[0], 6)))
    return CaptureStart(float(starts[best]), float(expected_changes[best] / expected_changes[0]))


def _integral(rhythm: Numbers, at: NDArray[np.float64]) -> NDArray[np.float64]:
    """The integral of the rhythm from the epoch to each instant, in hours of the mean rate."""
    hours = at / HOUR_S
    weeks, rest = np.divmod(hours, _WEEK_HOURS)
    summed = np.concatenate([[0.0], np.cumsum(rhythm)])
    return np.asarray(weeks * summed[-1] + np.interp(rest, np.arange(_WEEK_HOURS + 1), summed))
