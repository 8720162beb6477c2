"""What the policy learns from copies of pages in archives: before the first visits of its own, and together with them.

All pages of a host are learned together with their visits, in order of time: one belief, from all evidence. Between two
copies or visits something is learned if their contents can be compared: by the digests of their texts, else by digests
of their payloads. Copies between two visits count only where both say that the page changed: then they tell how often.
Those after the last visit wait for the next one.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from webstrata.clock import DAY_S
from webstrata.ports import Store
from webstrata.records import CopyRow, SightedPage
from webstrata.schedule.page_table import MAX_SITES
from webstrata.schedule.past_copies import (
    CHANGED,
    SAME,
    UNKNOWN,
    PastPages,
    PastSightings,
    joined_sightings,
)
from webstrata.schedule.schedule import Schedule

PAGES_AT_ONCE = 20_000
_READ = 2_000
"""Pages whose copies are read with one query."""

OnLearned = Callable[[int, int], object]
"""(pages that were learned, pages to learn)"""


class LearnedCopies(Struct, frozen=True, kw_only=True):
    """What was learned."""

    pages: int = 0
    copies: int = 0
    hosts: int = 0


def copy_changed(copy: CopyRow, text: str, payload: str, coding: str) -> bool | None:
    """Whether a content with these digests differs from the copy; None if they cannot be compared. `coding`: its
    content coding, with which other payloads may be the same content."""
    if copy.text and text:
        return copy.text != text
    if copy.digest and copy.digest == payload:
        return False
    return True if _is_comparable(copy.digest, payload) and not coding else None


async def learn_copies(
    store: Store,
    schedule: Schedule,
    now: float,
    *,
    at_once: int = PAGES_AT_ONCE,
    on_learned: OnLearned = lambda done, total: None,
) -> LearnedCopies:
    """Let the policy of the schedule learn from all copies that it has not learned from yet.

    Whole hosts are learned `at_once`, as many as have so many pages; larger hosts in pieces.
    """
    hosts = await store.copies.hosts_to_learn(schedule.policy.name)
    total, learned = sum(number for _, number in hosts), LearnedCopies(hosts=len(hosts))
    # Among very many hosts, the events of those with a single page are not kept, here as in the table of pages.
    single = {host for host, number in hosts if number == 1} if len(hosts) > MAX_SITES else set()
    for has_events in (True, False):
        for part in _parts([one for one in hosts if (one[0] not in single) == has_events], at_once):
            found = await store.copies.sighted_pages(part)
            for begin in range(0, len(found), at_once):
                pages = found[begin : begin + at_once]
                sightings, copies = await _past_sightings(store, pages)
                past = PastPages(
                    sightings=sightings,
                    hosts=[page.host for page in pages],
                    features=await _features(store, pages) if schedule.uses_features else None,
                    has_events=has_events,
                )
                packed, events = schedule.learn_past(past, now)
                states = [(page.page_id, state) for page, state in zip(pages, packed, strict=True) if page.has_copies]
                await store.copies.save_learned(schedule.policy.name, states, events if begin == 0 else [], now)
                learned = replace(learned, pages=learned.pages + len(states), copies=learned.copies + copies)
                on_learned(learned.pages, total)
    return learned


def _parts(hosts: Sequence[tuple[str, int]], at_once: int) -> list[list[str]]:
    """Hosts that are learned together."""
    parts: list[list[str]] = []
    size = at_once
    for host, number in hosts:
        if size + number > at_once:
            parts.append([])
            size = 0
        parts[-1].append(host)
        size += number
    return parts


async def _features(store: Store, pages: Sequence[SightedPage]) -> list[dict[str, float]]:
    """The features of the pages' contents; empty where none are known."""
    features = await store.facts.features([page.page_id for page in pages])
    return [features.get(page.page_id, {}) for page in pages]


# ── sightings ───────────────────────────────────────────────────────────────────────────────────────────────


async def _past_sightings(store: Store, pages: Sequence[SightedPage]) -> tuple[PastSightings, int]:
    """The copies and visits of these pages, by page and time; and the number of copies."""
    row_of = {page.page_id: row for row, page in enumerate(pages)}
    first_visit = {row: page for row, page in enumerate(pages) if page.first_at is not None}
    copied = _Columns()
    opening: dict[int, int] = {}
    for begin in range(0, len(pages), _READ):
        previous: CopyRow | None = None
        for copy in await store.copies.rows([page.page_id for page in pages[begin : begin + _READ] if page.has_copies]):
            row = row_of[copy.page_id]
            changed: bool | None = False
            if previous is not None and previous.page_id == copy.page_id:
                changed = copy_changed(previous, copy.text, copy.digest, "")
            copied.add(row, copy.at, _result(changed))
            if (visit := first_visit.get(row)) is not None and copy.at <= (visit.first_at or 0.0):
                coding = visit.first_coding
                opening[row] = _result(copy_changed(copy, visit.first_text, visit.first_payload, coding))
            previous = copy
    visited = _Columns()
    for id_, at, changed in await store.visit_log.observations([pages[row].page_id for row in first_visit]):
        row = row_of[id_]
        visited.add(row, at, opening.pop(row, UNKNOWN) if at == first_visit[row].first_at else int(changed))
    return joined_sightings(copied.sightings(), visited.sightings()), len(copied)


class _Columns:
    """Sightings that are collected one by one."""

    def __init__(self) -> None:
        self._page = array("q")
        self._at = array("d")
        self._result = array("b")

    def __len__(self) -> int:
        return len(self._page)

    def add(self, page: int, at: float, result: int) -> None:
        self._page.append(page)
        self._at.append(at / DAY_S)
        self._result.append(result)

    def sightings(self) -> PastSightings:
        order = np.lexsort((self._at, self._page))
        page, at, result = (
            np.array(self._page, dtype=np.intp),
            np.array(self._at),
            np.array(self._result, dtype=np.int8),
        )
        return PastSightings(page=page[order], at=at[order], result=result[order])


def _result(changed: bool | None) -> int:
    return UNKNOWN if changed is None else CHANGED if changed else SAME


def _is_comparable(one: str, other: str) -> bool:
    """Whether two digests are of the same algorithm."""
    return bool(one and other) and one.partition(":")[0] == other.partition(":")[0]
