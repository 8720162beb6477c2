"""How each page is looked at, as its watcher wishes."""

from __future__ import annotations

from msgspec.structs import replace

from webstrata.ports import Store
from webstrata.records import (
    Batch,
    Fingerprint,
    PageRules,
)
from webstrata.testing.store.material import NOW, Check, entry_of, new, page_of


async def a_wish_is_kept_with_its_page(store: Store) -> None:
    wish = PageRules(
        handler="rdf", layer="data", ignore=("css:é",), ignore_text=("[0-9]+",), min_size=0.1, entries=True
    )
    await store.pages.add([new("1", page_rules=wish), new("2")], NOW)
    assert ((await page_of(store, "1")).page_rules, (await page_of(store, "2")).page_rules) == (wish, None)
    await store.pages.add([new("1"), new("2", page_rules=wish)], NOW + 5)
    assert ((await page_of(store, "1")).page_rules, (await page_of(store, "2")).page_rules) == (wish, wish)
    await store.pages.set_rules((await page_of(store, "1")).id, None)
    assert ((await page_of(store, "1")).page_rules, (await page_of(store, "2")).page_rules) == (None, wish)
    (found, _) = await store.queue.claim(NOW + 5, 2, NOW + 60, "me")
    await store.pages.set_rules(found.id, PageRules(layer="raw"))
    await store.visit_log.commit(Batch(entries=(entry_of(found),)))
    assert (await page_of(store, "1")).page_rules == PageRules(layer="raw"), "a visit in flight must not undo a wish"


async def wishes_of_tags_are_kept_apart(store: Store) -> None:
    await store.pages.add([new("1", tags=("b",))], NOW)
    await store.pages.set_tag_rules("b", PageRules(layer="raw"))
    await store.pages.set_tag_rules("a", PageRules(layer="text"))
    await store.pages.set_tag_rules("b", PageRules(layer="links"))
    assert await store.pages.tag_rules() == {"a": PageRules(layer="text"), "b": PageRules(layer="links")}
    assert (await page_of(store, "1")).page_rules is None
    await store.pages.set_tag_rules("a", None)
    await store.pages.set_tag_rules("unknown", None)
    assert await store.pages.tag_rules() == {"b": PageRules(layer="links")}


async def another_wish_asks_in_full(store: Store) -> None:
    await store.pages.add([new(name, tags=("t",) if name == "2" else ()) for name in "1234"], NOW)
    mark = Fingerprint(raw="00", size=1, selected="11")
    pages = await store.queue.claim(NOW, 4, NOW + 60, "me")
    held = [replace(page, etag="e", last_modified="m", payload="sha1:A", fingerprint=mark) for page in pages]
    await store.visit_log.commit(Batch(entries=tuple(entry_of(page) for page in held)))
    await store.pages.set_rules(pages[0].id, PageRules(layer="raw"))
    await store.pages.set_tag_rules("t", PageRules(layer="raw"))
    await store.pages.add([new("3", page_rules=PageRules(layer="raw")), new("4")], NOW)
    for name in "123":
        page = await page_of(store, name)
        assert (page.etag, page.last_modified, page.fingerprint) == (None, None, replace(mark, selected=None)), name
    page = await page_of(store, "4")
    assert (page.etag, page.last_modified, page.fingerprint) == ("e", "m", mark)


async def a_wish_changed_during_a_visit_holds(store: Store) -> None:
    await store.pages.add([new(name, tags=("t",)) for name in "123"], NOW)
    pages = await store.queue.claim(NOW, 3, NOW + 60, "me")
    await store.pages.set_rules(pages[0].id, PageRules(ignore=("css:b",)))
    await store.pages.add([new("2", page_rules=PageRules(ignore=("css:b",)))], NOW)
    mark = Fingerprint(raw="00", size=1, selected="by the old rules")
    held = [replace(page, etag="e", last_modified="m", payload="sha1:A", fingerprint=mark) for page in pages]
    await store.visit_log.commit(Batch(entries=tuple(entry_of(page) for page in held)))
    for name in "12":
        page = await page_of(store, name)
        assert (page.etag, page.last_modified, page.fingerprint) == (None, None, replace(mark, selected=None)), name
    page = await page_of(store, "3")
    assert (page.etag, page.last_modified, page.fingerprint) == ("e", "m", mark)


async def places_that_count_are_the_users(store: Store) -> None:
    await store.pages.add([new("1")], NOW)
    (page,) = await store.queue.claim(NOW, 1, NOW + 60, "me")
    await store.pages.set_counted(page.id, [5, 1 << 62, 5])
    await store.visit_log.commit(Batch(entries=(entry_of(replace(page, memory=b"learned")),)))
    page = await page_of(store, "1")
    assert (page.counted, page.memory) == ((5, 1 << 62), b"learned"), "a visit in flight must not undo it"
    await store.pages.set_counted(page.id, [])
    assert (await page_of(store, "1")).counted == ()


CHECKS: tuple[Check, ...] = (
    a_wish_is_kept_with_its_page,
    wishes_of_tags_are_kept_apart,
    another_wish_asks_in_full,
    a_wish_changed_during_a_visit_holds,
    places_that_count_are_the_users,
)
