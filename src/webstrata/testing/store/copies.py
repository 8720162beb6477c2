"""Contract of `ArchiveCopies`: copies in other archives, the progress of imports, and what was learned from copies."""

from __future__ import annotations

import math

import numpy as np
from msgspec.structs import replace

from webstrata.columns import COPY_LINK
from webstrata.errors import UsageError
from webstrata.ports import Store
from webstrata.records import ArchivedCopy, Batch, CopyRow, ImportProgress, PageState
from webstrata.testing.store.examples import NOW, entry_of, new, page_of

URL = "https://a.example/"


def _copy(name: str = "1", at: float = 100.0, **fields: object) -> ArchivedCopy:
    return replace(ArchivedCopy(url=URL + name, at=at, archive="archive.example", digest="sha1:A"), **fields)


def _links(*values: int) -> bytes:
    return np.array([(value, 0) for value in values], dtype=COPY_LINK).tobytes()


async def _rows(store: Store, name: str = "1") -> list[CopyRow]:
    return await store.copies.rows([(await page_of(store, name)).id])


async def copies_are_added_with_their_pages(store: Store) -> None:
    """Unknown pages are added and not visited; a page that is watched stays watched; rows are by page and time."""
    await store.pages.add([new("2")], NOW)
    found = [_copy("1", 300.0), _copy("1", 200.0, status=200, text="t"), _copy("2", 100.0)]
    assert await store.copies.add(found, None, NOW) == [True, True, True]
    one, two = await page_of(store, "1"), await page_of(store, "2")
    assert (one.state, two.state, one.visits) == (PageState.CAPTURED, PageState.ACTIVE, 0)
    assert [(row.page_id, row.at) for row in await store.copies.rows([two.id, one.id])] == sorted(
        [(one.id, 200.0), (one.id, 300.0), (two.id, 100.0)]
    )
    expected = CopyRow(
        page_id=one.id, at=200.0, archive="archive.example", digest="sha1:A", text="t", status=200, has_links=False
    )
    assert (await _rows(store))[0] == expected
    assert await store.copies.rows([]) == []
    assert await store.maintenance.contradictions() == []


async def duplicates_are_not_new(store: Store) -> None:
    """A copy of the same page and time is not new, in one call or in two, from whatever archive."""
    assert await store.copies.add([_copy(), _copy(archive="other.example")], None, NOW) == [True, False]
    assert await store.copies.add([_copy(), _copy(at=101.0)], None, NOW) == [False, True]
    assert [(row.at, row.archive) for row in await _rows(store)] == [
        (100.0, "archive.example"),
        (101.0, "archive.example"),
    ]


async def later_copies_complete_earlier_ones(store: Store) -> None:
    """What the first copy lacks is added, in one call or in two; what it has stays; a copy with another digest of the
    same kind is one of another content, and adds nothing."""
    await store.copies.add([_copy(digest=""), _copy(digest="sha1:B")], None, NOW)
    assert [(row.digest, row.text, row.has_links) for row in await _rows(store)] == [("sha1:B", "", False)]
    await store.copies.add([_copy(digest="sha1:C", text="of C", status=200)], None, NOW)
    assert [(row.digest, row.text, row.status) for row in await _rows(store)] == [("sha1:B", "", 0)]
    await store.copies.add([_copy(digest="md5:D", text="t", status=200, links=_links(5))], None, NOW)
    assert [(row.digest, row.text, row.status, row.has_links) for row in await _rows(store)] == [
        ("sha1:B", "t", 200, True)
    ]
    page = await page_of(store, "1")
    assert list(await store.facts.links([page.id])) == [page.id]


async def progress_is_stored_with_its_copies(store: Store) -> None:
    """Progress is read back as stored; later progress replaces earlier; imports are listed latest first."""
    first = ImportProgress(key="cdx a", position="17", read=5, kept=1, skipped={"malformed": 4}, at=NOW)
    last = replace(first, position="99\0", read=2**40, is_finished=True, at=NOW + 1)
    other = ImportProgress(key="cdx b", at=NOW)
    assert await store.copies.progress("cdx a") is None
    await store.copies.add([_copy()], first, NOW)
    assert await store.copies.progress("cdx a") == first
    await store.copies.add([], last, NOW)
    await store.copies.add([], other, NOW)
    stored = await store.copies.imports()
    assert [one.key for one in stored] == ["cdx a", "cdx b"]
    assert (stored[0].read, stored[0].is_finished, stored[0].skipped) == (2**40, True, {"malformed": 4})


