"""What the sources of a population have told: lists that are fetched, reports that come by themselves.

One book holds one kind: each site has at most one source in it. What a source is worth (recall, false alarms, delay) is
learned in `predict.source_quality`; here is only what it said, and how far its word reaches.

All pages under one budgeted policy: their state, their sites' events, their sources, as one set of columns.

Both the lab and the live loop hold pages like this; the policy, the events and the sources are pure functions over the
columns that are owned here. Time is in days of the caller's clock; sites count whole days.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webstrata.columns import Column, Days, Flags, Rows
from webstrata.predict.siblings import WINDOW, Siblings, ring_places
from webstrata.predict.source_quality import SourceQuality
from webstrata.schedule.allocator import list_worth, usable_weights
from webstrata.schedule.policy import ValuePolicy
from webstrata.schedule.signals import NOTHING, PageSignals, SourceHints, changed_given
from webstrata.schedule.value import ForecastTable, Value, empty_forecasts


class SourceTable:
    """One source for each site, and the newest change that it told of each page."""

    def __init__(self, site: NDArray[np.intp], *, now: float, sources: SourceQuality | None = None) -> None:
        self.site = site
        self.sources = sources or SourceQuality()
        self.quality = self.sources.start(int(site.max(initial=-1)) + 1)
        self.looked_at: Days = np.full(len(self.quality), now)
        """Until when each source's word reaches; at first it has said nothing."""
        self.looks: NDArray[np.int64] = np.zeros(len(self.quality), dtype=np.int64)
        self.told_at: Days = np.full(len(site), -np.inf)

    def looked(self, source: int, now: float, rows: Rows, dated: Days) -> None:
        """A source was read: of the pages in `rows` it says that they changed last at `dated`."""
        news = dated > self.told_at[rows]
        if self.looks[source]:  # what the first look shows may be of any age
            self.sources.dated(self.quality, source, np.maximum(self.looked_at[source] - dated[news], 0.0))
        pages = int(np.count_nonzero(self.site == source))
        self.sources.looked(self.quality, source, int(news.sum()), pages * (now - float(self.looked_at[source])))
        self.told_at[rows[news]] = dated[news]
        self.looked_at[source] = now
        self.looks[source] += 1

    def covered_days(self, rows: Rows, seen_at: Days) -> Days:
        """How much of the time since these pages were seen their source has looked at."""
        reach = self.looked_at - self.sources.delay_days(self.quality)
        return np.maximum(reach[self.site[rows]] - seen_at, 0.0)

    def told(self, rows: Rows, seen_at: Days) -> Flags:
        """Whether a change since these pages were seen was told."""
        flags: Flags = self.told_at[rows] > seen_at
        return flags

    def quality_of(self, rows: Rows) -> tuple[Column, Column]:
        """(precision, recall) of the source of each page."""
        source = self.site[rows]
        return self.sources.precision(self.quality)[source], self.sources.recall(self.quality)[source]

    def noise(self, now: float) -> Column:
        """Entries without cause that the list of each page's site may have got since it was read."""
        per_day = self.sources.told_per_day(self.quality) * (1.0 - self.sources.precision(self.quality))
        noise: Column = (per_day * (now - self.looked_at))[self.site]
        return noise


_POINTED_AT = 0.2
"""So much likelier than by its forecast a page must seem through hints to count as pointed at."""

_CHUNK = 16_384
"""Pages that are valued together."""


