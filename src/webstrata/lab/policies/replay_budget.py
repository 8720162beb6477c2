"""Budgeted policies over a population: day by day the allocator visits what is worth most, never more than allowed.

The pages under a policy live in a `Population`, which sees the outcome of its own visits, lists and reports and nothing
else. Archive copies from before the window are shown to it week by week and cost nothing.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from webstrata.columns import Rows
from webstrata.lab.policies.replay_log import ReplayLog
from webstrata.lab.policies.simulated_sources import SimulatedLists, SimulatedReports
from webstrata.lab.policies.truth import Truth
from webstrata.schedule.allocator import DailyShare, choose
from webstrata.schedule.policy_state import PolicyState, SourceTable

WEEK_DAYS = 7


class ReplaySources(Struct, frozen=True, kw_only=True):
    """What a population may hear besides its own visits."""

    lists: SimulatedLists | None = None
    reports: SimulatedReports | None = None


def start_day(truth: Truth) -> int:
    """The day on which a population begins: day 0, or as many days earlier as archive copies are to be shown."""
    return -int(truth.past_days)


def replay_budget(
    population: PolicyState, truth: Truth, downloads: float, extras: ReplaySources | None = None
) -> ReplayLog:
    """Spend so many downloads evenly over the window. The population begins at `start_day`."""
    extras = extras or ReplaySources()
    _show_archive(population, truth)
    days = int(truth.days)
    share = DailyShare(per_day=downloads / days)
    run = _BudgetReplay(population, truth, extras)
    for day in range(1, days + 1):
        run.live(day, share.next_day())
    return run.log()


def _show_archive(population: PolicyState, truth: Truth) -> None:
    """Weekly copies before the window, of the pages that existed; the last one is the copy of day 0."""
    begin = start_day(truth)
    seen = np.where(truth.first_day <= begin, float(begin), -np.inf)
    for day in range(begin + WEEK_DAYS, 1, WEEK_DAYS):
        known = np.flatnonzero(np.isfinite(seen))
        changed = truth.changed(known, seen[known], np.full(len(known), float(day))) > 0
        population.learn(known, float(day), changed)
        first = np.flatnonzero(~np.isfinite(seen) & (truth.first_day <= day))
        population.copied(first, float(day))
        seen[known], seen[first] = day, day
    population.copied(np.flatnonzero(population.age(0.0) > 0), 0.0)


class _BudgetReplay:
    """One replay under way."""

    def __init__(self, population: PolicyState, truth: Truth, extras: ReplaySources) -> None:
        self.population, self.truth, self.extras = population, truth, extras
        self.price = 0.0
        self.seen_at = np.zeros(len(truth))
        self.position = truth.position(population.rows, self.seen_at)
        self.visited: list[Rows] = [population.rows[:0]]
        self.days: list[int] = [0]
        self.befores = [self.seen_at[:0]]
        self.flags = [np.zeros(0, dtype=bool)]
        self.lists: list[tuple[int, int]] = []
        if extras.lists is not None:
            population.lists = SourceTable(population.site, now=0.0)
        if extras.reports is not None:
            population.reports = SourceTable(population.site, now=0.0)

    def live(self, day: int, allowed: int) -> None:
        """One day: hear reports, fetch the lists that are worth it, visit the pages that are."""
        now = float(day)
        self._hear(now)
        allowed -= self._fetch_lists(day, allowed)
        values = self.population.values(now)
        rows = choose(values, self.population.age(now), allowed, self.population.policy.bounds)
        if not len(rows):
            return
        self.price = float(values[rows].min())
        position = self.truth.position(rows, np.full(len(rows), now))
        changed = position > self.position[rows]
        self.population.learn(rows, now, changed)
        self.position[rows] = position
        self.visited.append(rows)
        self.days.append(day)
        self.befores.append(self.seen_at[rows])
        self.flags.append(changed)
        self.seen_at[rows] = now

    def _hear(self, now: float) -> None:
        book, reports = self.population.reports, self.extras.reports
        if book is None or reports is None:
            return
        for site in range(len(book.quality)):
            book.looked(site, now, *reports.news(site, now - 1.0, now))

    def _fetch_lists(self, day: int, allowed: int) -> int:
        """Fetch the lists whose worth passes the price, best first; how many."""
        book, lists = self.population.lists, self.extras.lists
        if book is None or lists is None:
            return 0
        ready = np.flatnonzero((book.looks == 0) | (day - book.looked_at >= lists.every_days))
        if not len(ready) or allowed <= 0:
            return 0
        worth = self.population.list_values(float(day), self.price)[ready]
        worth[day - book.looked_at[ready] >= self.population.policy.bounds.max_days] = np.inf  # it may have improved
        order = np.argsort(-worth, kind="stable")
        fetched = [int(site) for site in ready[order] if worth[ready == site][0] > max(self.price, 1e-6)][:allowed]
        for site in fetched:
            book.looked(site, float(day), *lists.news(site, float(book.looked_at[site]), float(day)))
            self.lists.append((day, site))
        return len(fetched)

    def log(self) -> ReplayLog:
        sizes = [len(rows) for rows in self.visited]
        first_of = np.unique(self.population.site, return_index=True)[1]
        return ReplayLog(
            page=np.concatenate(self.visited),
            at=np.repeat(np.array(self.days, dtype=np.float64), sizes),
            since=np.concatenate(self.befores),
            changed=np.concatenate(self.flags),
            lists=np.array([day for day, _ in self.lists], dtype=np.float64),
            lists_page=np.array([first_of[site] for _, site in self.lists], dtype=np.intp),
        )
