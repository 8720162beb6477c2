"""The expected yield of a fifth less, the present, and a fifth more of the budget, from the forecasts of the pages.

With very many pages a random sample of them is read: reading a million pages takes longer than people wait for a plan.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from webstrata.clock import DAY_S
from webstrata.columns import Days
from webstrata.flows.crawl.schedule_input import ScheduleInput, page_chunks
from webstrata.ports import Store
from webstrata.predict.prior import ANY_PAGE
from webstrata.schedule.budget import DailyRate, expected_yield, sane_weights
from webstrata.schedule.policy import Bounds
from webstrata.schedule.schedule import Schedule

SHARES = (0.8, 1.0, 1.2)
SAMPLED = 10_000
"""Number of pages from which on a sample of about this size is read."""
_MOST_IDS = 10 * SAMPLED


class BudgetWhatIf(Struct, frozen=True, kw_only=True):
    """A share of the present budget, and its expected yield."""

    share: float
    budget_per_day: float
    """Visits that it pays for."""
    visits_per_day: float
    """Visits that it pays for and that the interval limits of the pages allow."""
    changes_per_day: float
    captured_per_day: float
    freshness: float
    pages: int
    sampled_pages: int
    """Number of pages that were read: all, or a random sample."""


async def budget_whatif(
    store: Store, schedule: Schedule, rate: DailyRate | None, now: float, bounds: Bounds, sampled: int = SAMPLED
) -> list[BudgetWhatIf]:
    """One entry for each of `SHARES`; empty if no page was seen yet. Without a rate, the present intervals count.

    If there are more than `sampled` pages, about so many are read.
    """
    totals = await store.maintenance.totals(now)
    sample = None
    if totals.pages > sampled:
        sample = _sample(await store.queue.largest_id(), totals.pages, sampled)
    if schedule.ranking is not None:
        source = ScheduleInput(store, schedule)
        await (source.refresh(now) if sample is None else source.load_only(sample, now))
        rates, weights = schedule.ranking.expected_rates(now)
        read = len(schedule.ranking.page_table)
    else:
        rates, weights, read = await _observed_rates(store, sample)
    if not len(rates):
        return []
    scale = 1.0 if sample is None else totals.pages / read
    per_day = totals.expected_per_day if rate is None else rate.per_day(totals.pages)
    if rate is not None and rate.unit == "bytes":
        per_day /= max(1.0, totals.bytes / max(1, totals.visits))
    what_ifs = []
    for share in SHARES:
        expected = expected_yield(rates, weights, share * per_day / scale, bounds)
        what_ifs.append(
            BudgetWhatIf(
                share=share,
                budget_per_day=share * per_day,
                visits_per_day=scale * expected.visits_per_day,
                changes_per_day=scale * expected.changes_per_day,
                captured_per_day=scale * expected.captured_per_day,
                freshness=expected.freshness,
                pages=read if sample is None else totals.pages,
                sampled_pages=read,
            )
        )
    return what_ifs


def _sample(largest_id: int, pages: int, size: int) -> list[int]:
    """Random ids, among which about `size` are those of pages; always the same ones."""
    count = min(_MOST_IDS, largest_id, size * largest_id // pages)
    ids: list[int] = np.random.default_rng(0).choice(largest_id, count, replace=False).tolist()
    return [1 + id_ for id_ in ids]


async def _observed_rates(store: Store, sample: Sequence[int] | None) -> tuple[Days, Days, int]:
    """(changes per day, weight) of each page that was seen, from its number of changes, for timer policies; and the
    number of pages that were read."""
    if sample is None:
        read = [page async for chunk in page_chunks(store) for page in chunk]
    else:
        read = await store.budgets.summaries_of(sample)
    pages = [page for page in read if page.last_seen_at is not None]
    days = np.array([((page.last_seen_at or 0.0) - page.added_at) / DAY_S for page in pages])
    changes = np.array([page.changes for page in pages], dtype=np.float64)
    rates: Days = (changes + ANY_PAGE.shape) / (np.maximum(days, 0.0) + ANY_PAGE.days)
    return rates, sane_weights(np.array([page.weight for page in pages], dtype=np.float64)), len(read)
