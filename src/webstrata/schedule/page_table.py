"""All pages under a value policy in memory, found by their ids.

The table is built from the store at start; only the rows of visited pages are written back, each with its visit.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from webstrata.clock import DAY_S
from webstrata.columns import Column, Days, Flags, Rows
from webstrata.predict.activity import Belief
from webstrata.records import Announcement, Page, PageSummary, SignalKind, SignalSource
from webstrata.schedule.announcements import SourceTable
from webstrata.schedule.budget import sane_weights
from webstrata.schedule.byte_cost import ByteCosts
from webstrata.schedule.overrides import IntervalLimits, Overrides
from webstrata.schedule.policy import ValuePolicy
from webstrata.schedule.policy_state import PolicyState
from webstrata.schedule.visit_times import allowed_at

LIST_KIND: Final[SignalKind] = "sitemap-lastmod"
"""Sources of this kind are read for what they reveal; a feed is also a page whose own changes count."""
MAX_SITES = 20_000
"""With more hosts than this, all hosts with a single page share row 0 of the site events, which stays empty."""


class PageTable:
    """Columns next to those of the policy: id, host, tags and weight of each page, and whether it may be chosen."""

    def __init__(self, policy: ValuePolicy) -> None:
        self.policy = policy
        self.ids: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._order: NDArray[np.intp] = np.empty(0, dtype=np.intp)
        self.host: NDArray[np.intp] = np.empty(0, dtype=np.intp)
        """By page: index in `hosts`."""
        self.hosts: list[str] = []
        self.host_urls: list[str] = []
        """One URL of each host, for questions to the permit gate."""
        self._host_index: dict[str, int] = {}
        self.tags: list[tuple[str, ...]] = []
        self._tag_sets: dict[tuple[str, ...], tuple[str, ...]] = {}
        """Each set of tags once, however many pages have it."""
        self.weight: NDArray[np.float64] = np.empty(0)
        self.ready: Flags = np.empty(0, dtype=bool)
        """The page was seen, by a visit or in an archive; its last visit did not fail, and it is not paused: the
        allocator may choose it."""
        self.size: Column = np.empty(0, dtype=np.float32)
        """Bytes of the last visit that downloaded the page; NaN if there was none."""
        self.answers_304: Flags = np.empty(0, dtype=bool)
        self.factor: Column = np.empty(0, dtype=np.float32)
        self.min_days: Days = np.empty(0)
        self.max_days: Days = np.empty(0)
        self.allowed_at: Days = np.empty(0)
        """When the page may next be visited, in seconds: windows and snoozes that users set."""
        self.has_rhythm: Flags = np.empty(0, dtype=bool)
        """The page is visited in a fixed rhythm: it does not compete."""
        self.is_list: Flags = np.empty(0, dtype=bool)
        """The page is a sitemap that lists watched pages: it is visited for what it reveals of them, not for its own
        changes."""
        self.source_rows: Rows = np.empty(0, dtype=np.intp)
        """By source of announcements: the row of its page; -1: the page is not watched."""
        self.policy_state = PolicyState(policy, np.empty(0, dtype=np.intp), now=0.0, weights=self.weight)
        self._changed_hosts: set[int] = set()

    def __len__(self) -> int:
        return len(self.ids)

    def rows(self, ids: Iterable[int]) -> Rows:
        """The row of each page, -1 for an unknown page."""
        wanted = np.fromiter(ids, dtype=np.int64)
        if not len(self.ids) or not len(wanted):
            return np.full(len(wanted), -1, dtype=np.intp)
        position = np.minimum(np.searchsorted(self.ids, wanted, sorter=self._order), len(self.ids) - 1)
        row = self._order[position]
        return np.where(self.ids[row] == wanted, row, -1)

    def add(self, pages: Sequence[PageSummary | Page], states: Sequence[bytes | None], now: float) -> None:
        """Add pages that are not in the table, each with its packed state; None: nothing is known of them yet."""
        if not pages:
            return
        before, old, old_sites = len(self), self.policy_state, self._site_of_host()
        for page in pages:
            if page.host not in self._host_index:
                self._host_index[page.host] = len(self.hosts)
                self.hosts.append(page.host)
                self.host_urls.append(page.url)
        self.ids = np.concatenate([self.ids, np.array([page.id for page in pages], dtype=np.int64)])
        self._order = np.argsort(self.ids, kind="stable")
        hosts = np.array([self._host_index[page.host] for page in pages], dtype=np.intp)
        self.host = np.concatenate([self.host, hosts])
        self.tags += [self._tag_sets.setdefault(page.tags, page.tags) for page in pages]
        self.weight = np.concatenate([self.weight, sane_weights(np.array([page.weight for page in pages]))])
        ready = [state is not None and not page.failures for page, state in zip(pages, states, strict=True)]
        self.ready = np.concatenate([self.ready, np.array(ready, dtype=bool)])
        self.is_list = np.concatenate([self.is_list, np.zeros(len(pages), dtype=bool)])
        sizes = [np.nan if page.full_bytes is None else page.full_bytes for page in pages]
        self.size = np.concatenate([self.size, np.array(sizes, dtype=np.float32)])
        self.answers_304 = np.concatenate([self.answers_304, np.array([page.answers_304 for page in pages])])
        self.policy_state = PolicyState(self.policy, self._sites(), now=now, weights=self.weight)
        self.policy_state.state[:before] = old.state
        for row, state in enumerate(states, before):
            if state is not None:
                self.policy_state.state[row] = np.frombuffer(state, dtype=self.policy.dtype)[0]
        seen_at = self.policy_state.state["seen_at"].copy()
        for row, page in enumerate(pages, before):
            if page.last_seen_at is not None:
                seen_at[row] = page.last_seen_at / DAY_S  # the store moves it if the clock was set; the state is packed
        self.policy_state.copied(self.policy_state.rows, seen_at)
        self._copy_sites(old, old_sites)

    def _sites(self) -> NDArray[np.intp]:
        """By page: index of its site in the site events."""
        if len(self.hosts) <= MAX_SITES:
            return self.host
        single = np.bincount(self.host, minlength=len(self.hosts)) < 2
        index = np.where(single, 0, np.cumsum(~single))
        return index[self.host]

    def learn(self, rows: Rows, at: Days, changed: Flags) -> None:
        """These pages were visited, each at its time (in days)."""
        pages = self.policy_state
        members = ~self.is_list[rows]  # a list is no example of the pages of its site
        if members.any():
            pages.learn(rows[members], float(at.max()), changed[members])
        self._seen(rows, at)
        if len(self.hosts) > MAX_SITES and pages.siblings is not None and pages.site_state is not None:
            pages.site_state[0] = pages.siblings.start(1, int(at.max()))[0]

    def downloaded(self, rows: Rows, size: Column, answers_304: Flags) -> None:
        """What the last visits of these pages say about the bytes of the next ones."""
        self.size[rows], self.answers_304[rows] = size, answers_304

    def byte_costs(self, rows: Rows | None = None) -> ByteCosts:
        """The costs of visits in bytes, of these pages or of all."""
        costs = ByteCosts(size=self.size, conditional=self.answers_304)
        return costs if rows is None else costs.part(rows)

    def start(self, rows: Rows, at: Days, levels: Belief | None = None) -> None:
        """First copies of these pages were taken; `levels` is what is expected of each by itself."""
        is_sibling = np.zeros(len(self.hosts), dtype=bool)
        is_sibling[self.host[rows]] = True
        self.policy_state.begin(rows, at, np.flatnonzero(is_sibling[self.host] & self.ready & ~self.is_list), levels)
        self._seen(rows, at)

    def copied(self, rows: Rows, at: Days) -> None:
        """Copies of these pages were taken that cannot be compared with earlier ones."""
        self._seen(rows, at)

    def _seen(self, rows: Rows, at: Days) -> None:
        """A batch is learned as of its last visit; each page keeps the time of its own visit."""
        self.policy_state.copied(rows, at)
        self.ready[rows] = True
        self._changed_hosts.update(self.host[rows].tolist())

    def apply_overrides(
        self, overrides: Overrides, default: IntervalLimits, limited: dict[int, str], now: float
    ) -> None:
        """Write overrides into columns; `limited` maps ids of pages with their own limits to their URLs."""
        overridden = overrides.boosts.keys() | overrides.tags.keys()
        self.factor = np.ones(len(self), dtype=np.float32)
        self.min_days = np.full(len(self), default.min_s / DAY_S)
        self.max_days = np.full(len(self), default.max_s / DAY_S)
        tagged = [row for row, tags in enumerate(self.tags) if not overridden.isdisjoint(tags)] if overridden else []
        own = {int(row): url for row, url in zip(self.rows(limited), limited.values(), strict=True) if row >= 0}
        for row in {*tagged, *own}:
            limits = overrides.limits(own.get(row, ""), self.tags[row], default)
            self.factor[row] = overrides.factor(self.tags[row], now)
            self.min_days[row], self.max_days[row] = limits.min_s / DAY_S, limits.max_s / DAY_S
        self.allowed_at = np.full(len(self), -np.inf)
        self.has_rhythm = np.zeros(len(self), dtype=bool)
        for row, times in zip(self.rows(overrides.visit_times), overrides.visit_times.values(), strict=True):
            if row >= 0:
                self.allowed_at[row] = allowed_at(times, now)
                if times.every_s is not None:
                    self.has_rhythm[row] = True
                    self.min_days[row] = self.max_days[row] = times.every_s / DAY_S

    # ── sources ─────────────────────────────────────────────────────────────────────────────────────────────

    def load_sources(
        self,
        sources: Sequence[SignalSource],
        ids: Mapping[str, int],
        announcements: Sequence[Announcement] | None = None,
    ) -> None:
        """Use these sources, whose own pages have these ids by URL, and their last announcements; None: the
        announcements are still the same."""
        table = self.policy_state.lists
        if table is None or announcements is not None:
            table = SourceTable(np.full(len(self), -1, dtype=np.intp), now=0.0)
        rows = self.rows(one.page_id for one in announcements or ())
        known = [(int(row), one) for row, one in zip(rows, announcements or (), strict=True) if row >= 0]
        table.load(sources, None if announcements is None else known)
        self.policy_state.lists = table if len(sources) else None
        self.source_rows = self.rows(ids.get(source.url, -1) for source in sources)
        self.is_list[:] = False
        for row, source in zip(self.source_rows.tolist(), sources, strict=True):
            if row >= 0 and source.kind == LIST_KIND and source.listed:
                self.is_list[row] = True

    def read_interval_days(self, rows: Rows) -> Days:
        """The mean number of days between the reads of lists so far; a day before the second read."""
        table = self.policy_state.lists
        source = {int(row): number for number, row in enumerate(self.source_rows)}
        numbers = [source.get(row, -1) for row in rows.tolist()]
        if table is None:
            return np.ones(len(rows))
        quality = table.all_quality[numbers]
        reads = np.maximum(quality["reads"] - 1.0, 1.0)
        return np.where(quality["read_days"] > 0, quality["read_days"] / reads, 1.0)

    # ── site events in the store ────────────────────────────────────────────────────────────────────────────

    def changed_sites(self) -> list[tuple[str, bytes]]:
        """(host, packed events) of the hosts that were visited since the last call."""
        events, index = self.policy_state.site_state, self._site_of_host()
        changed = sorted(self._changed_hosts)
        self._changed_hosts.clear()
        if events is None:
            return []
        return [
            (self.hosts[host], packed_events(events[index[host]])) for host in changed if self._is_own(int(index[host]))
        ]

    def load_sites(self, packed_by_host: dict[str, bytes]) -> None:
        """Restore packed events of hosts. Those of another format are ignored, and those of days to come, from a clock
        that was ahead: they would count as today's for as long."""
        siblings, events, index = self.policy_state.siblings, self.policy_state.site_state, self._site_of_host()
        if siblings is None or events is None:
            return
        for name, packed in packed_by_host.items():
            host = self._host_index.get(name, -1)
            data = _unpacked(packed)
            if host >= 0 and self._is_own(int(index[host])) and len(data) == siblings.dtype.itemsize:
                stored = np.frombuffer(data, dtype=siblings.dtype)[0]
                if stored["day"] <= events[index[host]]["day"] + 1:
                    events[index[host]] = stored

    def _is_own(self, site: int) -> bool:
        """Whether a row of site events belongs to a single host."""
        return site > 0 or (site == 0 and len(self.hosts) <= MAX_SITES)

    def _site_of_host(self) -> NDArray[np.intp]:
        index = np.full(len(self.hosts), -1, dtype=np.intp)
        index[self.host] = self.policy_state.site
        return index

    def _copy_sites(self, old: PolicyState, old_sites: NDArray[np.intp]) -> None:
        """Copy the site events from the table as it was before pages were added."""
        events = self.policy_state.site_state
        if events is None or old.site_state is None or not len(old_sites):
            return
        index = self._site_of_host()[: len(old_sites)]
        shared = len(self.hosts) > MAX_SITES
        own = (index > 0) & (old_sites > 0) if shared else old_sites >= 0
        events[index[own]] = old.site_state[old_sites[own]]


