"""What feeds and sitemaps said of pages, as the store keeps it, in the columns that a population asks for hints."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from webstrata.clock import DAY_S
from webstrata.columns import Column, Days, Flags, Rows
from webstrata.predict.siblings import Siblings
from webstrata.predict.source_trust import precision, recall
from webstrata.records import Announcement, SignalSource
from webstrata.schedule.allocator import list_worth
from webstrata.schedule.policy import ValuePolicy
from webstrata.schedule.policy_state import PolicyState, SourceTable
from webstrata.schedule.signals import changed_given
from webstrata.schedule.value import Value


class AnnouncementTable(SourceTable):
    """One source for each page: of those that list it the one with news, else the one that tells most.

    How far each is believed was learned by `flows.crawl.signals` from the visits that followed; here it is only used.
    """

    def __init__(self, pages: int, now: float) -> None:
        super().__init__(np.zeros(pages, dtype=np.intp), now=now)
        self.urls: list[str] = []
        self._source: NDArray[np.int32] = np.full(pages, -1, dtype=np.int32)
        self._told: Flags = np.zeros(pages, dtype=bool)
        self._precision = self._recall = np.zeros(1, dtype=np.float32)
        self._read_at: Days = np.zeros(1)

    def hear(self, sources: Sequence[SignalSource], said: Sequence[tuple[int, Announcement]]) -> None:
        """The last words of all sources, each with the row of its page."""
        place = {source.id: number for number, source in enumerate(sources)}
        self.urls = [source.url for source in sources]
        # The last place is that of pages which no source lists.
        self._precision = np.array([*(precision(s.right, s.wrong) for s in sources), 0.0], dtype=np.float32)
        self._recall = np.array([*(recall(s.announced, s.silent) for s in sources), 0.0], dtype=np.float32)
        self._read_at = np.array([*((source.read_at or 0.0) / DAY_S for source in sources), -np.inf])
        self._source[:] = -1
        self._told[:] = False
        for row, one in said:
            number = place.get(one.source_id, -1)
            if number >= 0 and self._is_better(row, number, one.news > 0):
                self._source[row], self._told[row] = number, one.news > 0

    def _is_better(self, row: int, number: int, news: bool) -> bool:
        before = int(self._source[row])
        quality = self._precision if news else self._recall
        return before < 0 or (news, quality[number]) > (bool(self._told[row]), quality[before])

    def source_of(self, row: int) -> str | None:
        """Who counts for a page; none: nobody lists it."""
        number = int(self._source[row])
        return self.urls[number] if number >= 0 else None

    def visited(self, rows: Rows) -> None:
        """What was told of these pages is news no more."""
        self._told[rows] = False

    def covered_days(self, rows: Rows, seen_at: Days) -> Days:
        return np.maximum(self._read_at[self._source[rows]] - seen_at, 0.0)

    def told(self, rows: Rows, seen_at: Days) -> Flags:
        return self._told[rows]

    def quality_of(self, rows: Rows) -> tuple[Column, Column]:
        source = self._source[rows]
        return self._precision[source], self._recall[source]

    def noise(self, now: float) -> Column:
        """Entries without cause are in the precision already."""
        return np.zeros(len(self._source), dtype=np.float32)

    def worth(self, population: PolicyState, now: float, price: float) -> dict[str, float]:
        """By the list's address: what reading it now would reveal of the pages that it lists."""
        policy = population.policy
        listed = np.flatnonzero(self._source >= 0)
        if not len(listed) or not isinstance(policy, Value):
            return {}
        outlook = policy.outlook(population.state, listed, now)
        signals = population.signals(listed, now)
        own = policy.unchanged(outlook, policy.age(population.state, listed, now))
        changed = changed_given(own if signals.quiet is None else own * signals.quiet, signals.hints)
        unknown = np.where(self._told[listed], np.float32(0.0), changed)
        gain = list_worth(unknown, *self.quality_of(listed), np.zeros_like(changed), price)
        if population.weights is not None:
            gain = gain * population.weights[listed]
        total = np.bincount(self._source[listed], weights=gain, minlength=len(self.urls))
        return dict(zip(self.urls, total.tolist(), strict=True))


class LivePolicyState(PolicyState):
    """A population whose sources are judged elsewhere: by `flows.crawl.signals`, in the transaction of each visit."""

    def __init__(
        self, policy: ValuePolicy, site: NDArray[np.intp], *, now: float, weights: NDArray[np.float64], family: bool
    ) -> None:
        self._first_day: NDArray[np.float32] = np.full(len(site), np.nan, dtype=np.float32)
        super().__init__(policy, site, now=now, siblings=Siblings() if family else None, weights=weights)
        self.heard = AnnouncementTable(len(site), now)

    def hear(self, sources: Sequence[SignalSource], said: Sequence[tuple[int, Announcement]]) -> None:
        """Take in the last words of all sources; while there are none, no page is asked for hints."""
        self.heard.hear(sources, said)
        self.lists = self.heard if said else None

    def values(self, now: float) -> Column:
        """The forecast counts whole days; within the first one a page's worth grows evenly towards that of its end."""
        worth = super().values(now)
        if not isinstance(self.policy, Value):
            return worth
        age = self.age(now)
        young = np.flatnonzero(age < 1.0)
        if len(young):
            first = self.first_day(young) if self.weights is None else self.first_day(young) * self.weights[young]
            worth[young] = np.maximum(worth[young], age[young] * first)
        return worth

    def first_day(self, rows: Rows) -> Column:
        """What a visit of these pages is worth a day after the last one; made once after each visit."""
        assert isinstance(self.policy, Value)
        unknown = rows[np.isnan(self._first_day[rows])]
        if len(unknown):
            state = self.state[unknown]
            state["seen_at"] = 0.0
            self._first_day[unknown] = self.policy.value(state, np.arange(len(unknown)), 1.0)
        return self._first_day[rows]

    def _seen(self, rows: Rows) -> None:
        super()._seen(rows)
        self._first_day[rows] = np.nan

    def _teach_sources(self, *told: object, **more: object) -> None:
        """Nothing: see above."""
