"""The visits that the longest intervals of pages ask for, compared with the budget.

Overdue pages are visited in the order of their age in longest intervals. If the limits ask for more than the budget
gives, all pages with limits therefore wait longer by the same factor, and pages without limits get what is left: almost
nothing. With very many pages a random sample of them is read.

The delay between requests to a host, or its own budget, may allow less than the limits of its pages ask for, whatever
the budget of all pages. Such hosts are found if all pages are read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Literal

import numpy as np
from msgspec import Struct

from webstrata.clock import DAY_S
from webstrata.columns import Days
from webstrata.flows.budget_whatif import SAMPLED, page_sample
from webstrata.flows.crawl.selection.schedule_input import page_chunks
from webstrata.permit.gate import PermitGate
from webstrata.ports import Store
from webstrata.records import PageSummary
from webstrata.schedule.budget import DailyRate
from webstrata.schedule.overrides import IntervalLimits, Overrides


class HostLimitDemand(Struct, frozen=True, kw_only=True):
    """A host that cannot be visited as often as the limits of its pages ask for."""

    host: str
    visits_per_day: float
    """Visits that the limits need."""
    possible_per_day: float
    limited_by: Literal["delay", "budget"]
    """The delay between requests (the own one or the Crawl-delay), or the budget of the host."""


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
    hosts: tuple[HostLimitDemand, ...] = ()
    """Hosts whose limits cannot be kept, the worst first."""

    @property
    def stretch(self) -> float:
        """By what factor the pages with limits wait longer than their limits."""
        return max(1.0, self.visits_per_day / max(self.budget_per_day, 1e-9))

    @property
    def is_too_much(self) -> bool:
        return self.visits_per_day > self.budget_per_day * (1 + 1e-9)


class HostRoom(Struct, frozen=True, kw_only=True):
    """What limits the visits of single hosts."""

    gate: PermitGate
    delay_s: float
    budgets: Mapping[str, DailyRate]


def demand_of(
    longest_s: Days, budget_per_day: float, pages_each: float = 1.0, hosts: tuple[HostLimitDemand, ...] = ()
) -> LimitDemand | None:
    """The demand of pages with these longest intervals, each of which stands for so many pages; None without pages."""
    if not len(longest_s):
        return None
    return LimitDemand(
        pages=round(pages_each * len(longest_s)),
        visits_per_day=pages_each * float((DAY_S / longest_s).sum()),
        budget_per_day=budget_per_day,
        shortest_s=float(longest_s.min()),
        hosts=hosts,
    )


async def limit_demand(
    store: Store,
    rate: DailyRate | None,
    now: float,
    sampled: int = SAMPLED,
    host_room: Callable[[], Awaitable[HostRoom]] | None = None,
) -> LimitDemand | None:
    """What the longest intervals that users set ask for; None if no page has one, or if there is no budget."""
    limits = [limit for limit in await store.budgets.interval_limits() if limit.max_s is not None]
    if not limits or rate is None:
        return None
    totals = await store.maintenance.totals(now)
    visit_bytes = max(1.0, totals.bytes / max(1, totals.visits))
    overrides = Overrides(
        pages={limit.name: limit for limit in limits if limit.kind == "page"},
        tags={limit.name: limit for limit in limits if limit.kind == "tag"},
    )
    is_sample = totals.pages > sampled
    if is_sample:
        pages = await store.budgets.summaries_of(await page_sample(store, totals.pages, sampled))
    else:
        pages = [page async for chunk in page_chunks(store) for page in chunk]
    unlimited = IntervalLimits(0.0, np.inf)
    longest = np.array([overrides.limits(page.url, page.tags, unlimited).max_s for page in pages])
    hosts: tuple[HostLimitDemand, ...] = ()
    if host_room is not None and not is_sample:
        hosts = _hosts_without_room(pages, longest, await host_room(), visit_bytes, now)
    per_day = _visits_per_day(rate, totals.pages, visit_bytes)
    return demand_of(longest[longest < np.inf], per_day, totals.pages / max(1, len(pages)), hosts)


def _visits_per_day(rate: DailyRate, pages: int, visit_bytes: float) -> float:
    return rate.per_day(pages) / (visit_bytes if rate.unit == "bytes" else 1.0)


def _hosts_without_room(
    pages: Sequence[PageSummary], longest_s: Days, room: HostRoom, visit_bytes: float, now: float
) -> tuple[HostLimitDemand, ...]:
    count = Counter(page.host for page in pages)
    url_of = {page.host: page.url for page in pages}
    needed: dict[str, float] = {}
    for page, seconds in zip(pages, longest_s.tolist(), strict=True):
        needed[page.host] = needed.get(page.host, 0.0) + DAY_S / seconds
    found = []
    for host, visits_per_day in needed.items():
        delay_s = max(room.delay_s, room.gate.constraints(url_of[host], now)[0] or 0.0)
        by_delay = DAY_S / delay_s if delay_s > 0 else np.inf
        rate = room.budgets.get(host)
        by_budget = np.inf if rate is None else _visits_per_day(rate, count[host], visit_bytes)
        possible = min(by_delay, by_budget)
        if visits_per_day > possible * (1 + 1e-9):
            limited_by: Literal["delay", "budget"] = "budget" if by_budget < by_delay else "delay"
            found.append(
                HostLimitDemand(
                    host=host, visits_per_day=visits_per_day, possible_per_day=possible, limited_by=limited_by
                )
            )
    return tuple(sorted(found, key=lambda one: one.possible_per_day / one.visits_per_day))
