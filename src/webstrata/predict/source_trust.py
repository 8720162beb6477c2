"""Precision and recall of a source of signals, learned only from later visits.

A source (a feed, a sitemap) announces changes. Each visit after an announcement proves it right or wrong. Visits before
a late announcement prove it too: they must have found a change since the announced time. Each change that a visit finds
was announced or not.

    precision   (right + 1) / (right + wrong + 3)           a source without checks starts at one third
    recall      announced / (announced + silent + 2)        and at zero

The counts are multiplied by 0.97 at every visit that checks the source, so the last few dozen visits decide. A site
that starts to give the time of the request for every page loses its trust within about twenty visits, and a site that
improves regains it. All functions accept columns with one row for each source or signal, or single numbers.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from webstrata.clock import DAY_S

KEEP = 0.97
"""Factor of a source's counts at each visit that checks it."""
TRUSTED = 0.5
"""Least precision with which a signal brings a visit forward."""
MAX_TRUST = 0.95
"""Upper limit of precision and recall."""
_RIGHT, _WRONG, _CHANGES = 1.0, 2.0, 2.0
"""The prior, as numbers of right and wrong signals, and of changes without announcement."""
_LONGEST_DELAY_S = 30 * DAY_S

Floats = NDArray[np.float64]


def precision(right: Floats | float, wrong: Floats | float) -> Floats:
    """Probability that a page has changed if the source announces it."""
    right, wrong = np.asarray(right, dtype=np.float64), np.asarray(wrong, dtype=np.float64)
    return np.minimum((right + _RIGHT) / (right + wrong + _RIGHT + _WRONG), MAX_TRUST)


def recall(announced: Floats | float, silent: Floats | float) -> Floats:
    """Probability that the source announces a change of a page that it lists."""
    announced, silent = np.asarray(announced, dtype=np.float64), np.asarray(silent, dtype=np.float64)
    return np.minimum(announced / (announced + silent + _CHANGES), MAX_TRUST)


def is_trusted(right: float, wrong: float) -> bool:
    """Whether a fresh signal of the source brings a visit forward."""
    return bool(precision(right, wrong) >= TRUSTED)


def reach(given_at: float | None, seen_at: float) -> float | None:
    """The latest time of the change that a signal with this time announces; None if it announces no change.

    A date without a time of day means the whole day. Times later than tomorrow are ignored.
    """
    if given_at is None or given_at > seen_at + DAY_S:
        return None
    return given_at + DAY_S if given_at % DAY_S == 0.0 else given_at


class SourceChecks(Struct, frozen=True, kw_only=True):
    """Checks of sources by visits, one row for each page and source."""

    source: NDArray[np.int64]
    announced: NDArray[np.bool_]
    """The source had announced a change since the previous visit."""
    changed: NDArray[np.bool_]
    """The visit found a change."""
    delay_s: Floats
    """From the announced time to the time at which the source was read; 0 if it gave no time."""
    late: NDArray[np.bool_]
    """The source gave the time only after the visit: this proves it right or wrong, but is no announcement."""


class SourceCounts(Struct, frozen=True, kw_only=True):
    """What the checks add to one source's counts, which are multiplied by `keep` before."""

    source: int
    keep: float
    right: float
    wrong: float
    announced: float
    silent: float
    delay_s: float
    delays: float


def source_counts(checks: SourceChecks) -> list[SourceCounts]:
    """The sums of the checks by source. Checks without announcement and without change do not count."""
    counted = checks.announced | checks.changed
    counts = []
    for source in np.unique(checks.source[counted]).tolist():
        rows = counted & (checks.source == source)
        number = int(np.count_nonzero(rows))
        keep = KEEP**number
        # The mean weight of the checks, as if they came one after the other.
        weight = (1 - keep) / (number * (1 - KEEP))
        right = rows & checks.announced & checks.changed
        ahead = right & ~checks.late
        delays = np.clip(checks.delay_s[ahead], 0.0, _LONGEST_DELAY_S)
        counts.append(
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
    return counts