async def a_failed_transaction_stores_neither_copies_nor_progress(store: Store) -> None:
    """The name of an import that cannot be stored is an error, and its copies are not stored."""
    for key in ("k" * 3_000, "\0"):
        try:
            await store.copies.add([_copy()], ImportProgress(key=key), NOW)
        except UsageError:
            pass
        else:
            raise AssertionError(f"stored a name of {len(key)} characters")
    assert await store.pages.known([URL + "1"]) == {}


async def hostile_copies_are_bounded(store: Store) -> None:
    """Copies that cannot be stored are left out; fields beyond all limits are cut or count as not known."""
    hostile = [
        _copy("x" * 3_000),
        _copy("\ud800"),
        _copy(at=math.nan),
        _copy(at=math.inf),
        _copy(archive="a" * 9_000 + "\0", digest="d" * 9_000, text="t" * 9_000, status=2**70),
        _copy("2", archive="\0\ud800", digest="sha1:\0", status=-1),
    ]
    assert await store.copies.add(hostile, None, NOW) == [False, False, False, False, True, True]
    (one,) = await _rows(store, "1")
    assert (len(one.archive), one.digest, one.text, one.status) == (200, "", "", 0)
    (two,) = await _rows(store, "2")
    assert (two.archive, two.digest, two.status) == ("\ufffd\ufffd", "sha1:\ufffd", 0)
    assert await store.copies.add(hostile, None, NOW) == [False] * 6
    assert [await store.copies.page_ids(0, 9)] == [[one.page_id, two.page_id]]


async def many_copies_in_one_call(store: Store) -> None:
    """More pages, times and archives than a statement has parameters."""
    found = [_copy(str(number % 1_500), at=float(number), archive=f"a{number % 700}") for number in range(3_000)]
    assert sum(await store.copies.add(found, None, NOW)) == 3_000
    assert sum(await store.copies.add(found, None, NOW)) == 0
    ids = await store.copies.page_ids(0, 9_999)
    assert len(ids) == 1_500
    assert len(await store.copies.rows(ids)) == 3_000
    assert len(await store.copies.latest(ids)) == 1_500


async def the_latest_copy_of_each_page(store: Store) -> None:
    await store.copies.add([_copy("1", 1.0), _copy("1", 3.5), _copy("1", 2.0), _copy("2", 1.0)], None, NOW)
    await store.pages.add([new("3")], NOW)
    ids = {name: (await page_of(store, name)).id for name in "123"}
    found = await store.copies.latest([*ids.values(), 999])
    assert {page: row.at for page, row in found.items()} == {ids["1"]: 3.5, ids["2"]: 1.0}


async def pages_with_copies_by_id(store: Store) -> None:
    """Pages in any state that have copies, from page to page; `host` narrows."""
    await store.pages.add([new("0"), new("1"), new("2")], NOW)
    other = ArchivedCopy(url="https://b.example/", at=1.0, archive="x")
    await store.copies.add([_copy("2"), _copy("2", 5.0), _copy("3"), other], None, NOW)
    two, three = (await page_of(store, "2")).id, (await page_of(store, "3")).id
    last = (await store.pages.known([other.url]))[other.url]
    assert await store.copies.page_ids(0, 10) == sorted([two, three, last])
    assert await store.copies.page_ids(0, 1) == [min(two, three, last)]
    assert await store.copies.page_ids(two, 10) == sorted({three, last} - {two})
    assert await store.copies.page_ids(max(three, last), 10) == []
    assert await store.copies.page_ids(0, 10, host="a.example") == sorted([two, three])
    assert await store.copies.page_ids(two, 10, host="b.example") == [last]


async def learned_states_do_not_replace_those_of_later_visits(store: Store) -> None:
    """A page that was visited after the time of learning keeps its state; the time of learning is kept."""
    await store.pages.add([new("1"), new("2")], NOW)
    one, two = await store.queue.claim(NOW, 2, NOW + 60, "me")
    visited = entry_of(one, at=NOW)
    await store.visit_log.commit(
        Batch(entries=(replace(visited, page=replace(visited.page, policy="value", policy_state=b"own")),))
    )
    assert await store.copies.learned_at() is None
    states = [(two.id, b"2"), (one.id, b"1")]
    await store.copies.save_learned("value", states, [("a.example", b"site")], NOW - 1)
    assert [(await page_of(store, name)).policy_state for name in "12"] == [b"own", b"2"]
    assert (await page_of(store, "2")).policy == "value"
    assert await store.budgets.site_states() == {"a.example": b"site"}
    assert await store.copies.learned_at() == NOW - 1
    await store.copies.save_learned("value", states, [], NOW + 1)
    assert [(await page_of(store, name)).policy_state for name in "12"] == [b"1", b"2"]
    assert await store.copies.learned_at() == NOW + 1
