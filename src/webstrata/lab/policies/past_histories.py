"""Copies of pages from before a window, as an archive would have them, with what they show of the true changes."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import numpy as np

from webstrata.columns import Days, Rows
from webstrata.errors import UsageError
from webstrata.lab.archive_samples import archive_copies
from webstrata.lab.policies.truth import Truth
from webstrata.schedule.past_copies import PastSightings

CopyTimes: TypeAlias = Literal["archive", "weekly"]
"""`archive`: irregular and sparse (`lab.archive_samples`). `weekly`: each page once a week."""
COPY_TIMES: tuple[CopyTimes, ...] = get_args(CopyTimes)
_WEEK_DAYS = 7


def copy_times(text: str) -> CopyTimes:
    """The kind of that name. Raises UsageError if there is none."""
    for kind in COPY_TIMES:
        if kind == text:
            return kind
    raise UsageError(f"no kind of copies {text!r}. Name one of: {', '.join(COPY_TIMES)}.")


def past_sightings(truth: Truth, kind: CopyTimes = "archive", seed: int = 1) -> PastSightings:
    """Copies of the `past_days` of the truth before day 0, on whole days: at most one of a page on a day."""
    page, day = _weekly(truth) if kind == "weekly" else _irregular(truth, seed)
    result = np.zeros(len(page), dtype=np.int8)
    later = np.flatnonzero(np.diff(page, prepend=-1) == 0)
    result[later] = truth.changed(page[later], day[later - 1], day[later]) > 0
    return PastSightings(page=page, at=day, result=result)


def _irregular(truth: Truth, seed: int) -> tuple[Rows, Days]:
    page, at = archive_copies(truth.first_day, 0.0, seed)
    day = np.floor(at)
    after = (day >= truth.first_day[page]) & (day >= -truth.past_days)  # the start of the day may be before the page's
    page, day = page[after], day[after]
    is_new = (np.diff(page, prepend=-1) != 0) | (np.diff(day, prepend=np.nan) != 0)
    return page[is_new], day[is_new]


def _weekly(truth: Truth) -> tuple[Rows, Days]:
    days = np.arange(-int(truth.past_days), 0, _WEEK_DAYS, dtype=np.float64)
    page, day = np.repeat(np.arange(len(truth)), len(days)), np.tile(days, len(truth))
    exists = day >= truth.first_day[page]
    return page[exists], day[exists]
