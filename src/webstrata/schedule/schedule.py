"""What the crawl loop, `why` and `plan` use of a schedule, and the schedule for a policy's name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from webstrata.clock import DAY_S
from webstrata.records import Page
from webstrata.schedule.next_visit import NextVisit, SeenPage
from webstrata.schedule.overrides import IntervalLimits, Overrides
from webstrata.schedule.policy import Bounds
from webstrata.schedule.registry import budgeted_policy, is_budgeted, policy
from webstrata.schedule.timer_schedule import TimerSchedule
from webstrata.schedule.value_schedule import ValueSchedule


class Schedule(Protocol):
    """A `TimerSchedule` or a `ValueSchedule`."""

    overrides: Overrides

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

    def after_seen(self, batch: Sequence[SeenPage]) -> list[NextVisit]:
        """The next visit of each page after these visits."""
        ...

    def after_failure(self, page: Page, at: float, why: str, again_at: float | None = None) -> NextVisit:
        """The next visit after a failed one, not before `again_at`."""
        ...

    def evidence(self, page: Page, now: float) -> dict[str, object]:
        """The evidence for a page's next visit, for `why`."""
        ...


def schedule_for(name: str, bounds: Bounds, *, freshness: float = 0.0) -> Schedule:
    """The schedule by the policy of that name. Raises BadSettings if there is no such policy."""
    if is_budgeted(name):
        return ValueSchedule(budgeted_policy(name, bounds, freshness))
    timer = policy(name, min_days=bounds.min_days, max_days=bounds.max_days, start_days=bounds.start_days)
    return TimerSchedule(timer, IntervalLimits(bounds.min_days * DAY_S, bounds.max_days * DAY_S))
