"""All pages under one budgeted policy: their state, their sites' events, their sources, as one set of columns.

Both the lab and the live loop hold pages like this; the policy, the events and the sources are pure functions over the
columns that are owned here. Time is in days of the caller's clock; sites count whole days.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webstrata.columns import Column, Days, Flags, Rows
from webstrata.flows.sources import SourceBook
from webstrata.predict.siblings import WINDOW, Siblings, ring_places
from webstrata.schedule.allocator import list_worth, usable_weights
from webstrata.schedule.policy import ValuePolicy
from webstrata.schedule.signals import NOTHING, Hint, Signals, changed_given
from webstrata.schedule.value import Outlook, Value

_POINTED_AT = 0.2
"""So much likelier than by its forecast a page must seem through hints to count as pointed at."""


class Population:
    """Pages, the sites they belong to, and what is known of both."""

    def __init__(
        self,
        policy: ValuePolicy,
        site: NDArray[np.intp],
        *,
        now: float = 0.0,
        siblings: Siblings | None = None,
        weights: NDArray[np.float64] | None = None,
    ) -> None:
        self.policy = policy
        self.site = site
        self.rows: Rows = np.arange(len(site), dtype=np.intp)
        self.state = policy.start(len(site), now)
        self.weights = None if weights is None else usable_weights(weights)
        self.siblings = siblings
        self.sites = None if siblings is None else siblings.start(int(site.max(initial=-1)) + 1, _day(now))
        self.lists: SourceBook | None = None
        self.reports: SourceBook | None = None
        self._outlook: Outlook | None = None
        # The state's own column, side by side, and where the sites remember that day: a pass over millions needs both.
        self._seen_at: Days = self.state["seen_at"].copy()
        self._places = ring_places(site, _days(self._seen_at))

    def __len__(self) -> int:
        return len(self.site)

    def age(self, now: float) -> Days:
        return np.maximum(now - self._seen_at, 0.0)

    def values(self, now: float) -> Column:
        """What a visit of each page is worth now."""
        if isinstance(self.policy, Value):
            age = self.age(now)
            outlook = self._renewed(self.policy, age)
            worth = self.policy.worth(outlook, age, self._all_signals(now, age))
        else:
            worth = self.policy.value(self.state, self.rows, now)
        return worth if self.weights is None else worth * self.weights

    def learn(self, rows: Rows, now: float, changed: Flags) -> None:
        """These pages were visited now."""
        elapsed = self.policy.age(self.state, rows, now)
        if not isinstance(self.policy, Value):
            self.policy.learn(self.state, rows, elapsed, changed)
            self._seen(rows)
            return
        outlook = self.policy.outlook(self.state, rows, now)
        signals = self.signals(rows, now)
        own = self.policy.unchanged(outlook, elapsed)
        self._teach_sources(rows, elapsed, own, signals, changed)
        if self.siblings is not None and self.sites is not None:
            fair = self._fair(own, signals)
            since = _days(self.state["seen_at"][rows])
            self.siblings.learn(self.sites, self.site[rows][fair], since[fair], _day(now), changed[fair], own[fair])
        self.policy.learn(self.state, rows, elapsed, changed, signals)
        self._seen(rows)

    def copied(self, rows: Rows, at: float | Days) -> None:
        """Copies of these pages were taken that say nothing of changes before: their first ones, or the first here."""
        self.state["seen_at"][rows] = at
        self._seen(rows)

    def _seen(self, rows: Rows) -> None:
        self._seen_at[rows] = self.state["seen_at"][rows]
        self._places[rows] = ring_places(self.site[rows], _days(self._seen_at[rows]))
        if self._outlook is not None:
            self._outlook.whole_days[rows] = -1

    def _all_signals(self, now: float, age: Days) -> Signals:
        """Every hint about all pages; those that the sites' memory does not reach are few."""
        if self.siblings is None or self.sites is None or self.lists is not None or self.reports is not None:
            return self.signals(self.rows, now)
        self.siblings.advance(self.sites, _day(now))
        quiet = self.siblings.quiet_since(self.sites, self.site, self._places, _day(now))
        beyond = np.flatnonzero(age >= WINDOW - 1)
        if len(beyond):
            since = _days(self._seen_at[beyond])
            quiet[beyond] = self.siblings.quiet(self.sites, self.site[beyond], since, _day(now))
        return Signals(quiet=quiet, coming=self.siblings.coming(self.sites).take(self.site))

    def signals(self, rows: Rows, now: float) -> Signals:
        """Every hint about these pages."""
        if not isinstance(self.policy, Value):
            return NOTHING
        quiet = coming = None
        seen_at = self.state["seen_at"][rows]
        if self.siblings is not None and self.sites is not None:
            self.siblings.advance(self.sites, _day(now))
            quiet = self.siblings.quiet(self.sites, self.site[rows], _days(seen_at), _day(now))
            coming = self.siblings.coming(self.sites)[self.site[rows]]
        hints = tuple(self._hint(book, rows, seen_at, now) for book in (self.lists, self.reports) if book is not None)
        return Signals(quiet=quiet, coming=coming, hints=hints)

    def list_values(self, now: float, price: float) -> Column:
        """What fetching each site's list is worth now: the changes that it would reveal, at this price of a visit."""
        book = self.lists
        if book is None or not isinstance(self.policy, Value):
            return np.zeros(0, dtype=np.float32)
        age = self.age(now)
        outlook = self._renewed(self.policy, age)
        signals = self.signals(self.rows, now)
        own = self.policy.unchanged(outlook, age)
        quiet = 1.0 if signals.quiet is None else signals.quiet
        changed = changed_given(own * quiet, signals.hints)
        known = book.told(self.rows, self.state["seen_at"])
        precision, _ = book.quality_of(self.rows)
        proven = book.sources.proven_recall(book.quality)[self.site]
        worth = list_worth(np.where(known, 0.0, changed), precision, proven, book.noise(now), price)
        worth = worth if self.weights is None else worth * self.weights
        revealed = np.bincount(self.site, weights=worth, minlength=len(book.quality))
        return np.minimum(revealed, book.sources.most_worth(book.quality)).astype(np.float32)

    def _renewed(self, policy: Value, age: Days) -> Outlook:
        """The forecast of all pages, made anew only where another day has begun since their last visit."""
        if self._outlook is None:
            self._outlook = policy.outlook_after(self.state, self.rows, age)
            return self._outlook
        kept = self._outlook
        passed = np.flatnonzero(kept.whole_days != age.astype(np.int16))
        if len(passed):
            fresh = policy.outlook_after(self.state, passed, age[passed])
            kept.whole_days[passed] = fresh.whole_days
            kept.unchanged[passed] = fresh.unchanged
            kept.coming[passed] = fresh.coming
            kept.rate[passed] = fresh.rate
            kept.fresh_days[passed] = fresh.fresh_days
        return kept

    def _hint(self, book: SourceBook, rows: Rows, seen_at: Days, now: float) -> Hint:
        covered = book.covered_days(rows, seen_at)
        precision, recall = book.quality_of(rows)
        whole = covered.astype(np.intp)
        unchanged = self._own_unchanged(rows, whole) * self._quiet(rows, seen_at, seen_at + whole, now)
        return Hint(
            covered_days=covered,
            unchanged=unchanged,
            told=book.told(rows, seen_at),
            precision=precision,
            recall=recall,
        )

    def _own_unchanged(self, rows: Rows, whole_days: NDArray[np.intp]) -> Column:
        assert isinstance(self.policy, Value)
        return self.policy.unchanged_after(self.state, rows, whole_days)

    def _quiet(self, rows: Rows, since: Days, until: Days, now: float) -> Column:
        if self.siblings is None or self.sites is None:
            return np.ones(len(rows), dtype=np.float32)
        site = self.site[rows]
        day = _day(now)
        after = self.siblings.quiet(self.sites, site, _days(until), day)
        quiet: Column = self.siblings.quiet(self.sites, site, _days(since), day) / after
        return quiet

    def _fair(self, own: Column, signals: Signals) -> Flags:
        """Which visits are a fair sample of their site. What a source pointed at, believably, is not: if only such
        pages told of joint events, every one that was listed would seem to be one."""
        if not signals.hints:
            return np.ones(len(own), dtype=bool)
        unchanged = own if signals.quiet is None else own * signals.quiet
        fair: Flags = changed_given(unchanged, signals.hints) - (1.0 - unchanged) < _POINTED_AT
        return fair

    def _teach_sources(self, rows: Rows, elapsed: Days, own: Column, signals: Signals, changed: Flags) -> None:
        books = [book for book in (self.lists, self.reports) if book is not None]
        quiet = 1.0 if signals.quiet is None else signals.quiet
        for book, hint in zip(books, signals.hints, strict=True):
            heard = (hint.covered_days > 0) | hint.told
            book.sources.learn(
                book.quality,
                self.site[rows][heard],
                elapsed[heard],
                hint.told[heard],
                changed[heard],
                (own * quiet)[heard],
                hint.unchanged[heard],
            )


def _days(at: Days) -> NDArray[np.int64]:
    return np.floor(at).astype(np.int64)


def _day(now: float) -> int:
    return int(np.floor(now))
