"""The visits that the longest intervals of pages ask for, compared with the budget.

Overdue pages are visited in the order of their age in longest intervals. If the limits ask for more than the budget
gives, all pages with limits therefore wait longer by the same factor, and pages without limits get what is left: almost
nothing. With very many pages a random sample of them is read.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from webstrata.clock import DAY_S
from webstrata.columns import Days
from webstrata.flows.budget_whatif import SAMPLED, page_sample
from webstrata.flows.crawl.selection.schedule_input import page_chunks
from webstrata.ports import Store
from webstrata.schedule.budget import DailyRate
from webstrata.schedule.overrides import IntervalLimits, Overrides


class LimitDemand(Struct, frozen=True, kw_only=True):
    """What the longest intervals ask for."""

    pages: int
    """Pages for which a longest interval is set."""
    visits_per_day: float
    """Visits that they need."""
    budget_per_day: float
    """Visits that the budget pays for."""
    shortest_s: float
    """The shortest of the longest intervals."""

    @property
    def stretch(self) -> float:
        """By what factor the pages with limits wait longer than their limits."""
        return max(1.0, self.visits_per_day / max(self.budget_per_day, 1e-9))

    @property
    def is_too_much(self) -> bool:
        return self.visits_per_day > self.budget_per_day * (1 + 1e-9)


def demand_of(longest_s: Days, budget_per_day: float, pages_each: float = 1.0) -> LimitDemand | None:
    """The demand of pages with these longest intervals, each of which stands for so many pages; None without pages."""
    if not len(longest_s):
        return None
    return LimitDemand(
        pages=round(pages_each * len(longest_s)),
        visits_per_day=pages_each * float((DAY_S / longest_s).sum()),
        budget_per_day=budget_per_day,
        shortest_s=float(longest_s.min()),
    )


async def limit_demand(store: Store, rate: DailyRate | None, now: float, sampled: int = SAMPLED) -> LimitDemand | None:
    """What the longest intervals that users set ask for; None if no page has one, or if there is no budget."""
    limits = [limit for limit in await store.budgets.interval_limits() if limit.max_s is not None]
    if not limits or rate is None:
        return None
    totals = await store.maintenance.totals(now)
    per_day = rate.per_day(totals.pages)
    if rate.unit == "bytes":
        per_day /= max(1.0, totals.bytes / max(1, totals.visits))
    overrides = Overrides(
        pages={limit.name: limit for limit in limits if limit.kind == "page"},
        tags={limit.name: limit for limit in limits if limit.kind == "tag"},
    )
    if totals.pages > sampled:
        pages = await store.budgets.summaries_of(await page_sample(store, totals.pages, sampled))
    else:
        pages = [page async for chunk in page_chunks(store) for page in chunk]
    unlimited = IntervalLimits(0.0, np.inf)
    longest = np.array([overrides.limits(page.url, page.tags, unlimited).max_s for page in pages])
    return demand_of(longest[longest < np.inf], per_day, totals.pages / max(1, len(pages)))
