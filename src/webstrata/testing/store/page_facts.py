"""Contract of `PageFacts`: links that were seen on pages, static features, importance."""

from __future__ import annotations

import math

import numpy as np
from msgspec.structs import replace

from webstrata.columns import COPY_LINK, SEEN_LINK
from webstrata.ports import Store
from webstrata.records import ArchivedCopy, Batch, ContentFacts, Importance
from webstrata.testing.store.examples import NOW, entry_of, new, page_of

Row = tuple[int, int, float]


def _packed(*links: tuple[int, int]) -> bytes:
    """Links as (value, kind), in order of value."""
    return np.array(list(links), dtype=COPY_LINK).tobytes()


async def _visit(store: Store, name: str, at: float, links: bytes | None, features: dict[str, float]) -> int:
    page = await page_of(store, name)
    facts = ContentFacts(page_id=page.id, at=at, features=features, links=links)
    await store.visit_log.commit(Batch(entries=(entry_of(page, at=at),), contents=(facts,)))
    return page.id


def _rows(packed: bytes) -> list[Row]:
    return [(int(row["value"]), int(row["kind"]), float(row["first_at"])) for row in np.frombuffer(packed, SEEN_LINK)]


async def links_have_the_time_of_their_first_content(store: Store) -> None:
    """Of visits and imports in any order, the earliest content counts; repeating them changes nothing."""
    await store.pages.add([new("1")], NOW)
    url = "https://a.example/1"
    late = ArchivedCopy(url=url, at=NOW + 9, archive="x", links=_packed((4, 0), (7, 1), (2**64 - 1, 2)))
    early = ArchivedCopy(url=url, at=NOW - 9, archive="x", links=_packed((4, 0), (9, 0)))
    middle = _packed((7, 1), (8, 0))
    page = await _visit(store, "1", NOW, middle, {"size": 1.0})
    for _ in range(2):
        await store.copies.add([late, early], None, NOW)
        await _visit(store, "1", NOW, middle, {"size": 1.0})
    expected = [(4, 0, NOW - 9), (7, 1, NOW), (8, 0, NOW), (9, 0, NOW - 9), (2**64 - 1, 2, NOW + 9)]
    assert {page: _rows(packed) for page, packed in (await store.facts.links([page, 99])).items()} == {page: expected}


async def a_page_without_links_differs_from_one_that_was_not_read(store: Store) -> None:
    await store.pages.add([new("1"), new("2")], NOW)
    read = await _visit(store, "1", NOW, b"", {})
    unread = await _visit(store, "2", NOW, None, {})
    assert await store.facts.links([read, unread]) == {read: b""}


async def the_earliest_links_are_kept(store: Store) -> None:
    """The links of a page are limited: of those of several contents, the earliest are kept."""
    await store.pages.add([new("1")], NOW)
    await _visit(store, "1", NOW, _packed(*((value, 0) for value in range(0, 60_000, 2))), {})
    page = await _visit(store, "1", NOW - 5, _packed((1, 0), (3, 0)), {})
    rows = _rows((await store.facts.links([page]))[page])
    assert len(rows) == 20_000
    assert [row for row in rows if row[0] % 2] == [(1, 0, NOW - 5), (3, 0, NOW - 5)]


async def pages_with_links_by_id(store: Store) -> None:
    await store.pages.add([new("1"), new("2"), new("3")], NOW)
    one = await _visit(store, "1", NOW, _packed((4, 0)), {})
    three = await _visit(store, "3", NOW, _packed(), {})
    found = await store.facts.links_after(0, 10)
    assert [(page, url, _rows(packed)) for page, url, packed in found] == [
        (one, "https://a.example/1", [(4, 0, NOW)]),
        (three, "https://a.example/3", []),
    ]
    assert [page for page, _, _ in await store.facts.links_after(0, 1)] == [one]
    assert [page for page, _, _ in await store.facts.links_after(one, 9)] == [three]
    assert await store.facts.links_after(three, 9) == []


async def features_of_the_latest_content_are_kept(store: Store) -> None:
    """Of visits and imports in any order, and of two contents in one batch; what is no number is left out."""
    await store.pages.add([new("1"), new("2")], NOW)
    one = await _visit(store, "1", NOW, None, {"size": 5.0, "share": 0.25, "odd": math.nan, "much": math.inf})
    assert await store.facts.features([one, 99]) == {one: {"size": 5.0, "share": 0.25}}
    await store.facts.save_features({one: {"size": 4.0}}, NOW - 1)
    assert (await store.facts.features([one]))[one]["size"] == 5.0
    await store.facts.save_features({one: {"size": 6.0}}, NOW + 1)
    assert await store.facts.features([one]) == {one: {"size": 6.0}}
    two = (await page_of(store, "2")).id
    later = ContentFacts(page_id=two, at=NOW + 5, features={"size": 2.0})
    await store.visit_log.commit(Batch(contents=(later, replace(later, at=NOW, features={"size": 1.0}))))
    assert (await store.facts.features([two]))[two] == {"size": 2.0}


async def importance_is_replaced_as_a_whole(store: Store) -> None:
    await store.pages.add([new("1"), new("2")], NOW)
    one, two = (await page_of(store, "1")).id, (await page_of(store, "2")).id
    first = Importance(page_id=one, rank=1.5, in_links=3, link_depth=0)
    second = Importance(page_id=two, rank=0.5, in_links=0)
    assert await store.facts.importance([one, two]) == {}
    await store.facts.save_importance([first, second])
    assert await store.facts.importance([one, two, 99]) == {one: first, two: second}
    await store.facts.save_importance([replace(second, rank=1.0)])
    assert await store.facts.importance([one, two]) == {two: replace(second, rank=1.0)}
    await store.facts.save_importance([])
    assert await store.facts.importance([one, two]) == {}
