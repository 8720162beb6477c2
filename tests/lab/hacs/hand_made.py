"""Timelines of a few pages, written by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from webstrata.lab.hacs.timeline import PageTimes, UpdateTimeline

HandMadePage = tuple[Sequence[tuple[float, bool]], Sequence[float]]
"""(day, shows an update) of each copy, and the days of the true updates."""


def timeline(*pages: HandMadePage, days: float = 28.0) -> UpdateTimeline:
    return UpdateTimeline(
        corpus="made",
        days=days,
        copies=times(*([day for day, _ in copies] for copies, _ in pages)),
        shows=np.array([shows for copies, _ in pages for _, shows in copies], dtype=np.bool_),
        updates=times(*(updates for _, updates in pages)),
    )


def times(*days: Sequence[float]) -> PageTimes:
    page = np.repeat(np.arange(len(days)), [len(one) for one in days])
    return PageTimes(page, np.array([day for one in days for day in one], dtype=np.float64), len(days))
