"""What people wish of the schedule: tags that are worth more for a time, limits of pages and tags."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from msgspec import Struct

from webstrata.ports import Store
from webstrata.records import Boost, IntervalLimit


class IntervalLimits(NamedTuple):
    """Shortest and longest interval, in seconds."""

    min_s: float
    max_s: float


class Overrides(Struct, frozen=True, kw_only=True):
    """As read last."""

    boosts: Mapping[str, Boost] = {}
    pages: Mapping[str, IntervalLimit] = {}
    tags: Mapping[str, IntervalLimit] = {}

    def factor(self, tags: Iterable[str], now: float) -> float:
        """How many times its worth a page with these tags has now: the largest of its boosts."""
        running = [boost.factor for tag in tags if (boost := self.boosts.get(tag)) and boost.since <= now < boost.until]
        return max(running, default=1.0)

    def limits(self, url: str, tags: Iterable[str], usual: IntervalLimits) -> IntervalLimits:
        """A page's own limit, else the shortest ones of its tags, else the usual ones."""
        found = [self.pages[url]] if url in self.pages else [self.tags[tag] for tag in tags if tag in self.tags]
        least = min((one.min_s for one in found if one.min_s is not None), default=usual.min_s)
        most = min((one.max_s for one in found if one.max_s is not None), default=usual.max_s)
        return IntervalLimits(min(least, most), max(least, most)) if found else usual


async def read_overrides(store: Store) -> Overrides:
    limits = await store.budgets.interval_limits()
    return Overrides(
        boosts={boost.tag: boost for boost in await store.budgets.boosts()},
        pages={limit.name: limit for limit in limits if limit.kind == "page"},
        tags={limit.name: limit for limit in limits if limit.kind == "tag"},
    )
