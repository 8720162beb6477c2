"""The expected yield of a fifth less, the present, and a fifth more of the budget, from the forecasts of the pages.

With very many pages a random sample of them is read: reading a million pages takes longer than people wait for a plan.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from webstrata.clock import DAY_S
from webstrata.columns import Days
from webstrata.flows.crawl.selection.schedule_input import ScheduleInput, page_chunks
from webstrata.ports import Store
from webstrata.predict.prior import ANY_PAGE
from webstrata.schedule.budget import (
    DailyRate,
    ExpectedYield,
    expected_yield,
    interval_at_price,
    yield_of_intervals,
)
from webstrata.schedule.policy import Bounds
from webstrata.schedule.schedule import Schedule

SHARES = (0.8, 1.0, 1.2)
SAMPLED = 10_000
"""Number of pages from which on a sample of about this size is read."""
_EXAMPLES = (1.0, 7.0, 30.0, 365.0)
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
    example_change_days: float
    """An example near the median page: a page that changes daily (1), weekly (7), monthly (30) or yearly (365)."""
    example_days: float | None
    """Days between visits of this example, with weight 1; None under a timer policy."""
    median_days: float
    """Median of the pages' intervals, in days."""
    bytes_per_day: float | None
    """The budget, if it is one of bytes."""
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
        sample = await page_sample(store, totals.pages, sampled)
    intervals: Days | None = None
    weights: Days = np.empty(0)
    if schedule.ranking is not None:
        source = ScheduleInput(store, schedule)
        await (source.refresh(now) if sample is None else source.load_only(sample, now))
        rates, weights = schedule.ranking.expected_rates(now)
        read = len(schedule.ranking.page_table)
    else:
        rates, intervals, read = await _observed_rates(store, sample)
    if not len(rates):
        return []
    scale = 1.0 if sample is None else totals.pages / read
    per_day = totals.expected_per_day if rate is None else rate.per_day(totals.pages)
    bytes_per_day = None
    if rate is not None and rate.unit == "bytes":
        bytes_per_day, per_day = per_day, per_day / max(1.0, totals.bytes / max(1, totals.visits))
    example = _example(rates)
    what_ifs = []
    for share in SHARES:
        affordable = share * per_day / scale
        if intervals is None:
            expected = expected_yield(rates, weights, affordable, bounds)
        else:
            expected = _timer_yield(rates, intervals, affordable, is_limit=rate is not None)
        what_ifs.append(
            BudgetWhatIf(
                share=share,
                budget_per_day=share * per_day,
                visits_per_day=scale * expected.visits_per_day,
                changes_per_day=scale * expected.changes_per_day,
                captured_per_day=scale * expected.captured_per_day,
                freshness=expected.freshness,
                example_change_days=example,
                example_days=None if intervals is not None else interval_at_price(1 / example, expected.price, bounds),
                median_days=expected.median_days,
                bytes_per_day=None if bytes_per_day is None else share * bytes_per_day,
                pages=read if sample is None else totals.pages,
                sampled_pages=read,
            )
        )
    return what_ifs


def _example(rates: Days) -> float:
    """The change interval in everyday words that is nearest to that of the median page."""
    median_days = 1.0 / max(float(np.median(rates)), 1e-9)
    return min(_EXAMPLES, key=lambda days: abs(np.log(days / median_days)))


def _timer_yield(rates: Days, intervals: Days, per_day: float, *, is_limit: bool) -> ExpectedYield:
    """The yield of a timer policy: pages keep their own intervals, all longer if the budget pays for fewer visits.

    Without a limit, `per_day` is what the intervals give, times a share.
    """
    demand = float((1.0 / intervals).sum())
    if per_day <= 0:
        return expected_yield(rates, np.ones(len(rates)), 0.0, Bounds())
    factor = demand / per_day
    return yield_of_intervals(rates, intervals * (max(factor, 1.0) if is_limit else factor))


async def page_sample(store: Store, pages: int, size: int) -> list[int]:
    """Random ids, among which about `size` are those of pages; always the same ones."""
    largest_id = await store.queue.largest_id()
    count = min(_MOST_IDS, largest_id, size * largest_id // pages)
    ids: list[int] = np.random.default_rng(0).choice(largest_id, count, replace=False).tolist()
    return [1 + id_ for id_ in ids]


async def _observed_rates(store: Store, sample: Sequence[int] | None) -> tuple[Days, Days, int]:
    """(changes per day, interval in days) of each page that was seen, from its number of changes, for timer policies;
    and the number of pages that were read."""
    if sample is None:
        read = [page async for chunk in page_chunks(store) for page in chunk]
    else:
        read = await store.budgets.summaries_of(sample)
    pages = [page for page in read if page.last_seen_at is not None and page.interval_s]
    days = np.array([((page.last_seen_at or 0.0) - page.added_at) / DAY_S for page in pages])
    changes = np.array([page.changes for page in pages], dtype=np.float64)
    rates: Days = (changes + ANY_PAGE.shape) / (np.maximum(days, 0.0) + ANY_PAGE.days)
    return rates, np.array([(page.interval_s or DAY_S) / DAY_S for page in pages]), len(read)
