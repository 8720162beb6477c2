"""The schedule of all pages: what the crawl loop, `why` and `plan` use of it, and the schedule under a timer policy.

Under a timer policy each page has its own interval, and its state is stored with the page. `ValueSchedule` is the
schedule under a value policy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from webstrata.clock import DAY_S, span
from webstrata.columns import State, pack
from webstrata.records import Page
from webstrata.schedule.next_visit import NextVisit, SeenPage, past_unchanged, retry
from webstrata.schedule.overrides import IntervalLimits, Overrides
from webstrata.schedule.past_copies import PastPages, timer_states
from webstrata.schedule.policy import Bounds, TimerPolicy, ValuePolicy
from webstrata.schedule.registry import budgeted_policy, is_budgeted, policy
from webstrata.schedule.value_schedule import ValueSchedule


class Schedule(Protocol):
    """A `TimerSchedule` or a `ValueSchedule`."""

    overrides: Overrides

    @property
    def policy(self) -> TimerPolicy | ValuePolicy: ...

    @property
    def ranking(self) -> ValueSchedule | None:
        """The schedule itself if its pages compete for a budget; None if each page has its own interval."""
        ...

    @property
    def weighs_announcements(self) -> bool:
        """Whether announcements enter the value of a page; if not, an announced page is due at once."""
        ...

    @property
    def first_price(self) -> float:
        """The price of a visit at which a new budget starts."""
        ...

    def announced(self) -> None:
        """Sources have announced something new."""
        ...

    def checked(self) -> None:
        """Visits have checked what sources announced, or sources were read and had nothing new."""
        ...

    def unchanged(self, pages: Sequence[Page], until: Sequence[float], now: float) -> list[float]:
        """Probability that each page did not change from its last visit until then (not after now), whatever sources
        say. Call it before `after_seen`."""
        ...

    @property
    def uses_features(self) -> bool:
        """Whether the static features of contents matter for what is expected of their pages."""
        ...

    def learn_past(self, past: PastPages, now: float) -> tuple[list[bytes], list[tuple[str, bytes]]]:
        """The packed state of each page after its copies and visits, and (host, packed events) of their sites."""
        ...

    def after_seen(self, batch: Sequence[SeenPage]) -> list[NextVisit]:
        """The next visit of each page after these visits."""
        ...

    def is_learned(self, page: Page) -> bool:
        """Whether the page was never visited, and its first visit teaches something if it is compared with the last of
        its copies in archives."""
        ...

    def after_failure(self, page: Page, at: float, why: str, again_at: float | None = None) -> NextVisit:
        """The next visit after a failed one, not before `again_at`."""
        ...

    def evidence(self, page: Page, now: float) -> dict[str, object]:
        """The evidence for a page's next visit, for `why`."""
        ...


class TimerSchedule:
    """Schedules pages by one timer policy: unpacks their states into columns, calls the policy once, packs them."""

    ranking = None
    """Pages do not compete for a budget."""
    weighs_announcements = False
    """A page that a trusted feed or sitemap announces is due at once."""
    first_price = 1e-6
    uses_features = False

    def __init__(self, policy: TimerPolicy, limits: IntervalLimits | None = None) -> None:
        """`limits` apply where no override sets others."""
        self.policy = policy
        self.overrides = Overrides()
        self._limits = limits or IntervalLimits(0.0, float("inf"))

    def announced(self) -> None:
        """New announcements do not concern a timer policy."""

    def checked(self) -> None:
        """Checks of sources do not concern a timer policy."""

    def unchanged(self, pages: Sequence[Page], until: Sequence[float], now: float) -> list[float]:
        return past_unchanged(pages, until)

    def learn_past(self, past: PastPages, now: float) -> tuple[list[bytes], list[tuple[str, bytes]]]:
        return pack(timer_states(self.policy, past.sightings, len(past.hosts))), []

    def is_learned(self, page: Page) -> bool:
        return False  # a timer learns from visits at its own intervals

    def after_seen(self, batch: Sequence[SeenPage]) -> list[NextVisit]:
        """Let the policy learn from the visits, then get all intervals with one call."""
        if not batch:
            return []
        state = self._unpack([seen.page for seen in batch])
        # The first visit is the baseline: it says nothing about how often the page changes.
        rows = np.array([i for i, seen in enumerate(batch) if seen.page.last_seen_at is not None], dtype=np.intp)
        elapsed = np.array([(batch[i].at - (batch[i].page.last_seen_at or 0.0)) / DAY_S for i in rows])
        changed = np.array([batch[i].changed for i in rows], dtype=bool)
        if rows.size:
            self.policy.learn(state, rows, np.maximum(elapsed, 0.0), changed)
        intervals_s = self.policy.interval(state, np.arange(len(batch), dtype=np.intp)) * DAY_S
        return [
            self._next_visit(seen.at, self._overridden(seen, float(interval_s)), state[i].tobytes())
            for i, (seen, interval_s) in enumerate(zip(batch, intervals_s, strict=True))
        ]

    def _overridden(self, seen: SeenPage, interval_s: float) -> float:
        """The interval after the overrides: shorter while a tag of the page is boosted, within the page's limits."""
        page = seen.page
        limits = self.overrides.limits(page.url, page.tags, self._limits)
        if limits is self._limits and not self.overrides.boosts:
            return interval_s
        return min(max(interval_s / self.overrides.factor(page.tags, seen.at), limits.min_s), limits.max_s)

    def after_failure(self, page: Page, at: float, why: str, again_at: float | None = None) -> NextVisit:
        state = self._unpack([page])
        interval_s = float(self.policy.interval(state, np.zeros(1, dtype=np.intp))[0]) * DAY_S
        return retry(
            page, at, why, again_at, interval_s=interval_s, policy=self.policy.name, policy_state=state[0].tobytes()
        )

    def evidence(self, page: Page, now: float) -> dict[str, object]:
        return self.policy.explain(self._unpack([page]), 0)

    def _unpack(self, pages: Sequence[Page]) -> State:
        """The pages' states as one array; pages without a state of this policy get the start state."""
        state = self.policy.start(len(pages))
        size = state.dtype.itemsize
        for i, page in enumerate(pages):
            if page.policy == self.policy.name and len(page.policy_state) == size:
                state[i] = np.frombuffer(page.policy_state, dtype=state.dtype)[0]
        return state

    def _next_visit(self, at: float, interval_s: float, state: bytes) -> NextVisit:
        return NextVisit(
            next_at=at + interval_s,
            interval_s=interval_s,
            policy=self.policy.name,
            policy_state=state,
            reason=f"{self.policy.name}: every {span(interval_s)}",
        )


def schedule_for(name: str, bounds: Bounds, *, freshness: float = 0.0) -> Schedule:
    """The schedule by the policy of that name. Raises BadSettings if there is no such policy."""
    if is_budgeted(name):
        return ValueSchedule(budgeted_policy(name, bounds, freshness))
    return TimerSchedule(policy(name, bounds), IntervalLimits(bounds.min_days * DAY_S, bounds.max_days * DAY_S))
