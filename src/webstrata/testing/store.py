"""The contract of the `Store` port: what any store must pass.

    check_store(make_store)            # runs all, each on a store of its own
    @pytest.mark.parametrize("check", STORE_CHECKS)

`make_store(clock)` gives a new, empty store each time.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import TypeVar

from msgspec.structs import replace

from webstrata.clock import ManualClock
from webstrata.errors import StoreError, UsageError
from webstrata.ports import Clock, Store
from webstrata.records import (
    AddressState,
    Announced,
    Batch,
    Boost,
    ChangeKind,
    Checked,
    Entry,
    Failure,
    FailureKind,
    Fingerprint,
    Hop,
    HostState,
    Limit,
    Looking,
    NewPage,
    Original,
    Outcome,
    PaceState,
    Page,
    PageRole,
    PageState,
    Position,
    RobotsState,
    Site,
    Visit,
)

MakeStore = Callable[[Clock], Store]
Check = Callable[[Store], Awaitable[None]]
T = TypeVar("T")

NOW = 1_800_000_000.123456
DAY = int(NOW // 86_400)


def check_store(make_store: MakeStore) -> None:
    """Run every check; the first broken promise is an `AssertionError`."""
    for check in STORE_CHECKS:
        run_check(check, make_store)


def run_check(check: Check, make_store: MakeStore) -> None:
    async def run() -> None:
        store = make_store(ManualClock(NOW))
        try:
            await check(store)
        finally:
            await store.close()

    asyncio.run(run())


# ── material ────────────────────────────────────────────────────────────────────────────────────────────────


def _new(name: str, **fields: object) -> NewPage:
    return replace(NewPage(url=f"https://a.example/{name}", host="a.example"), **fields)


def _position(number: int) -> Position:
    return Position(file="one.warc.gz", offset=number, length=7, record_id=f"<urn:uuid:{number}>")


def _visit(page: Page, at: float = NOW, **fields: object) -> Visit:
    return replace(Visit(page_id=page.id, url=page.url, at=at, outcome=Outcome.SAME, status=200, bytes=10), **fields)


def _entry(page: Page, at: float = NOW, next_at: float | None = NOW + 100, **fields: object) -> Entry:
    seen = replace(page, next_at=next_at, visits=page.visits + 1, last_visit_at=at)
    return Entry(page=seen, visit=_visit(page, at, **fields))


async def _all(source: AsyncIterator[T]) -> list[T]:
    return [item async for item in source]


async def _page(store: Store, name: str) -> Page:
    page = await store.page(f"https://a.example/{name}")
    assert page is not None, name
    return page


# ── watching ────────────────────────────────────────────────────────────────────────────────────────────────


async def adding_twice_is_harmless(store: Store) -> None:
    assert await store.add_pages([_new("1"), _new("2")], NOW) == (2, 0)
    assert await store.add_pages([_new("2"), _new("3"), _new("3")], NOW + 5) == (1, 2)
    assert len(await _all(store.pages())) == 3
    page = await _page(store, "2")
    assert (page.added_at, page.next_at, page.state) == (NOW, NOW, PageState.ACTIVE)
    assert await store.add_pages([], NOW) == (0, 0)


async def adding_again_updates_and_wakes(store: Store) -> None:
    await store.add_pages([_new("1", tags=("b",), role=PageRole.REQUISITE, requisites=True)], NOW)
    await store.pause(["https://a.example/1"])
    assert await store.claim(NOW, 10, NOW + 60, "me") == []
    await store.add_pages([_new("1", tags=("a",), weight=2.5)], NOW + 5)
    page = await _page(store, "1")
    assert (page.tags, page.weight, page.role, page.requisites) == (("a", "b"), 2.5, PageRole.PAGE, True)
    assert page.state == PageState.ACTIVE
    assert [page.id for page in await store.claim(NOW + 5, 10, NOW + 60, "me")] == [page.id]


async def pausing_is_counted_and_kept(store: Store) -> None:
    await store.add_pages([_new("1"), _new("2")], NOW)
    one = "https://a.example/1"
    assert await store.pause([one, one, "https://unknown.example/"]) == 1
    assert await store.pause([one]) == 0
    assert (await _page(store, "1")).state == PageState.PAUSED
    assert [page.url for page in await store.claim(NOW, 10, NOW + 60, "me")] == ["https://a.example/2"]


async def sites_are_kept_by_url(store: Store) -> None:
    site = Site(id=0, url="https://a.example/", include=("/x",), tags=("t",), requisites=True)
    first = await store.add_site(site, NOW)
    assert first == replace(site, id=first.id)
    again = await store.add_site(replace(site, max_pages=5), NOW + 1)
    assert again == replace(first, max_pages=5)
    assert await store.sites() == [again]


async def pages_are_found_by_tag_state_and_host(store: Store) -> None:
    other = NewPage(url="https://b.example/", host="b.example", tags=("t",))
    await store.add_pages([_new("1", tags=("t", "u")), _new("2"), other], NOW)
    await store.pause(["https://a.example/2"])

    async def names(**wanted: str) -> list[str]:
        return [page.url.removeprefix("https://") for page in await _all(store.pages(**wanted))]  # type: ignore[arg-type]

    assert await names(tag="t") == ["a.example/1", "b.example/"]
    assert await names(tag="t", host="b.example") == ["b.example/"]
    assert await names(state="paused") == ["a.example/2"]
    assert await names(host="a.example") == ["a.example/1", "a.example/2"]
    assert await names(tag="T") == []
    assert await store.page("https://a.example/none") is None


async def long_listings_are_whole(store: Store) -> None:
    await store.add_pages([_new(str(n), tags=("t",)) for n in range(2_345)], NOW)
    for listing in (store.pages(), store.pages(tag="t"), store.pages(order="next")):
        found = [page.url async for page in listing]
        assert len(found) == len(set(found)) == 2_345
    assert len(await _all(store.pages(limit=1_500))) == 1_500


async def listing_by_next_visit_is_in_order(store: Store) -> None:
    await store.add_pages([_new("late")], NOW + 5)
    await store.add_pages([_new("early")], NOW)
    await store.add_pages([_new("never")], NOW)
    await store.pause(["https://a.example/never"])
    found = await _all(store.pages(order="next", limit=5))
    assert [page.url for page in found] == ["https://a.example/early", "https://a.example/late"]


# ── leases ──────────────────────────────────────────────────────────────────────────────────────────────────


async def most_overdue_pages_come_first(store: Store) -> None:
    await store.add_pages([_new("young")], NOW - 10)
    await store.add_pages([_new("old")], NOW - 20)
    await store.add_pages([_new("future")], NOW + 10)
    assert await store.next_due() == NOW - 20
    claimed = await store.claim(NOW, 1, NOW + 60, "me") + await store.claim(NOW, 9, NOW + 60, "me")
    assert [page.url[-3:] for page in claimed] == ["old", "ung"]
    assert await store.claim(NOW, 0, NOW + 60, "me") == []


async def a_lease_holds_until_it_ends(store: Store) -> None:
    await store.add_pages([_new("1")], NOW)
    assert len(await store.claim(NOW, 10, NOW + 60, "me")) == 1
    assert await store.claim(NOW + 59, 10, NOW + 120, "other") == []
    assert len(await store.claim(NOW + 60, 10, NOW + 120, "other")) == 1


async def two_owners_never_share_a_page(store: Store) -> None:
    await store.add_pages([_new(str(n)) for n in range(200)], NOW)
    shares = await asyncio.gather(*(store.claim(NOW, 30, NOW + 60, f"owner {n}") for n in range(8)))
    ids = [page.id for share in shares for page in share]
    assert len(ids) == len(set(ids)) == 200


async def known_urls_are_told_from_new_ones(store: Store) -> None:
    await store.add_pages([_new("1"), _new("2")], NOW)
    await store.pause(["https://a.example/2"])
    asked = [f"https://a.example/{n}" for n in range(2000)] + ["https://a.example/\0"]
    assert await store.known(asked) == {"https://a.example/1", "https://a.example/2"}
    assert await store.known([]) == set()


async def a_released_page_is_due_again(store: Store) -> None:
    await store.add_pages([_new("1"), _new("2")], NOW)
    one, two = await store.claim(NOW, 10, NOW + 60, "me")
    await store.release([(one.id, None), (two.id, NOW + 5)])
    assert await store.next_due() == NOW
    assert [page.id for page in await store.claim(NOW, 10, NOW + 60, "me")] == [one.id]
    assert [page.id for page in await store.claim(NOW + 5, 10, NOW + 60, "me")] == [two.id]
    await store.release([])


async def a_dead_owner_gets_its_leases_back(store: Store) -> None:
    await store.add_pages([_new(str(n), site_id=4) for n in range(5)], NOW)
    await store.claim(NOW, 3, NOW + 60, "me")
    await store.claim(NOW, 1, NOW + 60, "other")
    assert await store.end_leases("me") == 3
    assert len(await store.claim(NOW, 9, NOW + 60, "me")) == 4
    assert await store.site_sizes() == {4: 5}


async def upcoming_visits_are_listed_and_moved(store: Store) -> None:
    await store.add_pages([_new("1", weight=3.0)], NOW)
    await store.add_pages([_new("2"), _new("held")], NOW + 5)
    await store.add_pages([_new("late")], NOW + 500)
    held = next(page for page in await store.claim(NOW + 5, 9, NOW + 900, "me") if page.url.endswith("held"))
    await store.release([(page.id, None) for page in [await _page(store, name) for name in "12"]])
    one, two = await store.upcoming(NOW + 100, 9)
    assert [(up.url[-1], up.host, up.at, up.weight) for up in (one, two)] == [
        ("1", "a.example", NOW, 3.0),
        ("2", "a.example", NOW + 5, 1.0),
    ]
    assert [up.page_id for up in await store.upcoming(NOW + 100, 1)] == [one.page_id]
    await store.move([(one.page_id, NOW + 700, "room ✓"), (held.id, NOW, "not ours")])
    moved = await _page(store, "1")
    assert (moved.next_at, moved.reason) == (NOW + 700, "room ✓")
    assert (await _page(store, "held")).next_at == NOW + 5, "a leased page stays where it is"
    assert [page.url[-1] for page in await store.claim(NOW + 600, 9, NOW + 900, "me")] == ["2", "e"]
    await store.move([])


async def download_times_are_those_of_the_log(store: Store) -> None:
    other = NewPage(url="https://b.example/", host="b.example")
    await store.add_pages([_new("1"), other], NOW)
    one, two = await store.claim(NOW, 9, NOW + 60, "me")
    hop = Hop(url="x", status=301)
    for entry in (
        _entry(one, duration_s=0.5),
        _entry(two, duration_s=3.0, hops=(hop, hop)),
        _entry(one, at=NOW + 1, status=None, duration_s=0.0),
    ):
        await store.commit(Batch(entries=(entry,)))
    hosts = {one.host, two.host}
    assert hosts == {"a.example", "b.example"}
    assert await store.download_times(9) == [(one.host, 0.0, 0), (two.host, 3.0, 3), (one.host, 0.5, 1)]
    assert await store.download_times(1) == [(one.host, 0.0, 0)]


async def next_due_is_none_when_nothing_will_be(store: Store) -> None:
    assert await store.next_due() is None
    await store.add_pages([_new("1")], NOW)
    await store.pause(["https://a.example/1"])
    assert await store.next_due() is None


# ── commits ─────────────────────────────────────────────────────────────────────────────────────────────────


async def a_page_comes_back_as_it_was_committed(store: Store) -> None:
    await store.add_pages([_new("1", tags=("t",), weight=0.1, depth=3)], NOW)
    (page,) = await store.claim(NOW, 1, NOW + 60, "me")
    seen = replace(
        page,
        next_at=NOW + 1 / 3,
        interval_s=0.1 + 0.2,
        policy="dyn",
        policy_state=bytes(range(256)),
        reason="why ✓",
        visits=7,
        changes=3,
        failures=1,
        last_visit_at=NOW + 1e-6,
        last_seen_at=1e-300,
        last_change_at=-5.5,
        last_outcome=Outcome.BACK,
        etag='W/"é"',
        last_modified="Sun, 06 Nov 1994 08:49:37 GMT",
        payload="sha1:ABC",
        fingerprint=Fingerprint(raw="00ff", size=1 << 40, title="T\x00\n", link_count=9, noise=("a", "b")),
        gone=True,
    )
    await store.commit(Batch(entries=(Entry(page=seen, visit=_visit(page)),)))
    assert await store.page(page.url) == seen
    assert await store.claim(seen.next_at or 0.0, 1, NOW + 60, "other") == [seen]


async def a_visit_comes_back_as_it_was_committed(store: Store) -> None:
    await store.add_pages([_new("1")], NOW)
    page = await _page(store, "1")
    visit = _visit(
        page,
        at=NOW + 1 / 3,
        url="https://a.example/elsewhere",
        outcome=Outcome.ERROR,
        status=None,
        failure=Failure(kind=FailureKind.TLS, detail="no ✗"),
        raw_changed=True,
        counts=True,
        duration_s=0.1,
        bytes=1 << 40,
        headers={"content-type": "text/html", "x": "é\x00"},
        raw="ab",
        text="cd",
        payload="sha1:A",
        truncated="time",
        kind=ChangeKind.LINKS,
        significance=1 / 3,
        reasons=("33.3% of the text differs", "é\x00"),
        reverted=True,
        new_links=7,
        position=_position(5),
        hops=(Hop(url="https://a.example/1", status=301, position=_position(1)), Hop(url="x", status=None)),
    )
    await store.commit(Batch(entries=(Entry(page=page, visit=visit),)))
    (found,) = await store.visits(page.id)
    assert found.id is not None
    assert replace(found, id=None) == visit
    assert await _all(store.positions()) == [(_position(1), None), (_position(5), "sha1:A")]


async def a_commit_repeated_changes_nothing(store: Store) -> None:
    await store.add_pages([_new("1"), _new("2")], NOW)
    one, two = await store.claim(NOW, 2, NOW + 60, "me")
    batch = Batch(
        entries=(_entry(two, counts=True), _entry(one), _entry(one, at=NOW + 1)),
        discovered=(_new("3"), _new("3")),
    )
    await store.commit(batch)
    before = await store.census(NOW), await store.host_days(), await store.visits(one.id)
    await store.commit(batch)
    assert (await store.census(NOW), await store.host_days(), await store.visits(one.id)) == before
    assert before[0].visits == 3


async def a_commit_ends_the_lease(store: Store) -> None:
    await store.add_pages([_new("1")], NOW)
    (page,) = await store.claim(NOW, 1, NOW + 60, "me")
    await store.commit(Batch(entries=(_entry(page, next_at=NOW + 5),)))
    assert await store.next_due() == NOW + 5
    assert (await store.census(NOW)).in_flight == 0
    await store.commit(Batch(entries=(_entry(page, at=NOW + 6, next_at=None),)))
    assert await store.next_due() is None
    await store.commit(Batch())


async def a_commit_keeps_what_the_user_changed_meanwhile(store: Store) -> None:
    await store.add_pages([_new("1"), _new("2")], NOW)
    one, two = await store.claim(NOW, 2, NOW + 60, "me")
    await store.pause([one.url])
    await store.add_pages([_new("2", tags=("new",), weight=9.0)], NOW)
    await store.commit(Batch(entries=(_entry(one), _entry(two))))
    assert (await _page(store, "1")).state == PageState.PAUSED
    assert ((await _page(store, "2")).tags, (await _page(store, "2")).weight) == (("new",), 9.0)
    assert [page.id for page in await store.claim(NOW + 1000, 9, NOW + 2000, "me")] == [two.id]


async def a_broken_batch_leaves_nothing(store: Store) -> None:
    await store.add_pages([_new("1")], NOW)
    (page,) = await store.claim(NOW, 1, NOW + 60, "me")
    before = await store.census(NOW)
    broken = RobotsState(origin="https://a.example", at=None, status=200)  # type: ignore[arg-type]
    try:
        await store.commit(Batch(entries=(_entry(page),), discovered=(_new("2"),), robots=(broken,)))
    except StoreError:
        pass
    else:
        raise AssertionError("a batch that cannot be written must say so")
    assert await store.census(NOW) == before
    assert await store.page(page.url) == page
    assert await store.visits(page.id) == []


async def the_first_original_stays(store: Store) -> None:
    first = Original(payload="sha1:A", record_id="<1>", at=NOW, url="u", file="f", offset=1 << 40)
    later = replace(first, record_id="<2>")
    await store.commit(Batch(originals=(first, later)))
    await store.commit(Batch(originals=(later,)))
    assert await store.originals(["sha1:A", "sha1:B", "sha1:A"]) == {"sha1:A": first}
    assert await store.originals([]) == {}


async def discovered_pages_are_due_and_known_ones_left_alone(store: Store) -> None:
    await store.add_pages([_new("1", weight=3.0)], NOW - 5)
    await store.pause(["https://a.example/1"])
    image = _new("i.png", role=PageRole.REQUISITE, site_id=1, tags=("t",))
    later = _new("later", next_at=NOW + 5, requisites=True)
    await store.commit(Batch(discovered=(_new("1"), _new("2"), image, later)))
    known = await _page(store, "1")
    assert (known.state, known.weight, known.next_at) == (PageState.PAUSED, 3.0, NOW - 5)
    assert {page.url[-1] for page in await store.claim(NOW, 9, NOW + 60, "me")} == {"2", "g"}
    assert [page.requisites for page in await store.claim(NOW + 5, 9, NOW + 60, "me")] == [True]
    found = await _page(store, "i.png")
    assert (found.role, found.site_id, found.tags, found.added_at) == (PageRole.REQUISITE, 1, ("t",), NOW)


async def waking_moves_visits_forward_only(store: Store) -> None:
    await store.add_pages([_new("1"), _new("2"), _new("3"), _new("4")], NOW)
    pages = await store.claim(NOW, 4, NOW + 60, "me")
    times = (None, NOW + 100, NOW + 10, NOW + 10)
    entries = tuple(_entry(page, next_at=at) for page, at in zip(pages, times, strict=True))
    await store.commit(Batch(entries=entries))
    await store.pause([pages[3].url])
    calls = tuple((page.url, NOW + 50) for page in pages)
    await store.commit(Batch(wake=(*calls, (pages[0].url, NOW + 70), ("https://unknown.example/", NOW))))
    found = [(await _page(store, name)).next_at for name in "123"]
    assert found == [NOW + 50, NOW + 50, NOW + 10]
    assert len(await store.claim(NOW + 60, 9, NOW + 90, "me")) == 3


async def waking_does_not_break_a_lease(store: Store) -> None:
    await store.add_pages([_new("1")], NOW)
    (page,) = await store.claim(NOW, 1, NOW + 60, "me")
    await store.commit(Batch(wake=((page.url, NOW - 5),)))
    await store.add_pages([_new("1")], NOW)
    assert await store.claim(NOW + 1, 1, NOW + 90, "other") == []


async def politeness_survives(store: Store) -> None:
    host = HostState(host="a.example", next_at=NOW + 1 / 3, backoff_until=NOW, backoff_count=2, last_duration_s=0.1)
    address = AddressState(address="2001:db8::1", next_at=NOW)
    robots = RobotsState(origin="https://a.example", at=NOW, status=200, body=b"\x00\xff")
    await store.add_pages([_new("1")], NOW)
    assert await store.politeness() == ([], [], [])
    await store.commit(Batch(hosts=(host,), addresses=(address,), robots=(robots,)))
    assert await store.politeness() == ([host], [address], [robots])
    later = replace(host, next_at=NOW + 9)
    gone = replace(robots, status=404, body=b"")
    await store.commit(Batch(hosts=(host, later), addresses=(address,), robots=(gone,)))
    assert await store.politeness() == ([later], [address], [gone])


# ── looking ─────────────────────────────────────────────────────────────────────────────────────────────────


async def a_wish_is_kept_with_its_page(store: Store) -> None:
    wish = Looking(handler="rdf", layer="data", ignore=("css:é",), ignore_text=("[0-9]+",), min_size=0.1, entries=True)
    await store.add_pages([_new("1", looking=wish), _new("2")], NOW)
    assert ((await _page(store, "1")).looking, (await _page(store, "2")).looking) == (wish, None)
    await store.add_pages([_new("1"), _new("2", looking=wish)], NOW + 5)
    assert ((await _page(store, "1")).looking, (await _page(store, "2")).looking) == (wish, wish)
    await store.set_looking((await _page(store, "1")).id, None)
    assert ((await _page(store, "1")).looking, (await _page(store, "2")).looking) == (None, wish)
    (found, _) = await store.claim(NOW + 5, 2, NOW + 60, "me")
    await store.set_looking(found.id, Looking(layer="raw"))
    await store.commit(Batch(entries=(_entry(found),)))
    assert (await _page(store, "1")).looking == Looking(layer="raw"), "a visit in flight must not undo a wish"


async def wishes_of_tags_are_kept_apart(store: Store) -> None:
    await store.add_pages([_new("1", tags=("b",))], NOW)
    await store.set_tag_looking("b", Looking(layer="raw"))
    await store.set_tag_looking("a", Looking(layer="text"))
    await store.set_tag_looking("b", Looking(layer="links"))
    assert await store.tag_lookings() == {"a": Looking(layer="text"), "b": Looking(layer="links")}
    assert (await _page(store, "1")).looking is None
    await store.set_tag_looking("a", None)
    await store.set_tag_looking("unknown", None)
    assert await store.tag_lookings() == {"b": Looking(layer="links")}


async def another_wish_asks_in_full(store: Store) -> None:
    await store.add_pages([_new(name, tags=("t",) if name == "2" else ()) for name in "1234"], NOW)
    mark = Fingerprint(raw="00", size=1, selected="11")
    pages = await store.claim(NOW, 4, NOW + 60, "me")
    held = [replace(page, etag="e", last_modified="m", payload="sha1:A", fingerprint=mark) for page in pages]
    await store.commit(Batch(entries=tuple(_entry(page) for page in held)))
    await store.set_looking(pages[0].id, Looking(layer="raw"))
    await store.set_tag_looking("t", Looking(layer="raw"))
    await store.add_pages([_new("3", looking=Looking(layer="raw")), _new("4")], NOW)
    for name in "123":
        page = await _page(store, name)
        assert (page.etag, page.last_modified, page.fingerprint) == (None, None, replace(mark, selected=None)), name
    page = await _page(store, "4")
    assert (page.etag, page.last_modified, page.fingerprint) == ("e", "m", mark)


async def a_wish_changed_during_a_visit_holds(store: Store) -> None:
    await store.add_pages([_new(name, tags=("t",)) for name in "123"], NOW)
    pages = await store.claim(NOW, 3, NOW + 60, "me")
    await store.set_looking(pages[0].id, Looking(ignore=("css:b",)))
    await store.add_pages([_new("2", looking=Looking(ignore=("css:b",)))], NOW)
    mark = Fingerprint(raw="00", size=1, selected="by the old rules")
    held = [replace(page, etag="e", last_modified="m", payload="sha1:A", fingerprint=mark) for page in pages]
    await store.commit(Batch(entries=tuple(_entry(page) for page in held)))
    for name in "12":
        page = await _page(store, name)
        assert (page.etag, page.last_modified, page.fingerprint) == (None, None, replace(mark, selected=None)), name
    page = await _page(store, "3")
    assert (page.etag, page.last_modified, page.fingerprint) == ("e", "m", mark)


async def places_that_count_are_the_users(store: Store) -> None:
    await store.add_pages([_new("1")], NOW)
    (page,) = await store.claim(NOW, 1, NOW + 60, "me")
    await store.set_counted(page.id, [5, 1 << 62, 5])
    await store.commit(Batch(entries=(_entry(replace(page, memory=b"learned")),)))
    page = await _page(store, "1")
    assert (page.counted, page.memory) == ((5, 1 << 62), b"learned"), "a visit in flight must not undo it"
    await store.set_counted(page.id, [])
    assert (await _page(store, "1")).counted == ()


# ── signals ─────────────────────────────────────────────────────────────────────────────────────────────────

_LIST = "https://a.example/list"


def _announced(*signals: tuple[str, float | None, float | None], at: float = NOW, **fields: object) -> Batch:
    said = tuple((f"https://a.example/{name}", given, until) for name, given, until in signals)
    one = {"source": _LIST, "kind": "sitemap-lastmod", "seen_at": at, "said": said, **fields}
    return Batch(announced=(Announced(**one),))  # type: ignore[arg-type]


async def _seen(store: Store, *names: str, at: float, next_at: float | None = None) -> None:
    pages = [await _page(store, name) for name in names]
    seen = [replace(page, last_seen_at=at, last_visit_at=at) for page in pages]
    await store.commit(Batch(entries=tuple(_entry(page, at=at, next_at=next_at) for page in seen)))


async def _news(store: Store, *names: str) -> list[int]:
    ids = [(await _page(store, name)).id for name in names]
    said = {one.page_id: one.news for one in await store.announcements(ids)}
    return [said.get(one, -1) for one in ids]


async def what_nobody_watches_is_kept_a_while(store: Store) -> None:
    def heard(*others: tuple[str, float | None], at: float) -> Batch:
        return _announced(at=at, others=tuple((f"https://a.example/{name}", given) for name, given in others))

    await store.commit(heard(("1", NOW - 9), ("2", NOW - 9), ("3", None), ("\0", NOW), at=NOW))
    await store.commit(heard(("1", NOW - 5), ("2", NOW - 99), ("3", None), at=NOW + 1))
    await store.add_pages([_new("1"), _new("2"), _new("3"), _new("4")], NOW + 2)
    listed = await store.listed_by(_LIST)
    assert {url[-1]: one.at for url, one in listed.items()} == {"1": NOW - 5, "2": NOW - 9, "3": None}
    assert await _news(store, "1", "2", "3", "4") == [0, 0, 0, -1], "of a page never seen nothing is news"
    many = [(f"old{number}", NOW - 1000 - number) for number in range(2100)]
    await store.commit(heard(*many, ("new", NOW + 3), at=NOW + 3))
    await store.commit(heard(("newer", NOW + 4), at=NOW + 4))
    await store.add_pages([_new(name) for name in ("new", "newer", "old5", "old1996", "old2099")], NOW + 5)
    found = {url.rpartition("/")[2] for url in await store.listed_by(_LIST)}
    assert found >= {"new", "newer", "old5"}, "the latest times are kept"
    assert not found & {"old2099"}, "a source is kept so many addresses of, and no more"
    await store.commit(heard(("later", None), at=NOW + 400 * 86_400.0))
    await store.add_pages([_new("old7"), _new("later")], NOW + 6)
    found = {url.rpartition("/")[2] for url in await store.listed_by(_LIST)}
    assert "later" in found
    assert "old7" not in found, "words of more than half a year ago are forgotten"


async def a_signal_is_kept_once(store: Store) -> None:
    await store.add_pages([_new("1"), _new("2"), _new("3")], NOW)
    await _seen(store, "1", "2", at=NOW)
    first = _announced(("1", NOW + 5, NOW + 5), ("2", NOW - 5, NOW - 5), ("3", None, None), ("4", NOW, NOW), at=NOW + 9)
    for _ in range(2):
        await store.commit(first)
        assert await _news(store, "1", "2", "3") == [1, 0, 0], "what is older than the last sight is no news"
    listed = await store.listed_by(_LIST)
    assert {url[-1]: one.at for url, one in listed.items()} == {"1": NOW + 5, "2": NOW - 5, "3": None}
    one = listed["https://a.example/1"]
    assert (one.added_at, one.last_seen_at, one.last_change_at) == (NOW, NOW, None)
    await store.commit(_announced(("1", NOW + 4, NOW + 4), ("2", NOW + 7, NOW + 7), ("3", None, None), at=NOW + 10))
    assert await _news(store, "1", "2", "3") == [1, 1, 0], "only a later time is a new signal"
    gone = ("https://a.example/2", "https://a.example/unknown")
    await store.commit(_announced(("1", NOW + 11, NOW + 11), at=NOW + 12, dropped=gone, flood=True))
    assert await _news(store, "1", "2", "3") == [2, -1, 0]
    (source,) = await store.sources()
    assert (source.url, source.reads, source.floods, source.read_at) == (_LIST, 3, 1, NOW + 12)
    assert await store.sources([_LIST]) == [source]
    assert await store.sources(["https://a.example/other"]) == []


async def a_signal_calls_its_page(store: Store) -> None:
    names = ("1", "2", "3", "4", "5")
    await store.add_pages([_new(name, **_FAR.get(name, {})) for name in names], NOW)
    await _seen(store, "1", "2", "3", "4", at=NOW, next_at=NOW + 1000)
    await store.pause(["https://a.example/3"])
    call = tuple(f"https://a.example/{name}" for name in names)
    signals = [(name, NOW + 5, NOW - 1 if name == "2" else NOW + 5) for name in names]
    await store.commit(_announced(*signals, at=NOW + 9, call=call, rest_s=60.0, reason="because of the list"))
    page = await _page(store, "1")
    assert (page.next_at, page.reason) == (NOW + 60, "because of the list")
    for name in ("2", "3", "5"):
        page = await _page(store, name)
        assert page.next_at != NOW + 60, name
        assert page.reason != "because of the list", name
    assert [page.url[-1] for page in await store.claim(NOW + 60, 9, NOW + 99, "me")] == ["1", "4"]
    await store.commit(_announced(("1", NOW + 50, NOW + 50), at=NOW + 70, call=call[:1], rest_s=5.0, reason="again"))
    assert await store.claim(NOW + 80, 9, NOW + 99, "other") == [], "a page that is being visited is not called"


_FAR: dict[str, dict[str, object]] = {"5": {"next_at": NOW + 1000}}


async def a_source_is_judged_by_visits(store: Store) -> None:
    await store.add_pages([_new("1"), _new("2")], NOW)
    await _seen(store, "1", "2", at=NOW)
    await store.commit(_announced(("1", NOW + 5, NOW + 5), ("2", NOW + 5, NOW + 5), at=NOW + 9))
    (source,) = await store.sources()
    one, two = await _page(store, "1"), await _page(store, "2")
    checked = Checked(
        source_id=source.id, keep=0.5, right=1, wrong=2, announced=3, silent=4, delay_s=5, delays=6,
        settled=((one.id, NOW + 9), (two.id, NOW + 8)),
    )  # fmt: skip
    for at in (NOW + 20, NOW + 20, NOW + 30):
        await store.commit(Batch(entries=(_entry(one, at=at),), checked=(checked,)))
    (source,) = await store.sources()
    sums = (source.right, source.wrong, source.announced, source.silent, source.delay_s, source.delays)
    assert sums == (1.5, 3.0, 4.5, 6.0, 7.5, 9.0), "a batch that comes twice counts once"
    assert await _news(store, "1", "2") == [0, 1], "what was said meanwhile is news still"


async def a_memory_is_bytes(store: Store) -> None:
    await store.add_pages([_new("1"), _new("2")], NOW)
    (one, two) = await store.claim(NOW, 2, NOW + 60, "me")
    await store.commit(Batch(entries=(_entry(replace(one, memory=bytes(range(256)))), _entry(two))))
    assert ((await _page(store, "1")).memory, (await _page(store, "2")).memory) == (bytes(range(256)), b"")


# ── showing ─────────────────────────────────────────────────────────────────────────────────────────────────


async def visits_can_be_narrowed(store: Store) -> None:
    await store.add_pages([_new("1"), _new("2")], NOW)
    page, other = await store.claim(NOW, 2, NOW + 60, "me")
    outcomes = (Outcome.NEW, Outcome.SAME, Outcome.CHANGED, Outcome.ERROR, Outcome.GONE, Outcome.BACK)
    entries = tuple(_entry(page, at=NOW + n, outcome=outcome) for n, outcome in enumerate(outcomes))
    await store.commit(Batch(entries=(*entries, _entry(other))))

    async def times(**narrow: object) -> list[float]:
        return [visit.at - NOW for visit in await store.visits(page.id, **narrow)]  # type: ignore[arg-type]

    assert await times() == [5, 4, 3, 2, 1, 0]
    assert await times(order="oldest", limit=2) == [0, 1]
    assert await times(since=NOW + 1, until=NOW + 3) == [3, 2, 1]
    assert await times(changes_only=True) == [5, 4, 2, 0]
    assert await store.visits(123_456) == []


async def the_census_counts(store: Store) -> None:
    image = _new("i.png", role=PageRole.REQUISITE)
    await store.add_pages([_new("1"), _new("2"), _new("3"), image], NOW)
    await store.add_pages([NewPage(url="https://b.example/", host="b.example")], NOW + 500)
    await store.add_site(Site(id=0, url="https://a.example/"), NOW)
    await store.pause(["https://a.example/3"])
    one, two = await store.claim(NOW, 2, NOW + 60, "me")
    seen = _entry(one, next_at=NOW + 43_200, counts=True)
    failed = Failure(kind=FailureKind.DNS)
    error = _entry(two, next_at=NOW + 5, outcome=Outcome.ERROR, failure=failed, bytes=0)
    seen = replace(seen, page=replace(seen.page, interval_s=43_200.0))
    await store.commit(Batch(entries=(seen, error)))
    found = await store.census(NOW + 1)
    assert (found.pages, found.paused, found.requisites, found.sites, found.hosts) == (3, 1, 1, 1, 2)
    assert (found.visits, found.changes, found.errors, found.bytes) == (2, 1, 1, 10)
    assert (found.due, found.in_flight, found.next_at, found.expected_per_day) == (1, 0, NOW, 2.0)
    await store.claim(NOW + 1, 1, NOW + 60, "me")
    found = await store.census(NOW + 1)
    assert (found.due, found.in_flight, found.next_at) == (0, 1, NOW + 5)
    await store.pause([one.url])
    assert (await store.census(NOW + 1)).expected_per_day == 0.0
    await store.add_pages([_new("1"), _new("3")], NOW)
    found = await store.census(NOW + 1)
    assert (found.pages, found.paused, found.expected_per_day) == (4, 0, 2.0)


async def hosts_are_counted_by_day(store: Store) -> None:
    other = NewPage(url="https://b.example/", host="b.example")
    await store.add_pages([_new("1"), other], NOW)
    page, far = await store.claim(NOW, 2, NOW + 60, "me")
    failed = Failure(kind=FailureKind.RESET)
    await store.commit(Batch(entries=(_entry(page, counts=True, duration_s=0.5), _entry(far))))
    await store.commit(Batch(entries=(_entry(page, at=NOW + 1, failure=failed, duration_s=0.25),)))
    await store.commit(Batch(entries=(_entry(page, at=NOW + 86_400),)))
    rows = [(d.host, d.day - DAY, d.visits, d.changes, d.errors, d.bytes) for d in await store.host_days()]
    assert rows == [("a.example", 0, 2, 1, 1, 20), ("b.example", 0, 1, 0, 0, 10), ("a.example", 1, 1, 0, 0, 10)]
    assert (await store.host_days(host="a.example"))[0].duration_s == 0.75
    assert [d.day for d in await store.host_days(since_day=DAY + 1)] == [DAY + 1]


async def what_the_web_sends_can_be_stored(store: Store) -> None:
    """U+0000 and halves of surrogate pairs do not stop a commit; a tag with one is refused."""
    await store.add_pages([_new("1")], NOW)
    (page,) = await store.claim(NOW, 1, NOW + 60, "me")
    bad = "a\x00b\ud800c"
    seen = replace(page, reason=bad, etag=bad, fingerprint=Fingerprint(raw="", size=0, title=bad))
    failure = Failure(kind=FailureKind.MALFORMED, detail=bad)
    visit = _visit(page, failure=failure, headers={bad: bad}, hops=(Hop(url=bad, status=1),))
    found = (_new(bad), _new("2"))
    await store.commit(Batch(entries=(Entry(page=seen, visit=visit),), discovered=found))
    assert (await _page(store, "1")).etag == "a\ufffdb\ufffdc"
    assert len(await store.visits(page.id)) == 1
    assert len(await _all(store.pages())) == 2
    try:
        await store.add_pages([_new("3", tags=(bad,))], NOW)
    except UsageError:
        pass
    else:
        raise AssertionError("a tag that cannot be stored must be refused")


async def chosen_pages_are_leased_and_no_others(store: Store) -> None:
    """The allocator gets exactly the pages that it chose, in its order, unless another owner holds them."""
    await store.add_pages([_new("1"), _new("2", next_at=NOW + 99), _new("3"), _new("4", next_at=NOW + 99)], NOW)
    ids = {page.url[-1]: page.id for page in await _all(store.pages())}
    await store.pause([(await _page(store, "4")).url])
    assert [due.id for due in await store.due_pages(NOW, 10)] == [ids["1"], ids["3"]]
    claimed = await store.claim_pages([ids["4"], ids["3"], ids["2"]], NOW, NOW + 60, "me")
    assert [page.id for page in claimed] == [ids["3"], ids["2"]]
    assert await store.claim_pages([ids["2"]], NOW, NOW + 60, "you") == []
    assert [page.id for page in await store.claim_pages([ids["2"]], NOW + 61, NOW + 99, "you")] == [ids["2"]]
    assert [page.id for page in await store.claim(NOW, 10, NOW + 60, "you")] == [ids["1"]]


async def pages_are_outlined_for_the_allocator(store: Store) -> None:
    """Watched pages come by id, requisites and paused ones apart, with the policy's row and the log's answers."""
    await store.add_pages([_new("1", tags=("a", "b"), weight=2.5), _new("2"), _new("3", role=PageRole.REQUISITE)], NOW)
    assert await store.largest_id() == 3
    first, second = await store.outlines(0, 10)
    assert (first.tags, first.weight, first.last_seen_at) == (("a", "b"), 2.5, None)
    assert [one.id for one in await store.outlines(first.id, 10)] == [second.id]
    assert [one.id for one in await store.outlines_of([3, second.id])] == [second.id]
    page = await _page(store, "1")
    seen = replace(page, policy="value", policy_state=b"state", last_seen_at=NOW, next_at=NOW + 5)
    entries = (Entry(page=seen, visit=_visit(page, counts=True)),)
    await store.commit(Batch(entries=entries))
    assert (await store.outlines(0, 1))[0].policy_state == b"state"
    assert await store.logged([page.id, second.id]) == [(page.id, entries[0].visit.at, True)]
    assert await store.announcements_after(0, 10) == []


async def budgets_and_wishes_are_kept(store: Store) -> None:
    """How budgets stand, what sites do, boosts and limits come back as they were, the later in place of the earlier."""
    await store.save_paces([PaceState(name="all", price=0.5, credit=-2.25, at=NOW)])
    await store.save_paces([PaceState(name="all", price=0.25, credit=7.0, at=NOW + 1)])
    assert await store.paces() == [PaceState(name="all", price=0.25, credit=7.0, at=NOW + 1)]
    await store.save_site_states([("a.test", b"1"), ("b.test", b"2")])
    await store.save_site_states([("a.test", b"3")])
    assert await store.site_states() == {"a.test": b"3", "b.test": b"2"}
    assert await store.site_states(["b.test", "c.test"]) == {"b.test": b"2"}
    boost = Boost(tag="news", factor=3.0, since=NOW, until=NOW + 60)
    await store.set_boost(replace(boost, factor=2.0))
    await store.set_boost(boost)
    assert await store.boosts() == [boost]
    assert (await store.end_boost("news"), await store.end_boost("news"), await store.boosts()) == (1, 0, [])
    await store.set_limit(Limit(kind="tag", name="news", min_s=60.0))
    await store.set_limit(Limit(kind="tag", name="news", max_s=90.0))
    assert await store.limits() == [Limit(kind="tag", name="news", max_s=90.0)]
    await store.set_limit(Limit(kind="tag", name="news"))
    assert await store.limits() == []


async def _traded(
    store: Store, owner: str, take: float | None, now: float = NOW, until: float = NOW + 60
) -> tuple[float | None, float]:
    """Take so much of the budget `all` (None: only give back); (how it stood, what the owner had left)."""
    seen: list[tuple[float | None, float]] = []

    def deal(stands: Mapping[str, PaceState], own: Mapping[str, float]) -> list[tuple[PaceState, float]]:
        state, had = stands.get("all"), own.get("all", 0.0)
        seen.append((None if state is None else state.credit, had))
        if take is None:
            return []
        credit = 10.0 if state is None else state.credit
        return [(PaceState(name="all", price=0.5, credit=credit + had - take, at=now), take)]

    await store.trade(owner, now, until, deal)
    return seen[-1]


async def portions_are_taken_paid_from_and_given_back(store: Store) -> None:
    """What one takes of a budget the other does not see, what a visit cost is gone, and the rest comes back."""
    await store.add_pages([_new("1"), _new("2")], NOW)
    one, two = await store.claim(NOW, 2, NOW + 60, "me")
    assert await _traded(store, "me", 3.0) == (None, 0.0)
    assert await _traded(store, "you", 2.0) == (7.0, 0.0)
    paid = Batch(entries=(_entry(one),), payer="me", paid=(("all", 2.0),))
    await store.commit(paid)
    await store.commit(paid)  # a lost answer asked for again
    assert [pace.credit for pace in await store.paces()] == [5.0]
    assert await _traded(store, "me", None) == (5.0, 1.0)
    assert await _traded(store, "me", None) == (6.0, 0.0)
    await store.commit(Batch(entries=(_entry(two),), payer="me", paid=(("all", 1.5), ("unknown", 1.0))))
    assert [pace.credit for pace in await store.paces()] == [4.5]


async def portions_of_the_dead_come_back(store: Store) -> None:
    """A portion that nobody spent in its time is there for all again; that of an owner who is back, at once."""
    await _traded(store, "dead", 4.0, until=NOW + 60)
    assert await _traded(store, "me", None, now=NOW + 59) == (6.0, 0.0)
    assert await _traded(store, "me", 1.0, now=NOW + 60, until=NOW + 600) == (10.0, 0.0)
    assert [pace.credit for pace in await store.paces()] == [9.0]
    assert await _traded(store, "dead", 2.0, now=NOW + 61) == (9.0, 0.0)
    assert await _traded(store, "dead", None, now=NOW + 62) == (7.0, 2.0)
    assert [pace.credit for pace in await store.paces()] == [9.0]


STORE_CHECKS: tuple[Check, ...] = (
    portions_are_taken_paid_from_and_given_back,
    portions_of_the_dead_come_back,
    chosen_pages_are_leased_and_no_others,
    pages_are_outlined_for_the_allocator,
    budgets_and_wishes_are_kept,
    adding_twice_is_harmless,
    adding_again_updates_and_wakes,
    pausing_is_counted_and_kept,
    sites_are_kept_by_url,
    pages_are_found_by_tag_state_and_host,
    long_listings_are_whole,
    listing_by_next_visit_is_in_order,
    most_overdue_pages_come_first,
    a_lease_holds_until_it_ends,
    two_owners_never_share_a_page,
    known_urls_are_told_from_new_ones,
    a_released_page_is_due_again,
    a_dead_owner_gets_its_leases_back,
    upcoming_visits_are_listed_and_moved,
    download_times_are_those_of_the_log,
    next_due_is_none_when_nothing_will_be,
    a_page_comes_back_as_it_was_committed,
    a_visit_comes_back_as_it_was_committed,
    a_commit_repeated_changes_nothing,
    a_commit_ends_the_lease,
    a_commit_keeps_what_the_user_changed_meanwhile,
    a_broken_batch_leaves_nothing,
    the_first_original_stays,
    discovered_pages_are_due_and_known_ones_left_alone,
    waking_moves_visits_forward_only,
    waking_does_not_break_a_lease,
    politeness_survives,
    a_wish_is_kept_with_its_page,
    wishes_of_tags_are_kept_apart,
    another_wish_asks_in_full,
    a_memory_is_bytes,
    a_wish_changed_during_a_visit_holds,
    places_that_count_are_the_users,
    a_signal_is_kept_once,
    what_nobody_watches_is_kept_a_while,
    a_signal_calls_its_page,
    a_source_is_judged_by_visits,
    visits_can_be_narrowed,
    the_census_counts,
    hosts_are_counted_by_day,
    what_the_web_sends_can_be_stored,
)
