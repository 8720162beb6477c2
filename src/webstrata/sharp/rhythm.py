"""A site's week: when it changes and when it is quiet, and so when a capture had best start.

Changes are counted by hour of the week (UTC). Each hour's rate is drawn towards that of the same hour on all days, and
that towards the mean, as firmly as there are few changes; so a site with a handful of changes has hardly a rhythm.
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
_FIRM = 10.0
"""So many changes weigh as much as what the hour is compared with."""
_STEP_S = 900.0


class CaptureStart(msgspec.Struct, frozen=True):
    """When to start a capture, and what to expect of it."""

    at: float
    relative: float
    """Changes expected during the capture, as a part of those of one that starts now."""


def weekly_rhythm(changes_at: ArrayLike) -> Numbers:
    """How lively each hour of the week is, Thursday 00:00 UTC first (where counting seconds began); 1 is the mean."""
    at = np.asarray(changes_at, dtype=np.float64)
    if not np.isfinite(at).all():
        raise UsageError("Instants of changes must be finite numbers of seconds.")
    hours = np.floor(at / HOUR_S).astype(np.int64) % _WEEK_HOURS
    counts = np.bincount(hours, minlength=_WEEK_HOURS).astype(np.float64)
    mean = counts.sum() / _WEEK_HOURS
    if mean == 0:
        return np.ones(_WEEK_HOURS)
    by_day_hour = counts.reshape(-1, _DAY_HOURS).sum(axis=0)
    daily = (by_day_hour + _FIRM) / (7 * mean + _FIRM)
    daily /= daily.mean()
    expected = np.tile(daily, 7)
    weekly = expected * (counts + _FIRM) / (mean * expected + _FIRM)
    return np.asarray(weekly / weekly.mean())


def best_start(changes_at: ArrayLike, now: float, within_s: float, duration_s: float) -> CaptureStart:
    """The start within so many seconds from now for which the capture meets the fewest changes; the earliest of equal
    ones, in steps of a quarter of an hour. It may end later than `within_s`."""
    if not (within_s >= 0 and math.isfinite(within_s) and duration_s > 0 and math.isfinite(duration_s)):
        raise UsageError("The best start needs a time to look ahead (0 or more) and a length of the capture above 0.")
    rhythm = weekly_rhythm(changes_at)
    starts = now + np.arange(0.0, within_s + 1e-9, _STEP_S)
    origin = float(np.floor(now / (_WEEK_HOURS * HOUR_S)) * _WEEK_HOURS * HOUR_S)  # small numbers, exact sums
    liveliness = _integral(rhythm, starts + duration_s - origin) - _integral(rhythm, starts - origin)
    place = int(np.argmin(np.round(liveliness / liveliness[0], 6)))
    return CaptureStart(float(starts[place]), float(liveliness[place] / liveliness[0]))


def _integral(rhythm: Numbers, at: NDArray[np.float64]) -> NDArray[np.float64]:
    """Liveliness from the start of counting up to each instant, in hours of the mean."""
    hours = at / HOUR_S
    weeks, rest = np.divmod(hours, _WEEK_HOURS)
    summed = np.concatenate([[0.0], np.cumsum(rhythm)])
    return np.asarray(weeks * summed[-1] + np.interp(rest, np.arange(_WEEK_HOURS + 1), summed))