class PolicyState:
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
        self.lists: SourceTable | None = None
        self.reports: SourceTable | None = None
        self._outlook: ForecastTable | None = None
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
            worth = self._worth(self.policy, now)
        else:
            worth = self.policy.value(self.state, self.rows, now)
        return worth if self.weights is None else worth * self.weights

    def _worth(self, policy: Value, now: float) -> Column:
        """The flagship's values, part by part, so that nothing of what they take leaves the processor's cache."""
        worth = np.empty(len(self), dtype=np.float32)
        sites = self._sites_now(now)
        for begin in range(0, len(self), _CHUNK):
            part = slice(begin, begin + _CHUNK)
            age = np.maximum(now - self._seen_at[part], 0.0)
            signals = self.signals(self.rows[part], now) if sites is None else self._site_signals(sites, part, now, age)
            worth[part] = policy.worth(self._renewed(policy, part, age), age, signals)
        return worth

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

    def _sites_now(self, now: float) -> PageSignals | None:
        """For each place and each site what is to be known of its events; none where other hints are heard too."""
        if self.siblings is None or self.sites is None or self.lists is not None or self.reports is not None:
            return None
        self.siblings.advance(self.sites, _day(now))
        quiet = self.siblings.quiet_since(self.sites, _day(now))
        return PageSignals(quiet=quiet, coming=self.siblings.coming(self.sites))

    def _site_signals(self, sites: PageSignals, part: slice, now: float, age: Days) -> PageSignals:
        """`signals` of a part of all pages, from what is known of the sites; few pages are beyond their memory."""
        assert sites.quiet is not None
        assert sites.coming is not None
        quiet = sites.quiet.take(self._places[part])
        beyond = np.flatnonzero(age >= WINDOW - 1)
        if len(beyond) and self.siblings is not None and self.sites is not None:
            rows = self.rows[part][beyond]
            quiet[beyond] = self.siblings.quiet(self.sites, self.site[rows], _days(self._seen_at[rows]), _day(now))
        return PageSignals(quiet=quiet, coming=sites.coming.take(self.site[part]))

    def signals(self, rows: Rows, now: float) -> PageSignals:
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
        return PageSignals(quiet=quiet, coming=coming, hints=hints)

    def list_values(self, now: float, price: float) -> Column:
        """What fetching each site's list is worth now: the changes that it would reveal, at this price of a visit."""
        book = self.lists
        if book is None or not isinstance(self.policy, Value):
            return np.zeros(0, dtype=np.float32)
        age = self.age(now)
        outlook = self._renewed(self.policy, slice(0, len(self)), age)
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

    def _renewed(self, policy: Value, part: slice, age: Days) -> ForecastTable:
        """The forecast of a part of all pages, made anew where another day has begun since their last visit."""
        if self._outlook is None:
            self._outlook = empty_forecasts(len(self))
        kept = self._outlook.of(part)
        passed = np.flatnonzero(kept.whole_days != age.astype(np.int16))
        if len(passed):
            here: Rows | slice = passed if len(passed) < len(age) // 4 else slice(None)  # many are not worth picking
            fresh = policy.outlook_after(self.state, self.rows[part][here], age[here])
            kept.whole_days[here] = fresh.whole_days
            kept.unchanged[here] = fresh.unchanged
            kept.coming[here] = fresh.coming
            kept.rate[here] = fresh.rate
            kept.fresh_days[here] = fresh.fresh_days
        return kept

    def _hint(self, book: SourceTable, rows: Rows, seen_at: Days, now: float) -> SourceHints:
        covered = book.covered_days(rows, seen_at)
        precision, recall = book.quality_of(rows)
        whole = covered.astype(np.intp)
        unchanged = self._own_unchanged(rows, whole) * self._quiet(rows, seen_at, seen_at + whole, now)
        return SourceHints(
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

    def _fair(self, own: Column, signals: PageSignals) -> Flags:
        """Which visits are a fair sample of their site. What a source pointed at, believably, is not: if only such
        pages told of joint events, every one that was listed would seem to be one."""
        if not signals.hints:
            return np.ones(len(own), dtype=bool)
        unchanged = own if signals.quiet is None else own * signals.quiet
        fair: Flags = changed_given(unchanged, signals.hints) - (1.0 - unchanged) < _POINTED_AT
        return fair

    def _teach_sources(self, rows: Rows, elapsed: Days, own: Column, signals: PageSignals, changed: Flags) -> None:
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