def packed_events(events: np.void) -> bytes:
    """The events of one site, for the store."""
    return zlib.compress(events.tobytes(), 1)


def _unpacked(packed: bytes) -> bytes:
    try:
        return zlib.decompress(packed)
    except zlib.error:
        return b""


def replayed(policy: ValuePolicy, observations: Sequence[tuple[int, float, bool]]) -> dict[int, bytes]:
    """The packed state of each page after the visits of a log: (page id, time, changed), oldest first."""
    visits: dict[int, list[tuple[float, bool]]] = {}
    for page, at, changed in observations:
        visits.setdefault(page, []).append((at / DAY_S, changed))
    pages = list(visits)
    state = policy.start(len(pages))
    for row, page in enumerate(pages):
        state[row] = policy.start(1, visits[page][0][0])[0]
    for number in range(1, max(map(len, visits.values()), default=0)):
        rows = np.array([row for row, page in enumerate(pages) if len(visits[page]) > number], dtype=np.intp)
        steps = [(visits[pages[row]][number - 1], visits[pages[row]][number]) for row in rows.tolist()]
        elapsed = np.array([max(after[0] - before[0], 0.0) for before, after in steps])
        policy.learn(state, rows, elapsed, np.array([after[1] for _, after in steps], dtype=bool))
    return {page: state[row].tobytes() for row, page in enumerate(pages)}
