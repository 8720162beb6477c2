"""Contract of `VisitLog`: a batch is committed as a whole or not at all."""

from __future__ import annotations

from msgspec.structs import replace

from webstrata.errors import StoreError
from webstrata.ports import Store
from webstrata.records import (
    AddressState,
    Batch,
    ChangeKind,
    Failure,
    FailureKind,
    Fingerprint,
    FinishedVisit,
    Hop,
    HostState,
    Original,
    Outcome,
    Page,
    PageRole,
    PageState,
    RobotsState,
    VisitFilter,
)
from webstrata.testing.store.examples import NOW, all_of, entry_of, new, page_of, position, visit_of


async def a_committed_page_is_read_back(store: Store) -> None:
    await store.pages.add([new("1", tags=("t",), weight=0.1, depth=3)], NOW)
    (page,) = await store.queue.claim(NOW, 1, NOW + 60, "me")
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
    await store.visit_log.commit(Batch(entries=(FinishedVisit(page=seen, visit=visit_of(page)),)))
    assert await store.pages.get(page.url) == seen
    assert await store.queue.claim(seen.next_at or 0.0, 1, NOW + 60, "other") == [seen]


async def a_committed_visit_is_read_back(store: Store) -> None:
    await store.pages.add([new("1")], NOW)
    page = await page_of(store, "1")
    visit = visit_of(
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
        learned=('from now on "1 visit" does not count', "é\x00"),
        position=position(5),
        hops=(Hop(url="https://a.example/1", status=301, position=position(1)), Hop(url="x", status=None)),
    )
    await store.visit_log.commit(Batch(entries=(FinishedVisit(page=page, visit=visit),)))
    (found,) = await store.visit_log.of_page(page.id)
    assert found.id is not None
    assert replace(found, id=None) == visit
    assert await all_of(store.visit_log.positions()) == [(position(1), None), (position(5), "sha1:A")]


async def a_repeated_commit_changes_nothing(store: Store) -> None:
    await store.pages.add([new("1"), new("2")], NOW)
    one, two = await store.queue.claim(NOW, 2, NOW + 60, "me")
    batch = Batch(
        entries=(entry_of(two, counts=True), entry_of(one), entry_of(one, at=NOW + 1)),
        discovered=(new("3"), new("3")),
    )
    stored = []
    for _ in range(2):
        await store.visit_log.commit(batch)
        days, visits = await store.maintenance.host_days(), await store.visit_log.of_page(one.id)
        stored.append((await store.maintenance.totals(NOW), days, visits))
    assert stored[0] == stored[1]
    assert stored[0][0].visits == 3


async def a_commit_ends_the_lease(store: Store) -> None:
    await store.pages.add([new("1")], NOW)
    (page,) = await store.queue.claim(NOW, 1, NOW + 60, "me")
    await store.visit_log.commit(Batch(entries=(entry_of(page, next_at=NOW + 5),)))
    assert await store.queue.next_due() == NOW + 5
    assert (await store.maintenance.totals(NOW)).in_flight == 0
    await store.visit_log.commit(Batch(entries=(entry_of(page, at=NOW + 6, next_at=None),)))
    assert await store.queue.next_due() is None
    await store.visit_log.commit(Batch())


async def a_commit_keeps_what_the_user_changed_meanwhile(store: Store) -> None:
    await store.pages.add([new("1"), new("2")], NOW)
    one, two = await store.queue.claim(NOW, 2, NOW + 60, "me")
    await store.pages.pause([one.url])
    await store.pages.add([new("2", tags=("new",), weight=9.0)], NOW)
    await store.visit_log.commit(Batch(entries=(entry_of(one), entry_of(two))))
    assert (await page_of(store, "1")).state == PageState.PAUSED
    assert ((await page_of(store, "2")).tags, (await page_of(store, "2")).weight) == (("new",), 9.0)
    assert [page.id for page in await store.queue.claim(NOW + 1000, 9, NOW + 2000, "me")] == [two.id]


async def a_failed_commit_writes_nothing(store: Store) -> None:
    await store.pages.add([new("1")], NOW)
    (page,) = await store.queue.claim(NOW, 1, NOW + 60, "me")
    before = await store.maintenance.totals(NOW)
    broken = RobotsState(origin="https://a.example", at=None, status=200)  # type: ignore[arg-type]
    try:
        await store.visit_log.commit(Batch(entries=(entry_of(page),), discovered=(new("2"),), robots=(broken,)))
    except StoreError:
        pass
    else:
        raise AssertionError("a batch that cannot be written must say so")
    assert await store.maintenance.totals(NOW) == before
    assert await store.pages.get(page.url) == page
    assert await store.visit_log.of_page(page.id) == []


