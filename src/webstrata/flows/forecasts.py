"""The forecast of every active page: the rate of its changes, and the probability that it has changed by now.

The figures of the policy are those of `why`. A rate and its 95 % interval from the page's visits alone are computed
beside them, for any policy.
"""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Sequence

import numpy as np
from msgspec import Struct

from webstrata.clock import DAY_S
from webstrata.columns import Column, Days
from webstrata.flows.crawl.selection.schedule_input import ScheduleInput, page_chunks
from webstrata.ports import Store
from webstrata.predict.poisson import irregular
from webstrata.predict.visit_history import VisitHistory, from_times
from webstrata.records import PageSummary
from webstrata.schedule.forecast import changed_given
from webstrata.schedule.next_visit import past_unchanged
from webstrata.schedule.schedule import Schedule
from webstrata.schedule.value_schedule import ValueSchedule


class ForecastRow(Struct, frozen=True, kw_only=True, gc=False):
    """What is expected of a page. None: it was not seen yet, or the policy has no such figure."""

    page: PageSummary
    policy: str
    at: float
    """The time for which the forecast holds."""
    rate_per_day: float | None = None
    """Changes per day that the policy expects."""
    changed_probability: float | None = None
    """Probability that the page has changed since its last visit."""
    expected_change_at: float | None = None
    """`at`, and as many days later as the rate needs for one change."""
    observed_rate: float | None = None
    observed_low: float | None = None
    observed_high: float | None = None
    """Changes per day by the page's visits alone, and the ends of its 95 % interval."""


async def page_forecasts(store: Store, schedule: Schedule, policy: str, now: float) -> AsyncIterator[list[ForecastRow]]:
    """The forecasts of all active pages without requisites, by id, in chunks; `policy` is the name of the policy."""
    source = ScheduleInput(store, schedule)
    await source.refresh(now)
    async for pages in page_chunks(store):
        history = page_history(pages, await store.visit_log.observations([page.id for page in pages]))
        yield _forecasts(schedule, policy, pages, history, now)


def page_history(pages: Sequence[PageSummary], observations: Sequence[tuple[int, float, bool]]) -> VisitHistory:
    """The visits of these pages, which are sorted by id, as columns."""
    ids = np.array([page.id for page in pages], dtype=np.int64)
    logged = np.array([id_ for id_, _, _ in observations], dtype=np.int64)
    at = np.array([at for _, at, _ in observations], dtype=np.float64)
    changed = np.array([changed for _, _, changed in observations], dtype=bool)
    return from_times(np.searchsorted(ids, logged), at / DAY_S, changed, len(pages))


def _forecasts(
    schedule: Schedule, policy: str, pages: Sequence[PageSummary], history: VisitHistory, now: float
) -> list[ForecastRow]:
    observed = irregular(history)
    rates, chances = _expected(schedule, pages, now)
    found = []
    for number, page in enumerate(pages):
        is_seen = page.last_seen_at is not None
        rate = _finite(rates[number]) if is_seen else None
        found.append(
            ForecastRow(
                page=page,
                policy=policy,
                at=now,
                rate_per_day=rate,
                changed_probability=_finite(chances[number]) if is_seen else None,
                expected_change_at=now + DAY_S / rate if rate else None,
                observed_rate=_finite(observed.rate[number]),
                observed_low=_finite(observed.low[number]),
                observed_high=_finite(observed.high[number]),
            )
        )
    return found


def _expected(schedule: Schedule, pages: Sequence[PageSummary], now: float) -> tuple[Days | Column, Days | Column]:
    """Rate and probability of a change of each page by the policy; a policy without a forecast has no rate."""
    ranking = schedule.ranking
    if ranking is None or not ranking.policy.has_forecast:
        unchanged = np.array(past_unchanged(pages, [now] * len(pages)))
        return np.full(len(pages), np.nan), 1.0 - unchanged
    return _by_policy(ranking, pages, now / DAY_S)


def _by_policy(ranking: ValueSchedule, pages: Sequence[PageSummary], days: float) -> tuple[Column, Column]:
    state = ranking.page_table.policy_state
    rows = ranking.page_table.rows(page.id for page in pages)
    known = rows >= 0
    rates, chances = (np.full(len(pages), np.nan, dtype=np.float32) for _ in range(2))
    chosen = rows[known]
    age = ranking.policy.age(state.state, chosen, days)
    forecast, signals = ranking.policy.forecast(state.state, chosen, age), state.signals(chosen, days)
    rates[known] = forecast.rate_at(age)
    chances[known] = changed_given(signals.own_or_site(forecast.unchanged_at(age)), signals.hints)
    return rates, chances


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
