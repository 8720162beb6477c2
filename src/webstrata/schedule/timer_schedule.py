"""When each page of a batch is visited next: the policy's columns, packed and unpacked around one call."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from webstrata.clock import DAY_S, span
from webstrata.records import Page
from webstrata.schedule.overrides import IntervalLimits, Overrides
from webstrata.schedule.policy import TimerPolicy
from webstrata.schedule.retry import retry_after_s


class SeenPage(Struct, frozen=True, kw_only=True):
    """A page that was seen (content, or that it is gone) and whether that counts as a change."""

    page: Page
    at: float
    changed: bool


class NextVisit(Struct, frozen=True, kw_only=True):
    """The page's schedule after a visit."""

    next_at: float
    interval_s: float
    policy: str
    policy_state: bytes
    reason: str


class TimerSchedule:
    """Keeps every page's schedule by one policy; state lives in the pages' rows."""

    hears = False
    """What feeds and sitemaps announce is not the policy's business: they call pages themselves."""

    def __init__(self, policy: TimerPolicy, usual: IntervalLimits | None = None) -> None:
        """`usual` are the limits that hold where none are wished for."""
        self.policy = policy
        self.wishes = Overrides()
        self._usual = usual or IntervalLimits(0.0, float("inf"))

    def announced(self) -> None:
        """Sources said something new."""

    def after_seen(self, batch: Sequence[SeenPage]) -> list[NextVisit]:
        """Let the policy learn from what was seen, then ask it for the intervals: one call for the whole batch."""
        if not batch:
            return []
        state = self._unpack([seen.page for seen in batch])
        # The first sight is the baseline: it tells nothing of how often the page changes.
        rows = np.array([i for i, seen in enumerate(batch) if seen.page.last_seen_at is not None], dtype=np.intp)
        elapsed = np.array([(batch[i].at - (batch[i].page.last_seen_at or 0.0)) / DAY_S for i in rows])
        changed = np.array([batch[i].changed for i in rows], dtype=bool)
        if rows.size:
            self.policy.learn(state, rows, np.maximum(elapsed, 0.0), changed)
        intervals_s = self.policy.interval(state, np.arange(len(batch), dtype=np.intp)) * DAY_S
        return [
            self._turn(seen.at, self._wished(seen, float(interval_s)), state[i].tobytes())
            for i, (seen, interval_s) in enumerate(zip(batch, intervals_s, strict=True))
        ]

    def _wished(self, seen: SeenPage, interval_s: float) -> float:
        """The interval by the wishes for the page: shorter while its tag is boosted, within its own limits."""
        page = seen.page
        limits = self.wishes.limits(page.url, page.tags, self._usual)
        if limits is self._usual and not self.wishes.boosts:
            return interval_s
        return min(max(interval_s / self.wishes.factor(page.tags, seen.at), limits.min_s), limits.max_s)

    def after_failure(self, page: Page, at: float, why: str, again_at: float | None = None) -> NextVisit:
        """Try again later (not before `again_at`); the policy learns nothing from a visit that saw nothing."""
        state = self._unpack([page])
        interval_s = float(self.policy.interval(state, np.zeros(1, dtype=np.intp))[0]) * DAY_S
        wait_s = max(retry_after_s(page.failures + 1, interval_s, page.url), (again_at or at) - at)
        return NextVisit(
            next_at=at + wait_s,
            interval_s=interval_s,
            policy=self.policy.name,
            policy_state=state[0].tobytes(),
            reason=f"try {page.failures + 1} failed ({why}); again after {span(wait_s)}",
        )

    def evidence(self, page: Page) -> dict[str, object]:
        """What the policy knows of a page, for `why`."""
        return self.policy.explain(self._unpack([page]), 0)

    def _unpack(self, pages: Sequence[Page]) -> np.ndarray:
        """The pages' rows as one array; pages new to this policy start fresh."""
        state = self.policy.start(len(pages))
        size = state.dtype.itemsize
        for i, page in enumerate(pages):
            if page.policy == self.policy.name and len(page.policy_state) == size:
                state[i] = np.frombuffer(page.policy_state, dtype=state.dtype)[0]
        return state

    def _turn(self, at: float, interval_s: float, state: bytes) -> NextVisit:
        return NextVisit(
            next_at=at + interval_s,
            interval_s=interval_s,
            policy=self.policy.name,
            policy_state=state,
            reason=f"{self.policy.name}: every {span(interval_s)}",
        )