async def the_first_original_is_kept(store: Store) -> None:
    first = Original(payload="sha1:A", record_id="<1>", at=NOW, url="u", file="f", offset=1 << 40)
    later = replace(first, record_id="<2>")
    await store.visit_log.commit(Batch(originals=(first, later)))
    await store.visit_log.commit(Batch(originals=(later,)))
    assert await store.visit_log.originals(["sha1:A", "sha1:B", "sha1:A"]) == {"sha1:A": first}
    assert await store.visit_log.originals([]) == {}


async def discovered_pages_are_due_and_known_pages_unchanged(store: Store) -> None:
    await store.pages.add([new("1", weight=3.0)], NOW - 5)
    await store.pages.pause(["https://a.example/1"])
    image = new("i.png", role=PageRole.REQUISITE, site_id=1, tags=("t",))
    later = new("later", next_at=NOW + 5, requisites=True)
    await store.visit_log.commit(Batch(discovered=(new("1"), new("2"), image, later)))
    known = await page_of(store, "1")
    assert (known.state, known.weight, known.next_at) == (PageState.PAUSED, 3.0, NOW - 5)
    assert {page.url[-1] for page in await store.queue.claim(NOW, 9, NOW + 60, "me")} == {"2", "g"}
    assert [page.requisites for page in await store.queue.claim(NOW + 5, 9, NOW + 60, "me")] == [True]
    found = await page_of(store, "i.png")
    assert (found.role, found.site_id, found.tags, found.added_at) == (PageRole.REQUISITE, 1, ("t",), NOW)


async def waking_moves_visits_forward_only(store: Store) -> None:
    await store.pages.add([new("1"), new("2"), new("3"), new("4")], NOW)
    pages = await store.queue.claim(NOW, 4, NOW + 60, "me")
    times = (None, NOW + 100, NOW + 10, NOW + 10)
    entries = tuple(entry_of(page, next_at=at) for page, at in zip(pages, times, strict=True))
    await store.visit_log.commit(Batch(entries=entries))
    await store.pages.pause([pages[3].url])
    calls = tuple((page.url, NOW + 50) for page in pages)
    await store.visit_log.commit(Batch(wake=(*calls, (pages[0].url, NOW + 70), ("https://unknown.example/", NOW))))
    found = [(await page_of(store, name)).next_at for name in "123"]
    assert found == [NOW + 50, NOW + 50, NOW + 10]
    assert len(await store.queue.claim(NOW + 60, 9, NOW + 90, "me")) == 3


async def waking_does_not_break_a_lease(store: Store) -> None:
    await store.pages.add([new("1")], NOW)
    (page,) = await store.queue.claim(NOW, 1, NOW + 60, "me")
    await store.visit_log.commit(Batch(wake=((page.url, NOW - 5),)))
    await store.pages.add([new("1")], NOW)
    assert await store.queue.claim(NOW + 1, 1, NOW + 90, "other") == []


async def politeness_state_is_stored(store: Store) -> None:
    host = HostState(host="a.example", next_at=NOW + 1 / 3, backoff_until=NOW, backoff_count=2, last_duration_s=0.1)
    address = AddressState(address="2001:db8::1", next_at=NOW)
    robots = RobotsState(origin="https://a.example", at=NOW, status=200, body=b"\x00\xff")
    await store.pages.add([new("1")], NOW)
    assert await store.queue.politeness() == ([], [], [])
    await store.visit_log.commit(Batch(hosts=(host,), addresses=(address,), robots=(robots,)))
    assert await store.queue.politeness() == ([host], [address], [robots])
    later = replace(host, next_at=NOW + 9)
    gone = replace(robots, status=404, body=b"")
    await store.visit_log.commit(Batch(hosts=(host, later), addresses=(address,), robots=(gone,)))
    assert await store.queue.politeness() == ([later], [address], [gone])


async def page_memory_is_bytes(store: Store) -> None:
    await store.pages.add([new("1"), new("2")], NOW)
    (one, two) = await store.queue.claim(NOW, 2, NOW + 60, "me")
    await store.visit_log.commit(Batch(entries=(entry_of(replace(one, memory=bytes(range(256)))), entry_of(two))))
    assert ((await page_of(store, "1")).memory, (await page_of(store, "2")).memory) == (bytes(range(256)), b"")


