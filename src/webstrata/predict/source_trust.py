"""How far a source of signals is trusted: by what later visits found, never by its own word.

A source (a feed, a sitemap) announces changes. Each visit that follows an announcement proves it right or wrong. So do
the visits that came before a late one: since the time that it gives, they must have found a change. And each change
that a visit finds had been announced, or had not.

    precision   (right + 1) / (right + wrong + 3)           a source that nobody checked yet starts at one third
    recall      announced / (announced + silent + 2)        and at zero: its silence says nothing yet

The counts fade by 3 % with every visit that checks the source, so the last few dozen decide: a site that starts to give
the time of the request for every page is found out within about twenty visits, and one that mends its ways is believed
again. All functions work on columns, one row for each source or signal; a number is a column of one.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from webstrata.clock import DAY_S

KEEP = 0.97
"""What is left of a source's counts after one more visit that checks it."""
TRUSTED = 0.5
"""Precision from which on a signal moves a visit."""
SUREST = 0.95
"""No source is believed further than this."""
_RIGHT, _WRONG, _CHANGES = 1.0, 2.0, 2.0
"""The prior: as if so many signals had been checked, and so many changes been met in silence."""
_LONGEST_DELAY_S = 30 * DAY_S

Floats = NDArray[np.float64]


def precision(right: Floats | float, wrong: Floats | float) -> Floats:
    """How likely a page has changed that the source says has."""
    right, wrong = np.asarray(right, dtype=np.float64), np.asarray(wrong, dtype=np.float64)
    return np.minimum((right + _RIGHT) / (right + wrong + _RIGHT + _WRONG), SUREST)


def recall(announced: Floats | float, silent: Floats | float) -> Floats:
    """How likely a change of a page that the source lists is announced by it."""
    announced, silent = np.asarray(announced, dtype=np.float64), np.asarray(silent, dtype=np.float64)
    return np.minimum(announced / (announced + silent + _CHANGES), SUREST)


def is_trusted(right: float, wrong: float) -> bool:
    """Whether a fresh signal of the source brings a visit forward."""
    return bool(precision(right, wrong) >= TRUSTED)


def reach(given_at: float | None, seen_at: float) -> float | None:
    """Up to when a page may have changed by a signal that gives this time; none where it announces no change.

    A date without a time of day stands for its whole day. A time later than tomorrow is nonsense.
    """
    if given_at is None or given_at > seen_at + DAY_S:
        return None
    return given_at + DAY_S if given_at % DAY_S == 0.0 else given_at


class SourceChecks(Struct, frozen=True, kw_only=True):
    """Visits of pages that sources list, one row for each page and source."""

    source: NDArray[np.int64]
    announced: NDArray[np.bool_]
    """The source had announced a change since the visit before."""
    changed: NDArray[np.bool_]
    """The visit found one."""
    delay_s: Floats
    """From the time that the source gave to the time at which it was read; 0 where it gave none."""
    late: NDArray[np.bool_]
    """It gave the time only after the visit: that proves it right or wrong, but announced nothing."""


class SourceCounts(Struct, frozen=True, kw_only=True):
    """What checks add to one source's counts, which fade to `keep` before."""

    source: int
    keep: float
    right: float
    wrong: float
    announced: float
    silent: float
    delay_s: float
    delays: float


def source_counts(checks: SourceChecks) -> list[SourceCounts]:
    """The checks, source by source. Where neither the source nor the page moved, there is nothing to learn."""
    telling = checks.announced | checks.changed
    found = []
    for source in np.unique(checks.source[telling]).tolist():
        rows = telling & (checks.source == source)
        number = int(np.count_nonzero(rows))
        keep = KEEP**number
        # Many checks at once fade among themselves as if they had come one after the other, evenly mixed.
        weight = (1 - keep) / (number * (1 - KEEP))
        right = rows & checks.announced & checks.changed
        ahead = right & ~checks.late
        delays = np.clip(checks.delay_s[ahead], 0.0, _LONGEST_DELAY_S)
        found.append(
            SourceCounts(
                source=source,
                keep=keep,
                right=weight * np.count_nonzero(right),
                wrong=weight * np.count_nonzero(rows & ~checks.changed),
                announced=weight * np.count_nonzero(ahead),
                silent=weight * np.count_nonzero(rows & ~checks.announced),
                delay_s=weight * float(delays.sum()),
                delays=weight * delays.size,
            )
        )
    return found
