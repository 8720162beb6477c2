"""One crawl of history sites by the real loop: HTTP, SQLite and WARC files on a jumping clock, one round a day.

The first round, at the start of the window, takes the first copies and costs nothing. The log of all later visits has
the form of the lab's own log, so that the same functions evaluate both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

import numpy as np
from msgspec import Struct

from webstrata import urls
from webstrata.clock import DAY_S, JumpingClock
from webstrata.flows.crawl.loop import CrawlLoop
from webstrata.flows.crawl.visit_batcher import CrawlProgress
from webstrata.lab.live.archived import archived_copies
from webstrata.lab.live.sites import START_AT, HistorySites
from webstrata.lab.livingweb.server import LivingWeb
from webstrata.lab.policies.replay_log import ReplayLog
from webstrata.lab.policies.simulated_sources import ListedEntries
from webstrata.lab.policies.truth import Truth
from webstrata.ports import Clock, Store
from webstrata.records import NewPage, PageRole, Visit
from webstrata.schedule.past_copies import PastSightings


class LiveNode(Protocol):
    """The part of the assembled node that the experiment uses."""

    def store(self) -> AbstractAsyncContextManager[Store]: ...
    def crawling(self, progress: CrawlProgress, *, whole_batches: bool) -> AbstractAsyncContextManager[CrawlLoop]: ...


class LiveSchedule(Struct, frozen=True, kw_only=True):
    """What the settings of a live crawl must say."""

    policy: str
    visits_per_day: float
    """The total budget: pages and lists together."""
    watched: int
    """Number of watched pages and lists."""


Assemble = Callable[[Clock, Mapping[str, str], Sequence[str], LiveSchedule], LiveNode]
"""(clock, hosts, exceptions of the address guard, schedule) -> a node with a new home."""
OnDay = Callable[[int], object]


async def crawl_live(
    truth: Truth,
    sites: HistorySites,
    lists: ListedEntries | None,
    *,
    policy: str,
    downloads: float,
    assemble: Assemble,
    past: PastSightings | None = None,
    on_day: OnDay = lambda day: None,
) -> ReplayLog:
    """Crawl the window with a budget of `downloads`, spread evenly over its days.

    With `lists`, the sitemap of each site is watched, too. `past`: copies that an archive has from before the window.
    """
    clock = JumpingClock(START_AT)
    watched = [NewPage(url=url, host=urls.host_of(url)) for url in sites.page_urls]
    if lists is not None:
        watched += [NewPage(url=url, host=urls.host_of(url), role=PageRole.SITEMAP) for url in sites.list_urls]
    record = _VisitRecord(on_day)
    async with LivingWeb(
        sites.recordings,
        clock,
        minimum_gap_s=0.0,
        behaviours=sites.behaviours,
        sitemaps=None if lists is None else sites.sitemaps(lists),
    ) as living:
        schedule = LiveSchedule(policy=policy, visits_per_day=downloads / truth.days, watched=len(watched))
        node = assemble(clock, living.hosts(), living.exceptions(), schedule)
        async with node.store() as store:
            await store.pages.add(watched, START_AT)
            for copies in archived_copies(sites, past) if past is not None else ():
                await store.copies.add(copies, None, START_AT)
        async with node.crawling(record, whole_batches=True) as loop:
            for day in range(int(truth.days) + 1):
                # A budget of less than one visit a day would else be spent between whole days, unlike in the lab.
                await clock.sleep_until(START_AT + day * DAY_S)
                await loop.run(START_AT + (day + 0.5) * DAY_S)
    return record.log(truth, sites)


class _VisitRecord(CrawlProgress):
    """The committed visits of a crawl, by URL."""

    def __init__(self, on_day: OnDay) -> None:
        self._visits: list[tuple[str, float, bool]] = []
        self._on_day = on_day
        self._day = -1

    def visited(self, visits: Sequence[Visit]) -> None:
        for visit in visits:
            self._visits.append((visit.url, (visit.at - START_AT) / DAY_S, visit.counts))
        day = round(self._visits[-1][1])
        if day > self._day:
            self._day = day
            self._on_day(day)

    def log(self, truth: Truth, sites: HistorySites) -> ReplayLog:
        """All visits after the first round. A change is captured if it is true and the loop detected it."""
        row_of = {url: row for row, url in enumerate(sites.page_urls)}
        first_of = np.unique(sites.site, return_index=True)[1]
        page_of_list = {url: int(first_of[number]) for number, url in enumerate(sites.list_urls)}
        seen_at: dict[int, float] = {}
        pages: list[tuple[int, float, float, bool]] = []
        lists: list[tuple[float, int]] = []
        for url, at, counts in self._visits:
            if url in row_of:
                row = row_of[url]
                if row in seen_at:
                    pages.append((row, at, seen_at[row], counts))
                seen_at[row] = at
            elif at > 0.0:
                lists.append((at, page_of_list[url]))
        visited = np.array([row for row, _, _, _ in pages], dtype=np.intp)
        visited_at = np.array([at for _, at, _, _ in pages], dtype=np.float64)
        since = np.array([before for _, _, before, _ in pages], dtype=np.float64)
        detected = np.array([counts for _, _, _, counts in pages], dtype=bool)
        return ReplayLog(
            page=visited,
            at=visited_at,
            since=since,
            changed=detected & (truth.changed(visited, since, visited_at) > 0),
            lists=np.array([day for day, _ in lists], dtype=np.float64),
            lists_page=np.array([page for _, page in lists], dtype=np.intp),
        )
