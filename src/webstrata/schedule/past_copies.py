"""What a policy learns from copies that were taken at any times: by an archive, or by visits of the past.

Sightings of all pages are learned day after day, as visits are, so that what the pages of a site have in common reaches
the beliefs of all of them. Nothing is learned between two sightings whose contents cannot be compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from webstrata.columns import Days, Rows, State
from webstrata.schedule.policy import TimerPolicy
from webstrata.schedule.policy_state import PolicyState

SAME, CHANGED, UNKNOWN = 0, 1, -1


class PastSightings(Struct, frozen=True, kw_only=True):
    """Sightings of pages, by page and time. The first sighting of a page is where its history begins."""

    page: Rows
    """Row of the page in the table that learns; unlike in `Rows`, a page may occur many times."""
    at: Days
    result: NDArray[np.int8]
    """Compared with the sighting before it: `SAME`, `CHANGED` or `UNKNOWN`."""

    def __len__(self) -> int:
        return len(self.page)

    def firsts(self) -> NDArray[np.intp]:
        """The indices of the first sightings."""
        return np.flatnonzero(np.diff(self.page, prepend=-1) != 0)


class PastPages(Struct, frozen=True, kw_only=True):
    """Pages whose copies and visits are learned together. One entry for each page, in the columns but the sightings."""

    sightings: PastSightings
    hosts: Sequence[str]
    features: Sequence[Mapping[str, float]] | None = None
    """The static features of the pages' contents; empty where none are known; None: they are not asked for."""
    has_events: bool = True
    """The joint events of the hosts are learned, too."""


def joined_sightings(copies: PastSightings, visits: PastSightings) -> PastSightings:
    """Copies and own visits of the same pages in one order of time.

    The result of a visit is compared with the visit before it. Copies between two visits count only if both the copies
    and the later visit saw a change: they then tell of more than one. Copies after the last visit do not count.
    """
    if not len(visits):
        return copies
    visit_key, copy_key = _keys(visits, copies)
    following = np.searchsorted(visit_key, copy_key, side="left")
    has_previous = (following > 0) & (visits.page[following - 1] == copies.page)
    has_next = following < len(visits)
    has_next[has_next] = visits.page[following[has_next]] == copies.page[has_next]
    before_first, between = ~has_previous, has_previous & has_next
    opens = np.ones(len(copies), dtype=bool)  # the first copy since a visit
    opens[1:] = (np.diff(copies.page) != 0) | (np.diff(following) != 0)
    seen = np.bincount(following[between & ~opens & (copies.result == CHANGED)], minlength=len(visits) + 1)
    splits = np.append((seen[: len(visits)] > 0) & (visits.result == CHANGED), False)
    result = np.where(between & opens, UNKNOWN, copies.result)
    kept = before_first | (between & splits[following])
    page = np.concatenate([copies.page[kept], visits.page])
    at = np.concatenate([copies.at[kept], visits.at])
    results = np.concatenate([result[kept], np.where(splits[:-1], UNKNOWN, visits.result)]).astype(np.int8)
    order = np.lexsort((at, page))
    return PastSightings(page=page[order], at=at[order], result=results[order])


def _keys(one: PastSightings, other: PastSightings) -> tuple[Days, Days]:
    """Page and time of each sighting as one number, in the order of both."""
    times = np.concatenate([one.at, other.at])
    begin = float(times.min())
    span = float(times.max()) - begin + 1.0
    return one.page * span + (one.at - begin), other.page * span + (other.at - begin)


def learn_sightings(pages: PolicyState, sightings: PastSightings) -> None:
    """Let the policy, and the events of the sites, learn from sightings. In place; the pages and the sites of the
    sightings must be new. A site begins with its first sighting: days before it do not count as quiet."""
    first = sightings.firsts()
    rows, since = sightings.page[first], sightings.at[first]
    _begin(pages, rows, since)
    for batch in _batches(sightings, first):
        page, at, result = sightings.page[batch], sightings.at[batch], sightings.result[batch]
        known = result != UNKNOWN
        if known.any():
            pages.learn(page[known], at[known], result[known] == CHANGED)
        if not known.all():
            pages.copied(page[~known], at[~known])


def _begin(pages: PolicyState, rows: Rows, since: Days) -> None:
    if not pages.policy.has_forecast:  # the state may hold more about its start than `seen_at`
        for row, day in zip(rows.tolist(), since.tolist(), strict=True):
            pages.state[row] = pages.policy.start(1, day)[0]
    pages.copied(rows, since)
    if pages.site_state is not None and len(rows):
        begun = np.full(len(pages.site_state), np.iinfo(np.int64).max)
        np.minimum.at(begun, pages.site[rows], np.floor(since).astype(np.int64))
        has_any = begun < np.iinfo(np.int64).max
        pages.site_state["day"][has_any] = begun[has_any]


def _batches(sightings: PastSightings, first: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """The indices of all sightings but the first ones: of each day those that no other one of the page precedes on that
    day, then the next ones, in the order of the pages."""
    later = np.ones(len(sightings), dtype=bool)
    later[first] = False
    index = np.flatnonzero(later)
    if not len(index):
        return []
    day = np.floor(sightings.at[index]).astype(np.int64)
    starts = np.ones(len(index), dtype=bool)  # of a run of sightings of one page on one day
    starts[1:] = (np.diff(day) != 0) | (np.diff(sightings.page[index]) != 0)
    position = np.arange(len(index))
    rank = position - np.maximum.accumulate(np.where(starts, position, 0))
    order = np.lexsort((position, rank, day))
    cuts = np.flatnonzero((np.diff(day[order]) != 0) | (np.diff(rank[order]) != 0)) + 1
    return np.split(index[order], cuts)


def timer_states(policy: TimerPolicy, sightings: PastSightings, n: int) -> State:
    """The states of n pages under a timer policy.

    Such a policy learns from the results of visits at its own intervals: of the copies, those count that a visit at
    these intervals would have seen. Where a comparison in between is not known, nothing is learned.
    """
    state = policy.start(n)
    if not len(sightings):
        return state
    changes = np.cumsum(sightings.result == CHANGED)
    unknown = np.cumsum(sightings.result == UNKNOWN)
    last = sightings.firsts()
    ends = np.append(last[1:], len(sightings))
    begin = float(sightings.at.min())
    span = 2.0 * (float(sightings.at.max()) - begin + 1.0)
    keys = sightings.page * span + (sightings.at - begin)
    while len(last):
        rows = sightings.page[last]
        due = sightings.at[last] + np.minimum(policy.interval(state, rows), span / 2)
        index = np.searchsorted(keys, rows * span + (due - begin), side="left")
        index = np.maximum(index, last + 1)
        inside = index < ends
        last, index, rows, ends = last[inside], index[inside], rows[inside], ends[inside]
        has_changed = changes[index] > changes[last]
        known = has_changed | (unknown[index] == unknown[last])
        if known.any():
            elapsed = sightings.at[index] - sightings.at[last]
            policy.learn(state, rows[known], elapsed[known], has_changed[known])
        last = index
    return state
