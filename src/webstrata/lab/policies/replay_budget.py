"""Replays a budgeted policy: in each step, usually a day, the allocator visits the most valuable pages within the
allowed downloads.

The pages of a policy are in a `PolicyState`, which sees only the outcome of its own visits, lists and reports. It may
have learned from copies from before the window (`learn_past`), which cost nothing.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from webstrata.columns import Column, Flags, Rows
from webstrata.lab.policies.replay_log import ReplayLog
from webstrata.lab.policies.simulated_sources import DatedEntries, ListedEntries
from webstrata.lab.policies.truth import Truth
from webstrata.predict.source_quality import CountedSources
from webstrata.schedule.allocator import EvenShare, choose
from webstrata.schedule.announcements import SourceTable
from webstrata.schedule.past_copies import PastSightings, learn_sightings
from webstrata.schedule.policy_state import PolicyState
from webstrata.schedule.source_choice import choose_sources, moved_price, source_worth


class ReplaySources(Struct, frozen=True, kw_only=True):
    """Sources that the policy may use in addition to its own visits."""

    lists: ListedEntries | None = None
    reports: DatedEntries | None = None
    sample_order: NDArray[np.int64] | None = None
    """By page: which announcements of a list count if it renews nearly all of its times, lowest first."""


def replay_budget(
    pages: PolicyState,
    truth: Truth,
    downloads: float,
    sources: ReplaySources | None = None,
    step_days: float = 1.0,
) -> ReplayLog:
    """Spend the downloads evenly over the window, in steps."""
    steps = int(truth.days / step_days + 1e-9)
    share = EvenShare(per_step=downloads / steps)
    run = _BudgetReplay(pages, truth, sources or ReplaySources(), step_days, downloads / truth.days)
    for step in range(1, steps + 1):
        run.day(step * step_days, share.next_step())
    return run.log()


def learn_past(pages: PolicyState, truth: Truth, sightings: PastSightings) -> None:
    """Learn from copies before day 0, then take the first copies of the window: those of pages with an earlier copy are
    compared with the last one, as the first visits of the live loop are."""
    learn_sightings(pages, sightings)
    known = np.unique(sightings.page)
    changed = truth.changed(known, pages.state["seen_at"][known], np.zeros(len(known))) > 0
    if len(known):
        pages.learn(known, 0.0, changed)
    new = np.setdiff1d(pages.rows, known)
    pages.begin(new, np.zeros(len(new)), known[np.isin(pages.site[known], pages.site[new])])


class _BudgetReplay:
    """One replay."""

    def __init__(
        self, pages: PolicyState, truth: Truth, sources: ReplaySources, step_days: float, per_day: float
    ) -> None:
        self.pages, self.truth, self.sources, self.step_days = pages, truth, sources, step_days
        self.per_day = max(per_day, 1e-9)
        self.price = pages.policy.first_price
        self.seen_at = np.zeros(len(truth))
        self.position = truth.position(pages.rows, self.seen_at)
        self.visited: list[Rows] = [pages.rows[:0]]
        self.days: list[float] = [0.0]
        self.befores = [self.seen_at[:0]]
        self.flags = [np.zeros(0, dtype=bool)]
        self.lists: list[tuple[float, int]] = []
        nothing = (pages.rows[:0], self.seen_at[:0], self.seen_at[:0])
        if sources.lists is not None:
            order = np.arange(len(truth)) if sources.sample_order is None else sources.sample_order
            pages.lists = SourceTable(pages.site.copy(), now=0.0, sample_order=order)
            for site in range(len(pages.lists)):  # the first read of a list is free, as are the first copies of pages
                pages.lists.read(site, 0.0, *nothing)
        if sources.reports is not None:
            pages.reports = SourceTable(pages.site.copy(), now=0.0)

    def day(self, day: float, allowed: int) -> None:
        """One step: receive reports, read the lists that are worth it, visit the most valuable pages."""
        now = float(day)
        self._receive_reports(now)
        values, number = self._read_lists(day, allowed)
        allowed -= number
        if values is None or number:
            values = self.pages.values(now)
        age, bounds = self.pages.age(now), self.pages.policy.bounds
        rows = choose(values, age, allowed, bounds)
        if not len(rows):
            return
        by_value = rows[age[rows] < bounds.max_days]
        if len(by_value):
            least = float(values[by_value].min()) if len(rows) == allowed else 0.0
            self.price = moved_price(self.price, least, len(rows) / self.per_day)
        position = self.truth.position(rows, np.full(len(rows), now))
        changed = position > self.position[rows]
        checks = self._check_sources(rows, now, changed)
        self.pages.learn(rows, now, changed)
        for table, counted in checks:
            table.add(counted)
        self.position[rows] = position
        self.visited.append(rows)
        self.days.append(day)
        self.befores.append(self.seen_at[rows])
        self.flags.append(changed)
        self.seen_at[rows] = now

    def _receive_reports(self, now: float) -> None:
        table, reports = self.pages.reports, self.sources.reports
        if table is None or reports is None:
            return
        for site in range(len(table)):
            self._read(table, reports, site, now - self.step_days, now)

    def _read_lists(self, day: float, allowed: int) -> tuple[Column | None, int]:
        """Read the lists that are worth it; the values of pages before that, if they were computed, and the number of
        lists."""
        table, lists = self.pages.lists, self.sources.lists
        if table is None or lists is None or allowed <= 0 or not self.pages.policy.has_forecast:
            return None, 0
        values, chances = self.pages.values_and_chances(float(day))
        weights = 1.0 if self.pages.weights is None else self.pages.weights
        worth = source_worth(table, values / np.maximum(weights, 1e-9), chances, weights, self.price)
        chosen = choose_sources(
            table,
            values,
            worth,
            allowed,
            self.price,
            now=float(day),
            visits_per_day=self.per_day,
            ready=day - table.read_at[:-1] >= lists.every_days,
            overdue=np.zeros(len(table), dtype=bool),
        )
        for site in chosen.tolist():
            self._read(table, lists, site, float(table.read_at[site]), float(day))
            self.lists.append((day, site))
        return values, len(chosen)

    def _read(self, table: SourceTable, source: DatedEntries, site: int, since: float, now: float) -> None:
        rows, dated = source.news(site, since, now)
        table.read(site, now, rows, dated, self.seen_at[rows])

    def _check_sources(self, rows: Rows, now: float, changed: Flags) -> list[tuple[SourceTable, CountedSources]]:
        """Compare what the sources said of visited pages with the result. As in the live loop, this is done before the
        policy learns from the visits, and the counts are added after it."""
        tables = self.pages.source_tables
        if not tables:
            return []
        checks = []
        elapsed, unchanged = now - self.seen_at[rows], self.pages.unchanged(rows, np.full(len(rows), now), now)
        for table, hint in zip(tables, self.pages.signals(rows, now).hints, strict=True):
            said = (hint.covered_days > 0) | hint.announced
            counted = table.checks(rows[said], elapsed[said], changed[said], unchanged[said], hint.unchanged[said])
            checks.append((table, counted))
        return checks

    def log(self) -> ReplayLog:
        sizes = [len(rows) for rows in self.visited]
        first_of = np.unique(self.pages.site, return_index=True)[1]
        return ReplayLog(
            page=np.concatenate(self.visited),
            at=np.repeat(np.array(self.days, dtype=np.float64), sizes),
            since=np.concatenate(self.befores),
            changed=np.concatenate(self.flags),
            lists=np.array([day for day, _ in self.lists], dtype=np.float64),
            lists_page=np.array([first_of[site] for _, site in self.lists], dtype=np.intp),
        )
