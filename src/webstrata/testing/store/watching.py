"""Pages and sites that are watched: added, paused, listed."""

from __future__ import annotations

from msgspec.structs import replace

from webstrata.ports import Store
from webstrata.records import (
    NewPage,
    PageRole,
    PageState,
    Site,
)
from webstrata.testing.store.material import NOW, Check, all_of, new, page_of


async def adding_twice_is_harmless(store: Store) -> None:
    assert await store.pages.add([new("1"), new("2")], NOW) == (2, 0)
    assert await store.pages.add([new("2"), new("3"), new("3")], NOW + 5) == (1, 2)
    assert len(await all_of(store.pages.stream())) == 3
    page = await page_of(store, "2")
    assert (page.added_at, page.next_at, page.state) == (NOW, NOW, PageState.ACTIVE)
    assert await store.pages.add([], NOW) == (0, 0)


async def adding_again_updates_and_wakes(store: Store) -> None:
    await store.pages.add([new("1", tags=("b",), role=PageRole.REQUISITE, requisites=True)], NOW)
    await store.pages.pause(["https://a.example/1"])
    assert await store.queue.claim(NOW, 10, NOW + 60, "me") == []
    await store.pages.add([new("1", tags=("a",), weight=2.5)], NOW + 5)
    page = await page_of(store, "1")
    assert (page.tags, page.weight, page.role, page.requisites) == (("a", "b"), 2.5, PageRole.PAGE, True)
    assert page.state == PageState.ACTIVE
    assert [page.id for page in await store.queue.claim(NOW + 5, 10, NOW + 60, "me")] == [page.id]


async def pausing_is_counted_and_kept(store: Store) -> None:
    await store.pages.add([new("1"), new("2")], NOW)
    one = "https://a.example/1"
    assert await store.pages.pause([one, one, "https://unknown.example/"]) == 1
    assert await store.pages.pause([one]) == 0
    assert (await page_of(store, "1")).state == PageState.PAUSED
    assert [page.url for page in await store.queue.claim(NOW, 10, NOW + 60, "me")] == ["https://a.example/2"]


async def sites_are_kept_by_url(store: Store) -> None:
    site = Site(id=0, url="https://a.example/", include=("/x",), tags=("t",), requisites=True)
    first = await store.pages.add_site(site, NOW)
    assert first == replace(site, id=first.id)
    again = await store.pages.add_site(replace(site, max_pages=5), NOW + 1)
    assert again == replace(first, max_pages=5)
    assert await store.pages.sites() == [again]


async def pages_are_found_by_tag_state_and_host(store: Store) -> None:
    other = NewPage(url="https://b.example/", host="b.example", tags=("t",))
    await store.pages.add([new("1", tags=("t", "u")), new("2"), other], NOW)
    await store.pages.pause(["https://a.example/2"])

    async def names(**wanted: str) -> list[str]:
        return [page.url.removeprefix("https://") for page in await all_of(store.pages.stream(**wanted))]  # type: ignore[arg-type]

    assert await names(tag="t") == ["a.example/1", "b.example/"]
    assert await names(tag="t", host="b.example") == ["b.example/"]
    assert await names(state="paused") == ["a.example/2"]
    assert await names(host="a.example") == ["a.example/1", "a.example/2"]
    assert await names(tag="T") == []
    assert await store.pages.get("https://a.example/none") is None


async def long_listings_are_whole(store: Store) -> None:
    await store.pages.add([new(str(n), tags=("t",)) for n in range(2_345)], NOW)
    for listing in (store.pages.stream(), store.pages.stream(tag="t"), store.pages.stream(order="next")):
        found = [page.url async for page in listing]
        assert len(found) == len(set(found)) == 2_345
    assert len(await all_of(store.pages.stream(limit=1_500))) == 1_500


async def listing_by_next_visit_is_in_order(store: Store) -> None:
    await store.pages.add([new("late")], NOW + 5)
    await store.pages.add([new("early")], NOW)
    await store.pages.add([new("never")], NOW)
    await store.pages.pause(["https://a.example/never"])
    found = await all_of(store.pages.stream(order="next", limit=5))
    assert [page.url for page in found] == ["https://a.example/early", "https://a.example/late"]


CHECKS: tuple[Check, ...] = (
    adding_twice_is_harmless,
    adding_again_updates_and_wakes,
    pausing_is_counted_and_kept,
    sites_are_kept_by_url,
    pages_are_found_by_tag_state_and_host,
    long_listings_are_whole,
    listing_by_next_visit_is_in_order,
)
