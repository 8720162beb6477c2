"""Contract of `VisitQueue`: claims, leases, next visits."""

from __future__ import annotations

import asyncio

from msgspec.structs import replace

from webstrata.ports import Store
from webstrata.records import Batch, Hop, NewPage, RoundTiming, UnparsableContent
from webstrata.testing.store.examples import NOW, entry_of, new, page_of


async def most_overdue_pages_come_first(store: Store) -> None:
    await store.pages.add([new("young")], NOW - 10)
    await store.pages.add([new("old")], NOW - 20)
    await store.pages.add([new("future")], NOW + 10)
    assert await store.queue.next_due() == NOW - 20
    claimed = await store.queue.claim(NOW, 1, NOW + 60, "me") + await store.queue.claim(NOW, 9, NOW + 60, "me")
    assert [page.url[-3:] for page in claimed] == ["old", "ung"]
    assert await store.queue.claim(NOW, 0, NOW + 60, "me") == []


async def a_lease_holds_until_it_ends(store: Store) -> None:
    await store.pages.add([new("1")], NOW)
    assert len(await store.queue.claim(NOW, 10, NOW + 60, "me")) == 1
    assert await store.queue.claim(NOW + 59, 10, NOW + 120, "other") == []
    assert len(await store.queue.claim(NOW + 60, 10, NOW + 120, "other")) == 1


async def two_owners_never_share_a_page(store: Store) -> None:
    await store.pages.add([new(str(n)) for n in range(200)], NOW)
    shares = await asyncio.gather(*(store.queue.claim(NOW, 30, NOW + 60, f"owner {n}") for n in range(8)))
    ids = [page.id for share in shares for page in share]
    assert len(ids) == len(set(ids)) == 200


async def known_urls_are_recognised(store: Store) -> None:
    await store.pages.add([new("1"), new("2")], NOW)
    await store.pages.pause(["https://a.example/2"])
    asked = [f"https://a.example/{n}" for n in range(2000)] + ["https://a.example/\0"]
    ids = {f"https://a.example/{name}": (await page_of(store, name)).id for name in ("1", "2")}
    assert await store.pages.known(asked) == ids
    assert await store.pages.known([]) == {}


async def a_released_page_is_due_again(store: Store) -> None:
    await store.pages.add([new("1"), new("2")], NOW)
    one, two = await store.queue.claim(NOW, 10, NOW + 60, "me")
    await store.queue.release([(one.id, None), (two.id, NOW + 5)])
    assert await store.queue.next_due() == NOW
    assert [page.id for page in await store.queue.claim(NOW, 10, NOW + 60, "me")] == [one.id]
    assert [page.id for page in await store.queue.claim(NOW + 5, 10, NOW + 60, "me")] == [two.id]
    await store.queue.release([])


async def leases_of_a_stopped_owner_can_be_ended(store: Store) -> None:
    await store.pages.add([new(str(n), site_id=4) for n in range(5)], NOW)
    await store.queue.claim(NOW, 3, NOW + 60, "me")
    await store.queue.claim(NOW, 1, NOW + 60, "other")
    assert await store.queue.end_leases("me") == 3
    assert len(await store.queue.claim(NOW, 9, NOW + 60, "me")) == 4
    assert await store.pages.site_sizes() == {4: 5}