async def visits_of_all_pages_are_listed_by_time(store: Store) -> None:
    await store.pages.add([new("1", tags=("t",)), new("2"), new("3", role=PageRole.REQUISITE)], NOW)
    one, two, image = [await page_of(store, name) for name in "123"]
    entries = [entry_of(page, at=NOW + 10 * number) for number in range(1_200) for page in (two, one)]
    entries += [entry_of(image, at=NOW + 5)]
    await store.visit_log.commit(Batch(entries=tuple(entries)))
    found = await all_of(store.visit_log.listed(VisitFilter()))
    places = [(row.visit.at, row.visit.page_id) for row in found]
    assert places == sorted(places, reverse=True)
    assert len(set(places)) == 2_400
    assert await all_of(store.visit_log.listed(VisitFilter(), "oldest")) == found[::-1]
    assert await all_of(store.visit_log.listed(VisitFilter(), limit=1_500)) == found[:1_500]
    assert (found[0].url, found[0].host, found[0].seen_before_at) == (two.url, "a.example", None)
    assert await store.visit_log.count_listed(VisitFilter()) == (2_400, 2)
    assert await store.visit_log.count_listed(VisitFilter(requisites=True)) == (2_401, 3)
    roles = {row.visit.page_id: row.role async for row in store.visit_log.listed(VisitFilter(requisites=True))}
    assert roles == {one.id: PageRole.PAGE, two.id: PageRole.PAGE, image.id: PageRole.REQUISITE}
    tagged = await all_of(store.visit_log.listed(VisitFilter(tag="t", since=NOW + 10, until=NOW + 30)))
    assert [(row.visit.at, row.tags) for row in tagged] == [(NOW + 10 * n, ("t",)) for n in (3, 2, 1)]
    assert await all_of(store.visit_log.listed(VisitFilter(host="b.example"))) == []


async def changes_of_all_pages_are_listed_by_time(store: Store) -> None:
    await store.pages.add([new("1"), new("2")], NOW)
    one, two = [await page_of(store, name) for name in "12"]
    failed = Failure(kind=FailureKind.TLS, detail="no")
    entries = (
        entry_of(one, at=NOW + 1, outcome=Outcome.NEW, kind=ChangeKind.NEW),
        entry_of(two, at=NOW + 2, outcome=Outcome.NEW, kind=ChangeKind.NEW),
        entry_of(one, at=NOW + 3),
        entry_of(one, at=NOW + 4, outcome=Outcome.ERROR, kind=ChangeKind.ERROR, failure=failed, status=None),
        entry_of(one, at=NOW + 5, outcome=Outcome.CHANGED, kind=ChangeKind.CONTENT, counts=True, significance=0.5),
        entry_of(two, at=NOW + 5, outcome=Outcome.GONE, kind=ChangeKind.GONE, counts=True, significance=1.0),
        entry_of(two, at=NOW + 6, raw_changed=True, kind=ChangeKind.MARKUP),
    )
    await store.visit_log.commit(Batch(entries=entries))

    async def listed(**fields: object) -> list[tuple[float, int, float | None]]:
        found = await all_of(store.visit_log.listed(replace(VisitFilter(), **fields)))
        assert (await store.visit_log.count_listed(replace(VisitFilter(), **fields)))[0] == len(found)
        return [(row.visit.at - NOW, row.visit.page_id, row.seen_before_at) for row in found]

    gone, changed = (5.0, two.id, NOW + 2), (5.0, one.id, NOW + 3)
    assert [(round(at), *rest) for at, *rest in await listed(which="changes")] == [gone, changed]
    versions = [(round(at), page) for at, page, _ in await listed(which="versions")]
    assert versions == [(5, two.id), (5, one.id), (2, two.id), (1, one.id)]
    assert [page for _, page, _ in await listed(which="changes", kind=ChangeKind.CONTENT)] == [one.id]
    assert [page for _, page, _ in await listed(which="changes", min_significance=0.6)] == [two.id]
    assert [round(at) for at, _, _ in await listed(which="errors")] == [4]
    assert [visit.at for visit in await store.visit_log.of_page(one.id, errors_only=True)] == [NOW + 4]


async def failing_pages_have_their_last_failure(store: Store) -> None:
    await store.pages.add([new("1"), new("2"), new("3")], NOW)
    one, two, three = [await page_of(store, name) for name in "123"]
    down, busy = (Failure(kind=FailureKind.DNS, detail="a"), Failure(kind=FailureKind.BACKOFF, detail="b"))

    def failed(page: Page, at: float, failure: Failure, status: int | None) -> FinishedVisit:
        return entry_of(page, at=at, outcome=Outcome.ERROR, kind=ChangeKind.ERROR, failure=failure, status=status)

    seen = replace(one, last_seen_at=NOW + 1)
    entries = (
        entry_of(seen, at=NOW + 1),
        failed(seen, NOW + 2, down, None),
        failed(seen, NOW + 3, busy, 503),
        failed(two, NOW + 1, down, None),
        entry_of(replace(two, last_seen_at=NOW + 2), at=NOW + 2),
        failed(three, NOW + 4, down, None),
    )
    await store.visit_log.commit(Batch(entries=entries))
    found = await store.visit_log.failing([one.id, two.id, three.id, 99])
    assert sorted(found) == [one.id, three.id]
    last = found[one.id]
    assert (last.at, last.since, last.status) == (NOW + 3, NOW + 2, 503)
    assert last.failure == Failure(kind=FailureKind.BACKOFF, detail="b")
    assert (found[three.id].since, found[three.id].status) == (NOW + 4, None)
    assert await store.visit_log.failing([]) == {}
