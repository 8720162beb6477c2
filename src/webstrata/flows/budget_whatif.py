"""The expected yield of a fifth less, the present, and a fifth more of the budget, from the forecasts of all pages."""

from __future__ import annotations

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


async def budget_whatif(
    store: Store, schedule: Schedule, rate: DailyRate | None, now: float, bounds: Bounds
) -> list[BudgetWhatIf]:
    """One entry for each of `SHARES`; empty if no page was seen yet. Without a rate, the present intervals count."""
    if schedule.ranking is not None:
        await ScheduleInput(store, schedule).refresh(now)
        rates, weights = schedule.ranking.expected_rates(now)
    else:
        rates, weights = await _observed_rates(store)
    if not len(rates):
        return []
    totals = await store.maintenance.totals(now)
    per_day = totals.expected_per_day if rate is None else rate.per_day(totals.pages)
    if rate is not None and rate.unit == "bytes":
        per_day /= max(1.0, totals.bytes / max(1, totals.visits))
    what_ifs = []
    for share in SHARES:
        expected = expected_yield(rates, weights, share * per_day, bounds)
        what_ifs.append(
            BudgetWhatIf(
                share=share,
                budget_per_day=share * per_day,
                visits_per_day=expected.visits_per_day,
                changes_per_day=expected.changes_per_day,
                captured_per_day=expected.captured_per_day,
                freshness=expected.freshness,
            )
        )
    return what_ifs


async def _observed_rates(store: Store) -> tuple[Days, Days]:
    """(changes per day, weight) of each page that was seen, from its number of changes: for timer policies."""
    pages = [page async for chunk in page_chunks(store) for page in chunk if page.last_seen_at is not None]
    days = np.array([((page.last_seen_at or 0.0) - page.added_at) / DAY_S for page in pages])
    changes = np.array([page.changes for page in pages], dtype=np.float64)
    rates: Days = (changes + ANY_PAGE.shape) / (np.maximum(days, 0.0) + ANY_PAGE.days)
    return rates, sane_weights(np.array([page.weight for page in pages], dtype=np.float64))
