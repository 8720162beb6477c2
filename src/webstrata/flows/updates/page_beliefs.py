"""The probability that pages are updated by given times: by the state of the policy, else by their history alone.

The state of a page is what `why` explains and what the schedule uses, so it comes first. Where there is none (a page
that is only known from copies, a policy without a forecast, updates by links), the activity model of the default policy
learns the page's history now. A page of which nothing is known has the belief about any page, from now on.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from webstrata.clock import DAY_S
from webstrata.columns import Column, Days, Flags, State, unpack
from webstrata.flows.crawl.selection.schedule_input import ScheduleInput
from webstrata.flows.updates.known_pages import KnownPage
from webstrata.ports import Store
from webstrata.predict.activity import Activity, Belief, pooled_activity
from webstrata.predict.belief_history import beliefs_after
from webstrata.predict.updates import UpdateLayer
from webstrata.predict.visit_history import VisitHistory
from webstrata.schedule.forecast import NOTHING, ForecastTable, PageSignals, changed_given
from webstrata.schedule.policy import ValuePolicy
from webstrata.schedule.schedule import Schedule
from webstrata.schedule.value_schedule import ValueSchedule

NO_DAYS: Days = np.empty(0)
_SHORTEST_DAYS = 1e-6


class PageOutlook(Struct, frozen=True, kw_only=True):
    """What is expected of some pages; rows are pages. Probabilities are those of an update since the page was last
    seen."""

    rate: Days
    """Updates per day that are expected now."""
    now: Days
    by: Days
    """Probability of an update until now, and until the end of the period that is asked for."""
    curve: NDArray[np.float64]
    """The same some days after the page was last seen: one column for each number of days."""
    seen_at: Days
    """When the page was last seen, in seconds; now for a page that never was."""
    belief: Belief
    """Of the activity model after the page's history."""

    def replace_rows(self, rows: Flags, state: StateOutlook) -> None:
        """Write the figures of pages that have a state of the policy. In place."""
        self.rate[rows], self.now[rows], self.by[rows] = state.rate, state.now, state.by
        self.curve[rows], self.seen_at[rows] = state.curve, state.seen_at


class StateOutlook(Struct, frozen=True, kw_only=True):
    """The same columns of pages with a state of the policy."""

    rate: Column
    now: Column
    by: Column
    curve: NDArray[np.float64]
    seen_at: Days


class PageBeliefs:
    """Beliefs about the updates of pages in one layer."""

    def __init__(self, store: Store, schedule: Schedule, layer: UpdateLayer) -> None:
        self._input = ScheduleInput(store, schedule)
        ranking = schedule.ranking
        self._ranking: ValueSchedule | None = None
        if layer == "content" and ranking is not None and ranking.policy.has_forecast:
            self._ranking = ranking
        self.activity: Activity = pooled_activity()

    async def load(self, now: float) -> None:
        """Read the states of all watched pages."""
        if self._ranking is not None:
            await self._input.refresh(now)

    async def load_only(self, ids: Sequence[int], now: float) -> None:
        """Read the states of these pages only."""
        if self._ranking is not None:
            await self._input.load_only(ids, now)

    def outlook(
        self,
        pages: Sequence[KnownPage],
        history: VisitHistory,
        seen_at: Days,
        *,
        now: float,
        by: float,
        curve_days: Days = NO_DAYS,
    ) -> PageOutlook:
        """The outlook of pages with these histories. `seen_at`: when each was last seen, NaN if never. Without `pages`,
        histories are not of single pages, and only they count."""
        belief = beliefs_after(self.activity, history)
        last_seen = np.where(np.isnan(seen_at), now, seen_at)

        def forecast(age: Days) -> ForecastTable:
            return ForecastTable(**self.activity.forecast(belief, age)._asdict())

        age, ahead = ((np.maximum(at - last_seen, 0.0) / DAY_S) for at in (now, by))
        curve = np.empty((len(last_seen), len(curve_days)))
        for column, days in enumerate(curve_days.tolist()):
            later = np.full(len(last_seen), days)
            curve[:, column] = 1.0 - forecast(later).unchanged_at(later)
        present = forecast(age)
        found = PageOutlook(
            rate=present.rate_at(age).astype(np.float64),
            now=1.0 - present.unchanged_at(age).astype(np.float64),
            by=1.0 - forecast(ahead).unchanged_at(ahead).astype(np.float64),
            curve=curve,
            seen_at=last_seen,
            belief=belief,
        )
        if self._ranking is not None and pages:
            self._replace_known(self._ranking, pages, found, now=now, by=by, curve_days=curve_days)
        return found

    def _replace_known(
        self,
        ranking: ValueSchedule,
        pages: Sequence[KnownPage],
        found: PageOutlook,
        *,
        now: float,
        by: float,
        curve_days: Days,
    ) -> None:
        """Write the figures of the pages that have a state of the policy. In place."""
        table, policy = ranking.page_table, ranking.policy
        rows = table.rows(page.id for page in pages)
        has_state = np.array([_has_state(page, policy) for page in pages], dtype=bool)
        seen = np.array([page.last_seen_at is not None for page in pages], dtype=bool)
        in_table: Flags = (rows >= 0) & (has_state | seen)
        if in_table.any():
            state = table.policy_state
            chosen = rows[in_table]
            signals = state.signals(chosen, now / DAY_S)
            figures = _by_state(policy, state.state[chosen], signals, now=now, by=by, curve_days=curve_days)
            found.replace_rows(in_table, figures)
        alone: Flags = (rows < 0) & has_state
        if alone.any():
            packed = [page.policy_state for page, chosen in zip(pages, alone, strict=True) if chosen]
            states = unpack(packed, policy.start(len(packed)))
            found.replace_rows(alone, _by_state(policy, states, NOTHING, now=now, by=by, curve_days=curve_days))


def _has_state(page: KnownPage, policy: ValuePolicy) -> bool:
    return page.policy == policy.name and len(page.policy_state) == policy.dtype.itemsize


def _by_state(
    policy: ValuePolicy, state: State, signals: PageSignals, *, now: float, by: float, curve_days: Days
) -> StateOutlook:
    """What sources and sites have said until now counts for all later times. Events of the site are spread evenly over
    the time since the last visit."""
    rows = np.arange(len(state), dtype=np.intp)
    age = policy.age(state, rows, now / DAY_S)

    def chance(at_age: Days) -> Column:
        unchanged = policy.forecast(state, rows, at_age).unchanged_at(at_age)
        share = np.minimum(at_age / np.maximum(age, _SHORTEST_DAYS), 1.0)
        quiet = unchanged if signals.quiet is None else unchanged * signals.quiet**share
        return np.where(at_age < age, 1.0 - quiet, changed_given(signals.own_or_site(unchanged), signals.hints))

    curve = np.empty((len(state), len(curve_days)))
    for column, days in enumerate(curve_days.tolist()):
        curve[:, column] = chance(np.full(len(state), days))
    return StateOutlook(
        rate=policy.forecast(state, rows, age).rate_at(age),
        now=chance(age),
        by=chance(policy.age(state, rows, by / DAY_S)),
        curve=curve,
        seen_at=state["seen_at"] * DAY_S,
    )
