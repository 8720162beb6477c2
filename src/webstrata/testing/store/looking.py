"""How each page is looked at, as its watcher wishes."""

from __future__ import annotations

from msgspec.structs import replace

from webstrata.ports import Store
from webstrata.records import (
    Batch,
    Fingerprint,
    Looking,
)
from webstrata.testing.store.material import NOW, Check, entry_of, new, page_of


async def a_wish_is_kept_with_its_page(store: Store) -> None:
    wish = Looking(handler="rdf", layer="data", ignore=("css:é",), ignore_text=("[0-9]+",), min_size=0.1, entries=True)
    await store.add_pages([new("1", looking=wish), new("2")], NOW)
    assert ((await page_of(store, "1")).looking, (await page_of(store, "2")).looking) == (wish, None)
    await store.add_pages([new("1"), new("2", looking=wish)], NOW + 5)
    assert ((await page_of(store, "1")).looking, (await page_of(store, "2")).looking) == (wish, wish)
    await store.set_looking((await page_of(store, "1")).id, None)
    assert ((await page_of(store, "1")).looking, (await page_of(store, "2")).looking) == (None, wish)
    (found, _) = await store.claim(NOW + 5, 2, NOW + 60, "me")
    await store.set_looking(found.id, Looking(layer="raw"))
    await store.commit(Batch(entries=(entry_of(found),)))
    assert (await page_of(store, "1")).looking == Looking(layer="raw"), "a visit in flight must not undo a wish"


async def wishes_of_tags_are_kept_apart(store: Store) -> None:
    await store.add_pages([new("1", tags=("b",))], NOW)
    await store.set_tag_looking("b", Looking(layer="raw"))
    await store.set_tag_looking("a", Looking(layer="text"))
    await store.set_tag_looking("b", Looking(layer="links"))
    assert await store.tag_lookings() == {"a": Looking(layer="text"), "b": Looking(layer="links")}
    assert (await page_of(store, "1")).looking is None
    await store.set_tag_looking("a", None)
    await store.set_tag_looking("unknown", None)
    assert await store.tag_lookings() == {"b": Looking(layer="links")}


async def another_wish_asks_in_full(store: Store) -> None:
    await store.add_pages([new(name, tags=("t",) if name == "2" else ()) for name in "1234"], NOW)
    mark = Fingerprint(raw="00", size=1, selected="11")
    pages = await store.claim(NOW, 4, NOW + 60, "me")
    held = [replace(page, etag="e", last_modified="m", payload="sha1:A", fingerprint=mark) for page in pages]
    await store.commit(Batch(entries=tuple(entry_of(page) for page in held)))
    await store.set_looking(pages[0].id, Looking(layer="raw"))
    await store.set_tag_looking("t", Looking(layer="raw"))
    await store.add_pages([new("3", looking=Looking(layer="raw")), new("4")], NOW)
    for name in "123":
        page = await page_of(store, name)
        assert (page.etag, page.last_modified, page.fingerprint) == (None, None, replace(mark, selected=None)), name
    page = await page_of(store, "4")
    assert (page.etag, page.last_modified, page.fingerprint) == ("e", "m", mark)


async def a_wish_changed_during_a_visit_holds(store: Store) -> None:
    await store.add_pages([new(name, tags=("t",)) for name in "123"], NOW)
    pages = await store.claim(NOW, 3, NOW + 60, "me")
    await store.set_looking(pages[0].id, Looking(ignore=("css:b",)))
    await store.add_pages([new("2", looking=Looking(ignore=("css:b",)))], NOW)
    mark = Fingerprint(raw="00", size=1, selected="by the old rules")
    held = [replace(page, etag="e", last_modified="m", payload="sha1:A", fingerprint=mark) for page in pages]
    await store.commit(Batch(entries=tuple(entry_of(page) for page in held)))
    for name in "12":
        page = await page_of(store, name)
        assert (page.etag, page.last_modified, page.fingerprint) == (None, None, replace(mark, selected=None)), name
    page = await page_of(store, "3")
    assert (page.etag, page.last_modified, page.fingerprint) == ("e", "m", mark)


async def places_that_count_are_the_users(store: Store) -> None:
    await store.add_pages([new("1")], NOW)
    (page,) = await store.claim(NOW, 1, NOW + 60, "me")
    await store.set_counted(page.id, [5, 1 << 62, 5])
    await store.commit(Batch(entries=(entry_of(replace(page, memory=b"learned")),)))
    page = await page_of(store, "1")
    assert (page.counted, page.memory) == ((5, 1 << 62), b"learned"), "a visit in flight must not undo it"
    await store.set_counted(page.id, [])
    assert (await page_of(store, "1")).counted == ()


CHECKS: tuple[Check, ...] = (
    a_wish_is_kept_with_its_page,
    wishes_of_tags_are_kept_apart,
    another_wish_asks_in_full,
    a_wish_changed_during_a_visit_holds,
    places_that_count_are_the_users,
)
