"""Page tables for tests."""

from __future__ import annotations

import numpy as np

from webstrata.clock import DAY_S
from webstrata.records import PageSummary
from webstrata.schedule.overrides import IntervalLimits, Overrides
from webstrata.schedule.page_table import PageTable
from webstrata.schedule.policy import Bounds
from webstrata.schedule.registry import budgeted_policy

NOW = 20_000.0
LIMITS = IntervalLimits(300.0, 180 * DAY_S)
LIVE = Bounds(min_days=1 / 288, max_days=180.0)


def summaries(n: int, per_host: int = 4) -> list[PageSummary]:
    """Pages with ids that do not come in order."""
    ids = np.random.default_rng(3).permutation(n) * 7 + 5
    return [
        PageSummary(id=int(id_), url=f"http://h{i // per_host}.test/{i}", host=f"h{i // per_host}.test")
        for i, id_ in enumerate(ids)
    ]


def table_of(n: int, name: str = "value") -> PageTable:
    policy = budgeted_policy(name, LIVE)
    table = PageTable(policy)
    pages = summaries(n)
    for part in (pages[: n // 2], pages[n // 2 :]):
        table.add(part, [policy.start(1, NOW)[0].tobytes() for _ in part], NOW)
    table.apply_overrides(Overrides(), LIMITS, {}, NOW * DAY_S)
    return table
