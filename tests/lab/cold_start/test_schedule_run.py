"""Replays of `value` from different beliefs, at equal downloads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from webstrata.clock import DAY_S
from webstrata.lab.cold_start.schedule_run import POPULATION, TRUE_GROUP, first_days, schedule_rows
from webstrata.lab.cold_start.watched_sites import WatchedSites
from webstrata.lab.policies.histories import make_histories
from webstrata.predict.activity import pooled_activity

BEGIN = 1e9


def _watched(days: float = 90.0) -> WatchedSites:
    """Of two sites: on each one page that changes every day, and five that never change; a third, recorded shorter."""
    rows: list[dict[str, Any]] = []
    for site, length in (("a", 400.0), ("b", 400.0), ("c", 50.0)):
        for page in range(6):
            changes = [BEGIN + (day + 0.5) * DAY_S for day in range(int(length))] if page == 0 else []
            until = BEGIN + length * DAY_S
            rows.append(
                {
                    "corpus": "c",
                    "page": f"{site}{page}",
                    "site": site,
                    "first": BEGIN,
                    "until": until,
                    "changes": changes,
                }
            )
    return WatchedSites(histories=make_histories(rows), features=({},) * len(rows))


def test_a_better_start_captures_more() -> None:
    """With the true level as the start, more is captured with the same downloads; the first row is the divisor."""
    watched = _watched()
    population = pooled_activity().start(18)
    known = np.zeros_like(population)
    fast = np.array([page.endswith("0") for page in watched.histories.page])
    known[fast, 9], known[~fast, 0] = 1.0, 1.0
    base, better = schedule_rows(watched, {POPULATION: population, TRUE_GROUP: known}, 90.0, "state-2", "sites")
    assert (base.ratio, base.low, base.high) == (1.0, 1.0, 1.0)
    assert (base.pages, base.sites, base.changes) == (12, 2, 180)
    assert base.downloads == better.downloads
    assert better.captured > base.captured
    assert better.ratio == pytest.approx(better.captured / base.captured)
    assert better.low <= better.ratio <= better.high


def test_first_days() -> None:
    """The window begins with the first day; pages that were recorded for less time are left out."""
    truth, kept = first_days(_watched().histories, 60.0)
    assert kept.tolist() == list(range(12))
    assert truth.total().tolist() == [60, 0, 0, 0, 0, 0] * 2
    truth, kept = first_days(_watched().histories, 50.0)
    assert len(kept) == len(truth) == 18
