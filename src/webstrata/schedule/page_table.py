"""All pages under a budgeted policy, held in memory and found by their ids.

Built from the store at start; only the rows of visited pages go back, each with its visit. A page that another policy
had, or whose row no longer fits, starts from its log.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from webstrata.clock import DAY_S
from webstrata.columns import Column, Days, Flags, Rows
from webstrata.ports import Store
from webstrata.records import PageSummary
from webstrata.schedule.announcements import LivePolicyState
from webstrata.schedule.budget import sane_weights
from webstrata.schedule.overrides import IntervalLimits, Overrides
from webstrata.schedule.policy import ValuePolicy
from webstrata.schedule.value import Value

CHUNK = 5_000
_MOST_SITES = 20_000
"""Beyond so many hosts, those with a single page share one row of joint events, which stays empty."""


class PageTable:
    """Columns beside the population's: which page a row is, its host, its tags, and whether it may be chosen."""

    def __init__(self, policy: ValuePolicy) -> None:
        self.policy = policy
        self.ids: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._order: NDArray[np.intp] = np.empty(0, dtype=np.intp)
        self.host: NDArray[np.intp] = np.empty(0, dtype=np.intp)
        self.hosts: list[str] = []
        self.host_urls: list[str] = []
        """One address of each host, to ask politeness about."""
        self._host_place: dict[str, int] = {}
        self.tags: list[tuple[str, ...]] = []
        self._tag_sets: dict[tuple[str, ...], tuple[str, ...]] = {}
        """Every set of tags once, however many pages have it."""
        self.weight: NDArray[np.float64] = np.empty(0)
        self.ready: Flags = np.empty(0, dtype=bool)
        """Seen, not failing, not given up by its watcher: the allocator may choose it."""
        self.factor: Column = np.empty(0, dtype=np.float32)
        self.min_days: Days = np.empty(0)
        self.max_days: Days = np.empty(0)
        self.population = self._made(np.empty(0, dtype=np.intp), 0.0)
        self._changed_hosts: set[int] = set()

    def __len__(self) -> int:
        return len(self.ids)

    def rows(self, ids: Iterable[int]) -> Rows:
        """Row of each page, -1 for a stranger."""
        wanted = np.fromiter(ids, dtype=np.int64)
        if not len(self.ids) or not len(wanted):
            return np.full(len(wanted), -1, dtype=np.intp)
        place = np.minimum(np.searchsorted(self.ids, wanted, sorter=self._order), len(self.ids) - 1)
        row = self._order[place]
        return np.where(self.ids[row] == wanted, row, -1)

    def take_in(self, found: Sequence[PageSummary], states: Sequence[bytes | None], now: float) -> None:
        """Pages that are new here, each with its row of state; none: not seen yet."""
        if not found:
            return
        before, old, old_place = len(self), self.population, self._site_of_host()
        for one in found:
            if one.host not in self._host_place:
                self._host_place[one.host] = len(self.hosts)
                self.hosts.append(one.host)
                self.host_urls.append(one.url)
        self.ids = np.concatenate([self.ids, np.array([one.id for one in found], dtype=np.int64)])
        self._order = np.argsort(self.ids, kind="stable")
        self.host = np.concatenate([self.host, np.array([self._host_place[one.host] for one in found], dtype=np.intp)])
        self.tags += [self._tag_sets.setdefault(one.tags, one.tags) for one in found]
        self.weight = np.concatenate([self.weight, sane_weights(np.array([one.weight for one in found]))])
        seen = [state is not None and not one.failures for one, state in zip(found, states, strict=True)]
        self.ready = np.concatenate([self.ready, np.array(seen, dtype=bool)])
        self.population = self._made(self._sites(), now)
        self.population.state[:before] = old.state
        for row, state in enumerate(states, before):
            if state is not None:
                self.population.state[row] = np.frombuffer(state, dtype=self.policy.dtype)[0]
        self.population.copied(self.population.rows, self.population.state["seen_at"].copy())
        self._keep_sites(old, old_place)

    def _made(self, site: NDArray[np.intp], now: float) -> LivePolicyState:
        family = isinstance(self.policy, Value)
        return LivePolicyState(self.policy, site, now=now, weights=self.weight, family=family)

    def _sites(self) -> NDArray[np.intp]:
        if len(self.hosts) <= _MOST_SITES:
            return self.host
        alone = np.bincount(self.host, minlength=len(self.hosts)) < 2
        place = np.where(alone, 0, np.cumsum(~alone))
        return place[self.host]

    def learn(self, rows: Rows, at: Days, changed: Flags) -> None:
        """These pages were visited, each at its time (in days)."""
        self.population.learn(rows, float(at.max()), changed)
        self._seen(rows, at)
        if len(self.hosts) > _MOST_SITES and self.population.siblings is not None:
            assert self.population.sites is not None
            self.population.sites[0] = self.population.siblings.start(1, int(at.max()))[0]

    def begin(self, rows: Rows, at: Days) -> None:
        """First copies of these pages were taken."""
        for row, day in zip(rows.tolist(), at.tolist(), strict=True):
            self.population.state[row] = self.policy.start(1, day)[0]
        self._seen(rows, at)

    def _seen(self, rows: Rows, at: Days) -> None:
        """A batch is learned as of its last visit; each page remembers its own."""
        self.population.copied(rows, at)
        self.population.heard.visited(rows)
        self.ready[rows] = True
        self._changed_hosts.update(self.host[rows].tolist())

    def wish(self, wishes: Overrides, usual: IntervalLimits, limited: dict[int, str], now: float) -> None:
        """Boosts and limits as columns; `limited` are the pages with limits of their own."""
        touched = wishes.boosts.keys() | wishes.tags.keys()
        self.factor = np.ones(len(self), dtype=np.float32)
        self.min_days = np.full(len(self), usual.min_s / DAY_S)
        self.max_days = np.full(len(self), usual.max_s / DAY_S)
        some = [row for row, tags in enumerate(self.tags) if not touched.isdisjoint(tags)] if touched else []
        own = {int(row): url for row, url in zip(self.rows(limited), limited.values(), strict=True) if row >= 0}
        for row in {*some, *own}:
            span = wishes.limits(own.get(row, ""), self.tags[row], usual)
            self.factor[row] = wishes.factor(self.tags[row], now)
            self.min_days[row], self.max_days[row] = span.min_s / DAY_S, span.max_s / DAY_S

    # ── joint events of sites at rest ───────────────────────────────────────────────────────────────────────

    def changed_sites(self) -> list[tuple[str, bytes]]:
        """What hosts did together, of those visited since the last call, packed."""
        sites, place = self.population.sites, self._site_of_host()
        changed = sorted(self._changed_hosts) if sites is not None else []
        self._changed_hosts.clear()
        return [
            (self.hosts[host], zlib.compress(sites[place[host]].tobytes(), 1))
            for host in changed
            if sites is not None and self._is_own(int(place[host]))
        ]

    def put_sites(self, kept: dict[str, bytes]) -> None:
        """Packed rows as they were kept; what does not fit is left out."""
        siblings, sites, place = self.population.siblings, self.population.sites, self._site_of_host()
        if siblings is None or sites is None:
            return
        for name, packed in kept.items():
            host = self._host_place.get(name, -1)
            data = _unpacked(packed)
            if host >= 0 and self._is_own(int(place[host])) and len(data) == siblings.dtype.itemsize:
                sites[place[host]] = np.frombuffer(data, dtype=siblings.dtype)[0]

    def _is_own(self, site: int) -> bool:
        """Whether a row of joint events belongs to one host."""
        return site > 0 or (site == 0 and len(self.hosts) <= _MOST_SITES)

    def _site_of_host(self) -> NDArray[np.intp]:
        place = np.full(len(self.hosts), -1, dtype=np.intp)
        place[self.host] = self.population.site
        return place

    def _keep_sites(self, old: LivePolicyState, old_place: NDArray[np.intp]) -> None:
        """Carry the rows of hosts over from a population that was smaller."""
        sites = self.population.sites
        if sites is None or old.sites is None or not len(old_place):
            return
        place = self._site_of_host()[: len(old_place)]
        shared = len(self.hosts) > _MOST_SITES
        own = (place > 0) & (old_place > 0) if shared else old_place >= 0
        sites[place[own]] = old.sites[old_place[own]]


