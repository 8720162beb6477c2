"""What a fifth more or less of the budget would buy, by the forecasts of all pages."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from webstrata.clock import DAY_S
from webstrata.columns import Days
from webstrata.flows.crawl.value_schedule import ValueSchedule
from webstrata.ports import Store
from webstrata.records import PageSummary
from webstrata.schedule.budget import DailyRate, expected_yield, sane_weights
from webstrata.schedule.page_table import CHUNK
from webstrata.schedule.policy import Bounds
from webstrata.schedule.timer_schedule import TimerSchedule
from webstrata.schedule.value import Value

SHARES = (0.8, 1.0, 1.2)
_MONTH_DAYS = 30.0


class BudgetWhatIf(Struct, frozen=True, kw_only=True):
    """A share of the present budget, and what it is expected to bring."""

    share: float
    budget_per_day: float
    """Visits that it pays for."""
    visits_per_day: float
    """Visits that the pages' limits leave of them."""
    changes_per_day: float
    captured_per_day: float
    freshness: float


async def budget_whatif(
    store: Store, timetable: TimerSchedule | ValueSchedule, rate: DailyRate | None, now: float, bounds: Bounds
) -> list[BudgetWhatIf]:
    """One for each of `SHARES`; none where no page was seen yet. Without a rate: what the intervals amount to."""
    if isinstance(timetable, ValueSchedule):
        await timetable.refresh(store, now)
        rates, weights = _forecast(timetable, now)
    else:
        rates, weights = await _counted(store)
    if not len(rates):
        return []
    census = await store.maintenance.totals(now)
    per_day = census.expected_per_day if rate is None else rate.per_day(census.pages)
    if rate is not None and rate.unit == "bytes":
        per_day /= max(1.0, census.bytes / max(1, census.visits))
    found = []
    for share in SHARES:
        one = expected_yield(rates, weights, share * per_day, bounds)
        found.append(
            BudgetWhatIf(
                share=share,
                budget_per_day=share * per_day,
                visits_per_day=one.visits_per_day,
                changes_per_day=one.changes_per_day,
                captured_per_day=one.captured_per_day,
                freshness=one.freshness,
            )
        )
    return found


def _forecast(timetable: ValueSchedule, now: float) -> tuple[Days, Days]:
    """Changes a day that the policy expects of each page that was seen, and what they weigh."""
    crowd, policy, days = timetable.crowd, timetable.policy, now / DAY_S
    rows = np.flatnonzero(crowd.ready)
    weights = crowd.weight[rows] * crowd.factor[rows]
    if isinstance(policy, Value):
        chance = policy.outlook(crowd.population.state, rows, days).rate.astype(np.float64)
        coming = crowd.population.signals(rows, days).coming
        quiet = (1.0 - chance) * (1.0 if coming is None else coming)
        return -np.log(np.clip(quiet, 1e-9, 1.0)), weights
    told = [policy.explain(crowd.population.state, int(row), days).get("rate_per_day") for row in rows]
    return np.array([one if isinstance(one, float) else 1 / _MONTH_DAYS for one in told]), weights


async def _counted(store: Store) -> tuple[Days, Days]:
    """The same by the counts of changes, for policies that forecast nothing."""
    pages: list[PageSummary] = []
    after = 0
    while chunk := await store.budgets.summaries(after, CHUNK):
        pages += [one for one in chunk if one.last_seen_at is not None]
        after = chunk[-1].id
    days = np.array([((one.last_seen_at or 0.0) - one.added_at) / DAY_S for one in pages])
    changes = np.array([one.changes for one in pages], dtype=np.float64)
    rates: Days = (changes + 0.5) / (np.maximum(days, 0.0) + _MONTH_DAYS)
    return rates, sane_weights(np.array([one.weight for one in pages], dtype=np.float64))