async def upcoming_visits_are_listed_and_moved(store: Store) -> None:
    await store.pages.add([new("1", weight=3.0)], NOW)
    await store.pages.add([new("2"), new("held")], NOW + 5)
    await store.pages.add([new("late")], NOW + 500)
    held = next(page for page in await store.queue.claim(NOW + 5, 9, NOW + 900, "me") if page.url.endswith("held"))
    await store.queue.release([(page.id, None) for page in [await page_of(store, name) for name in "12"]])
    one, two = await store.queue.upcoming(NOW + 100, 9)
    assert [(up.url[-1], up.host, up.at, up.weight) for up in (one, two)] == [
        ("1", "a.example", NOW, 3.0),
        ("2", "a.example", NOW + 5, 1.0),
    ]
    assert [up.page_id for up in await store.queue.upcoming(NOW + 100, 1)] == [one.page_id]
    await store.queue.move([(one.page_id, NOW + 700, "room ✓"), (held.id, NOW, "not ours")])
    moved = await page_of(store, "1")
    assert (moved.next_at, moved.reason) == (NOW + 700, "room ✓")
    assert (await page_of(store, "held")).next_at == NOW + 5, "a leased page stays where it is"
    assert [page.url[-1] for page in await store.queue.claim(NOW + 600, 9, NOW + 900, "me")] == ["2", "e"]
    await store.queue.move([])


async def due_visits_are_counted_by_host(store: Store) -> None:
    other = NewPage(url="https://b.example/", host="b.example")
    await store.pages.add([new("1"), new("2"), new("held"), new("paused"), other], NOW)
    await store.pages.add([new("late")], NOW + 500)
    await store.pages.pause(["https://a.example/paused"])
    held = await page_of(store, "held")
    await store.queue.claim_pages([held.id], NOW, NOW + 50, "me")
    (host, url, number), second = await store.queue.due_by_host(NOW + 100)
    assert (host, number, second) == ("a.example", 2, ("b.example", "https://b.example/", 1))
    assert url in {"https://a.example/1", "https://a.example/2"}
    assert [number for _, _, number in await store.queue.due_by_host(NOW + 500)] == [3, 1]
    assert await store.queue.due_by_host(NOW - 1) == []


async def download_times_come_from_the_log(store: Store) -> None:
    other = NewPage(url="https://b.example/", host="b.example")
    await store.pages.add([new("1"), other], NOW)
    one, two = await store.queue.claim(NOW, 9, NOW + 60, "me")
    hop = Hop(url="x", status=301)
    for entry in (
        entry_of(one, duration_s=0.5),
        entry_of(two, duration_s=3.0, hops=(hop, hop)),
        entry_of(one, at=NOW + 1, status=None, duration_s=0.0),
    ):
        await store.visit_log.commit(Batch(entries=(entry,)))
    hosts = {one.host, two.host}
    assert hosts == {"a.example", "b.example"}
    assert await store.visit_log.download_times(9) == [(one.host, 0.0, 0), (two.host, 3.0, 3), (one.host, 0.5, 1)]
    assert await store.visit_log.download_times(1) == [(one.host, 0.0, 0)]


async def the_timings_of_the_last_rounds_are_kept(store: Store) -> None:
    assert await store.visit_log.rounds(9) == []
    timings = [RoundTiming(at=NOW + n, visits=200 + n, seconds=1.5, limited_s=0.25) for n in range(105)]
    for timing in timings:
        await store.visit_log.add_round(timing)
    assert await store.visit_log.rounds(2) == [timings[104], timings[103]]
    assert len(await store.visit_log.rounds(1_000)) == 100


async def contents_that_cannot_be_parsed_are_kept(store: Store) -> None:
    assert await store.visit_log.unparsable(9) == []
    contents = [
        UnparsableContent(
            key=f"key {n}", size=2**40, reason="too slow", at=NOW + n, raw="00", decoded_size=7, torn=True
        )
        for n in range(3)
    ]
    for content in (*contents, replace(contents[0], at=NOW + 9)):
        await store.visit_log.add_unparsable(content)
    assert await store.visit_log.unparsable(9) == [replace(contents[0], at=NOW + 9), contents[2], contents[1]]
    assert len(await store.visit_log.unparsable(2)) == 2


async def next_due_is_none_without_due_pages(store: Store) -> None:
    assert await store.queue.next_due() is None
    await store.pages.add([new("1")], NOW)
    await store.pages.pause(["https://a.example/1"])
    assert await store.queue.next_due() is None