def _unpacked(packed: bytes) -> bytes:
    try:
        return zlib.decompress(packed)
    except zlib.error:
        return b""


async def states_of(found: Sequence[PageSummary], policy: ValuePolicy, store: Store) -> list[bytes | None]:
    """The policy's row of each page: as it was kept, else from its log; none where it was not seen yet."""
    size = policy.dtype.itemsize
    states: list[bytes | None] = [
        one.policy_state if one.policy == policy.name and len(one.policy_state) == size else None for one in found
    ]
    strange = [
        one.id for one, state in zip(found, states, strict=True) if state is None and one.last_seen_at is not None
    ]
    if strange:
        learned = replayed(policy, await store.visit_log.observations(strange))
        states = [learned.get(one.id, state) for one, state in zip(found, states, strict=True)]
    return states


def replayed(policy: ValuePolicy, logged: Sequence[tuple[int, float, bool]]) -> dict[int, bytes]:
    """What a policy would know by the visits of a log, page by page."""
    visits: dict[int, list[tuple[float, bool]]] = {}
    for page, at, changed in logged:
        visits.setdefault(page, []).append((at / DAY_S, changed))
    pages = list(visits)
    state = policy.start(len(pages))
    for row, page in enumerate(pages):
        state[row] = policy.start(1, visits[page][0][0])[0]
    for turn in range(1, max(map(len, visits.values()), default=0)):
        rows = np.array([row for row, page in enumerate(pages) if len(visits[page]) > turn], dtype=np.intp)
        steps = [(visits[pages[row]][turn - 1], visits[pages[row]][turn]) for row in rows.tolist()]
        elapsed = np.array([max(after[0] - before[0], 0.0) for before, after in steps])
        policy.learn(state, rows, elapsed, np.array([after[1] for _, after in steps], dtype=bool))
    return {page: state[row].tobytes() for row, page in enumerate(pages)}
