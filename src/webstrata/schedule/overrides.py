"""Overrides of the schedule that users set: boosts of tags, interval limits of pages and tags, visit times of pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from msgspec import Struct

from webstrata.records import Boost, IntervalLimit, VisitTimes


class IntervalLimits(NamedTuple):
    """Shortest and longest interval, in seconds."""

    min_s: float
    max_s: float


class Overrides(Struct, frozen=True, kw_only=True):
    """All overrides as the store held them when they were last read."""

    boosts: Mapping[str, Boost] = {}
    """By tag."""
    pages: Mapping[str, IntervalLimit] = {}
    """By URL."""
    tags: Mapping[str, IntervalLimit] = {}
    visit_times: Mapping[int, VisitTimes] = {}
    """By page id: rhythms, windows and snoozes; read for value policies only."""

    def factor(self, tags: Iterable[str], now: float) -> float:
        """By what factor the value of a page with these tags is multiplied now: the largest of its boosts."""
        running = [boost.factor for tag in tags if (boost := self.boosts.get(tag)) and boost.since <= now < boost.until]
        return max(running, default=1.0)

    def limits(self, url: str, tags: Iterable[str], default: IntervalLimits) -> IntervalLimits:
        """The page's own limit, else the shortest limits of its tags, else the default."""
        limits = [self.pages[url]] if url in self.pages else [self.tags[tag] for tag in tags if tag in self.tags]
        if not limits:
            return default
        min_s = min((limit.min_s for limit in limits if limit.min_s is not None), default=default.min_s)
        max_s = min((limit.max_s for limit in limits if limit.max_s is not None), default=default.max_s)
        return IntervalLimits(min(min_s, max_s), max(min_s, max_s))
