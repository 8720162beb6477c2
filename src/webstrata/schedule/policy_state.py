"""All pages under one value policy as columns: the policy's state, the events of their sites, and their sources.

The lab and the live loop use the same class. The policy, the model of site events and the model of sources are pure
functions over the columns that it owns. Time is in days of the caller's clock; events of sites count by whole days.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webstrata.columns import Column, Days, Flags, Rows
from webstrata.predict.activity import Belief
from webstrata.predict.siblings import WINDOW, ring_index
from webstrata.predict.start_belief import start_beliefs
from webstrata.schedule.allocator import usable_weights
from webstrata.schedule.announcements import SourceTable
from webstrata.schedule.forecast import NOTHING, ForecastTable, PageSignals, SourceHints, changed_given, empty_forecasts
from webstrata.schedule.policy import ValuePolicy

_POINTED_AT = 0.2
"""A page counts as selected by a hint if the hint raises its change probability by at least this much."""

_SAMPLE = 50_000
"""Of more pages than this a sample stands for the other pages of the sites."""
_CHUNK = 16_384
"""Pages that are valued together: their intermediate columns fit in the processor's cache."""


class PolicyState:
    """Pages, the sites that they belong to, and what is known of both."""

    def __init__(
        self,
        policy: ValuePolicy,
        site: NDArray[np.intp],
        *,
        now: float = 0.0,
        weights: NDArray[np.float64] | None = None,
        has_events: bool = True,
    ) -> None:
        """`site` is the index of each page's site. Without `has_events`, events of whole sites are not learned."""
        self.policy = policy
        self.site = site
        self.rows: Rows = np.arange(len(site), dtype=np.intp)
        self.state = policy.start(len(site), now)
        self.weights = None if weights is None else usable_weights(weights)
        siblings = policy.siblings if policy.has_forecast and has_events else None
        self.siblings = siblings
        self.site_state = None if siblings is None else siblings.start(int(site.max(initial=-1)) + 1, _day(now))
        self.lists: SourceTable | None = None
        self.reports: SourceTable | None = None
        self._forecasts: ForecastTable | None = None
        # A contiguous copy of the state's column, and its position in the sites' ring buffers: for fast passes.
        self._seen_at: Days = self.state["seen_at"].copy()
        self._ring_index = ring_index(site, _days(self._seen_at))

    def __len__(self) -> int:
        return len(self.site)

    def age(self, now: float) -> Days:
        return np.maximum(now - self._seen_at, 0.0)

    # ── values ──────────────────────────────────────────────────────────────────────────────────────────────

    def values(self, now: float) -> Column:
        """What a visit of each page is worth now."""
        worth = self._worth(now) if self.policy.has_forecast else self.policy.value(self.state, self.rows, now)
        return worth if self.weights is None else worth * self.weights

    def values_and_chances(self, now: float) -> tuple[Column, Column]:
        """What a visit of each page is worth now, and the probability that the page has changed: of a policy with a
        forecast."""
        chances = np.empty(len(self), dtype=np.float32)
        worth = self._worth(now, chances)
        return worth if self.weights is None else worth * self.weights, chances

    def _worth(self, now: float, chances: Column | None = None) -> Column:
        """Values from the forecasts, computed in chunks; and the probabilities of a change, into `chances`."""
        worth = np.empty(len(self), dtype=np.float32)
        sites = self._sites_now(now)
        for begin in range(0, len(self), _CHUNK):
            part = slice(begin, begin + _CHUNK)
            age = np.maximum(now - self._seen_at[part], 0.0).astype(np.float32)
            signals = self.signals(self.rows[part], now) if sites is None else self._site_signals(sites, part, now, age)
            forecast = self._forecast(part, age)
            if chances is not None:
                chances[part] = changed_given(signals.own_or_site(forecast.unchanged_at(age)), signals.hints)
            worth[part] = self.policy.worth(forecast, age, signals)
        return worth

    def _forecast(self, part: slice, age: Column) -> ForecastTable:
        """The forecast of a range of the pages, recomputed where the age is no longer within its range."""
        if self._forecasts is None:
            self._forecasts = empty_forecasts(len(self))
        forecast = self._forecasts.part(part)
        outdated = forecast.outdated(age)
        if len(outdated):
            # Selecting many single rows costs more than computing all of them.
            rows: Rows | slice = outdated if len(outdated) < len(age) // 4 else slice(None)
            forecast.replace_rows(
                rows, self.policy.forecast(self.state, self.rows[part][rows], age[rows].astype(np.float64))
            )
        return forecast

    # ── learning ────────────────────────────────────────────────────────────────────────────────────────────

    def learn(self, rows: Rows, now: float | Days, changed: Flags) -> None:
        """These pages were visited now; with an array of times, each at its own time of one day."""
        elapsed = self.policy.age(self.state, rows, now)
        signals = NOTHING
        if self.policy.has_forecast:
            own = self.policy.forecast(self.state, rows, elapsed).unchanged_at(elapsed)
            latest = float(np.max(now, initial=-np.inf)) if isinstance(now, np.ndarray) else now
            signals = self.signals(rows, latest)
            if self.siblings is not None and self.site_state is not None:
                fair = self._fair(own, signals)
                site, since = self.site[rows][fair], _days(self.state["seen_at"][rows])[fair]
                self.siblings.learn(self.site_state, site, since, _day(latest), changed[fair], own[fair])
        self.policy.learn(self.state, rows, elapsed, changed, signals)
        self._seen(rows)

    def begin(self, rows: Rows, at: Days, others: Rows, levels: Belief | None = None) -> None:
        """First copies of these pages were taken. `others`: seen pages of the same sites; `levels`: what is expected of
        each new page by itself, instead of the policy's own expectation of any page."""
        for row, day in zip(rows.tolist(), at.tolist(), strict=True):
            self.state[row] = self.policy.start(1, day)[0]
        own = self.policy.beliefs(self.state, rows)
        known = self.policy.beliefs(self.state, others[:: 1 + len(others) // _SAMPLE])
        if own is not None and known is not None and len(rows):
            site, index = np.unique(self.site[rows], return_inverse=True)
            of_known = np.searchsorted(site, self.site[others[:: 1 + len(others) // _SAMPLE]])
            sums = np.zeros((len(site), own.shape[1]))
            np.add.at(sums, of_known, known)
            counts = np.bincount(of_known, minlength=len(site))
            mixed = start_beliefs(own if levels is None else levels, index, sums, counts)
            self.policy.expect(self.state, rows, mixed)
        self.copied(rows, at)

    def copied(self, rows: Rows, at: float | Days) -> None:
        """Copies of these pages were taken that say nothing about changes: their first copies."""
        self.state["seen_at"][rows] = at
        self._seen(rows)

    def _seen(self, rows: Rows) -> None:
        for table in self.source_tables:
            table.visited(rows)
        self._seen_at[rows] = self.state["seen_at"][rows]
        self._ring_index[rows] = ring_index(self.site[rows], _days(self._seen_at[rows]))
        if self._forecasts is not None:
            self._forecasts.forget(rows)

    def _fair(self, own: Column, signals: PageSignals) -> Flags:
        """Which visits are a fair sample of their site. Pages that a trusted source selected are not: if only they
        counted, every announced change would look like an event of the whole site."""
        if not signals.hints:
            return np.ones(len(own), dtype=bool)
        unchanged = signals.own_or_site(own)
        fair: Flags = changed_given(unchanged, signals.hints) - (1.0 - unchanged) < _POINTED_AT
        return fair

    # ── signals ─────────────────────────────────────────────────────────────────────────────────────────────

    def signals(self, rows: Rows, now: float) -> PageSignals:
        """All signals about these pages; none for a policy without a forecast."""
        if not self.policy.has_forecast:
            return NOTHING
        quiet = quiet_next_day = None
        seen_at = self.state["seen_at"][rows]
        if self.siblings is not None and self.site_state is not None:
            self.siblings.advance(self.site_state, _day(now))
            quiet = self.siblings.quiet(self.site_state, self.site[rows], _days(seen_at), _day(now))
            quiet_next_day = self.siblings.quiet_next_day(self.site_state)[self.site[rows]]
        hints = tuple(self._hints(table, rows, seen_at, now) for table in self.source_tables)
        return PageSignals(quiet=quiet, quiet_next_day=quiet_next_day, hints=hints)

    @property
    def source_tables(self) -> list[SourceTable]:
        """The tables of sources that hints come from, in the order of the hints."""
        return [table for table in (self.lists, self.reports) if table is not None]

    def _hints(self, table: SourceTable, rows: Rows, seen_at: Days, now: float) -> SourceHints:
        covered = table.covered_days(rows, seen_at)
        precision, recall = table.quality_of(rows)
        return SourceHints(
            covered_days=covered,
            unchanged=self.unchanged(rows, seen_at + covered, now),
            announced=table.announced[rows],
            precision=precision,
            recall=recall,
        )

    def unchanged(self, rows: Rows, until: Days, now: float) -> Column:
        """Probability that these pages did not change from their last visit until then, which is not after now,
        whatever sources say: neither by themselves nor by an event of their site."""
        seen_at = self.state["seen_at"][rows]
        age = np.maximum(until - seen_at, 0.0)
        own = self.policy.forecast(self.state, rows, age).unchanged_at(age)
        return own * self._quiet(rows, seen_at, seen_at + age, now)

    def _quiet(self, rows: Rows, since: Days, until: Days, now: float) -> Column:
        if self.siblings is None or self.site_state is None:
            return np.ones(len(rows), dtype=np.float32)
        site = self.site[rows]
        day = _day(now)
        self.siblings.advance(self.site_state, day)
        after = self.siblings.quiet(self.site_state, site, _days(until), day)
        quiet: Column = self.siblings.quiet(self.site_state, site, _days(since), day) / after
        return quiet

    def _sites_now(self, now: float) -> PageSignals | None:
        """The site events by ring index (`quiet`) and by site (`quiet_next_day`); None if there are other signals."""
        if self.siblings is None or self.site_state is None or self.lists is not None or self.reports is not None:
            return None
        self.siblings.advance(self.site_state, _day(now))
        quiet = self.siblings.quiet_since(self.site_state, _day(now))
        return PageSignals(quiet=quiet, quiet_next_day=self.siblings.quiet_next_day(self.site_state))

    def _site_signals(self, sites: PageSignals, part: slice, now: float, age: Column) -> PageSignals:
        """The same as `signals` for a range of the pages, from `_sites_now`."""
        assert sites.quiet is not None
        assert sites.quiet_next_day is not None
        quiet = sites.quiet.take(self._ring_index[part])
        beyond = np.flatnonzero(age >= WINDOW - 1)  # few pages are older than the ring buffer reaches
        if len(beyond) and self.siblings is not None and self.site_state is not None:
            rows = self.rows[part][beyond]
            since = _days(self._seen_at[rows])
            quiet[beyond] = self.siblings.quiet(self.site_state, self.site[rows], since, _day(now))
        return PageSignals(quiet=quiet, quiet_next_day=sites.quiet_next_day.take(self.site[part]))


def _days(at: Days) -> NDArray[np.int64]:
    return np.floor(at).astype(np.int64)


def _day(now: float) -> int:
    return int(np.floor(now))
