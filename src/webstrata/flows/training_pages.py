"""The pages of a store from which a classifier learns: the features of their contents, and what was seen of them.

Two successive copies with digests are an observation: of the text if both have one, else of the payload. Copies count
up to the page's first visit; what happened between the last of them and that visit is not known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from itertools import groupby, pairwise
from operator import attrgetter, itemgetter
from typing import NamedTuple

import numpy as np

from webstrata.clock import DAY_S
from webstrata.flows.crawl.selection.schedule_input import page_chunks
from webstrata.observe.static_features import STATIC_FEATURES
from webstrata.ports import Store
from webstrata.predict.first_sight.training_pages import TrainingPages, feature_rows
from webstrata.predict.visit_history import visit_history
from webstrata.records import CopyRow, Importance

IMPORTANCE_FEATURES = ("rank", "in_links", "link_depth")
"""What the link graph of the store says about a page; missing before it was computed."""
FEATURES = (*STATIC_FEATURES, *IMPORTANCE_FEATURES)

FEWEST_OBSERVATIONS, SHORTEST_DAYS = 5, 14.0
"""A page needs at least these, or its change rate says little."""
MOST_OF_ONE_SITE, MOST_PAGES = 250, 20_000
"""No site outweighs the others, and training ends within minutes. The first pages by id are taken."""
_CHUNK = 5_000


class _Observed(NamedTuple):
    """An observation of a page: whether it had changed since the previous one."""

    at: float
    elapsed_days: float
    changed: bool


class _ObservedPage(NamedTuple):
    url: str
    host: str
    features: Mapping[str, float]
    seen: Sequence[_Observed]


async def stored_training_pages(store: Store, on_read: Callable[[int], object] = lambda pages: None) -> TrainingPages:
    """All pages with features and enough observations. `on_read` is called with the number of pages of each chunk."""
    kept: list[_ObservedPage] = []
    of_site: Counter[str] = Counter()
    async for chunk in _pages(store):
        on_read(len(chunk))
        if len(kept) >= MOST_PAGES:
            break
        for page in await _with_history(store, chunk):
            if of_site[page.host] < MOST_OF_ONE_SITE:
                of_site[page.host] += 1
                kept.append(page)
    seen = [one for page in kept for one in page.seen]
    return TrainingPages(
        site=tuple(page.host for page in kept),
        page=tuple(page.url for page in kept),
        names=FEATURES,
        features=feature_rows([page.features for page in kept], FEATURES),
        history=visit_history(
            np.concatenate([[0], np.cumsum([len(page.seen) for page in kept], dtype=np.int64)]),
            [one.elapsed_days for one in seen],
            [one.changed for one in seen],
            [one.at / DAY_S for one in seen],
        ),
    )


async def page_features(store: Store, ids: Sequence[int]) -> dict[int, dict[str, float]]:
    """The features of these pages that are stored, with those of the link graph."""
    features = await store.facts.features(ids)
    importance = await store.facts.importance(list(features))
    return {id_: {**values, **_link_features(importance.get(id_))} for id_, values in features.items()}


def _link_features(importance: Importance | None) -> dict[str, float]:
    values = {name: getattr(importance, name, None) for name in IMPORTANCE_FEATURES}
    return {name: float(value) for name, value in values.items() if value is not None}


async def _pages(store: Store) -> AsyncIterator[list[tuple[int, str, str]]]:
    """(id, URL, host) of the active pages, then of the other pages that have copies."""
    active: set[int] = set()
    async for chunk in page_chunks(store):
        active.update(page.id for page in chunk)
        yield [(page.id, page.url, page.host) for page in chunk]
    after = 0
    while ids := await store.copies.page_ids(after, _CHUNK):
        after = ids[-1]
        others = await store.pages.by_id([id_ for id_ in ids if id_ not in active])
        yield [(id_, page.url, page.host) for id_, page in sorted(others.items())]


async def _with_history(store: Store, pages: Sequence[tuple[int, str, str]]) -> list[_ObservedPage]:
    features = await page_features(store, [id_ for id_, _, _ in pages])
    ids = list(features)
    visits = {
        id_: [(at, changed) for _, at, changed in rows]
        for id_, rows in groupby(await store.visit_log.observations(ids), itemgetter(0))
    }
    copies = {id_: list(rows) for id_, rows in groupby(await store.copies.rows(ids), attrgetter("page_id"))}
    found = []
    for id_, url, host in pages:
        if id_ in features:
            seen = _observations(visits.get(id_, []), copies.get(id_, []))
            if len(seen) >= FEWEST_OBSERVATIONS and sum(one.elapsed_days for one in seen) >= SHORTEST_DAYS:
                found.append(_ObservedPage(url, host, features[id_], seen))
    return found


def _observations(visits: Sequence[tuple[float, bool]], copies: Sequence[CopyRow]) -> list[_Observed]:
    first = visits[0][0] if visits else float("inf")
    earlier = [copy for copy in copies if copy.at < first]
    seen = [
        _Observed(after.at, (after.at - before.at) / DAY_S, changed)
        for before, after in pairwise(earlier)
        if (changed := _differs(before, after)) is not None
    ]
    return seen + [_Observed(at, (at - before) / DAY_S, changed) for (before, _), (at, changed) in pairwise(visits)]


def _differs(before: CopyRow, after: CopyRow) -> bool | None:
    """Whether two copies differ; None if nothing is known about it."""
    if before.text and after.text:
        return before.text != after.text
    if before.digest and after.digest:
        return before.digest != after.digest
    return None
