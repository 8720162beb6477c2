"""Contract of `WatchedPages`: adding, pausing, listing, rules."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from webstrata.ports import Store
from webstrata.records import (
    Batch,
    Fingerprint,
    NewPage,
    Outcome,
    Page,
    PageFilter,
    PageOrder,
    PageRole,
    PageRules,
    PageState,
    Site,
    SiteFind,
    VisitTimes,
)
from webstrata.testing.store.examples import NOW, all_of, entry_of, new, page_of

_SELECTED = Fingerprint(raw="00", size=1, selected="by the old rules", rules="the old ones")


async def adding_twice_changes_nothing(store: Store) -> None:
    assert await store.pages.add([new("1"), new("2")], NOW) == (2, 0)
    assert await store.pages.add([new("2"), new("3"), new("3")], NOW + 5) == (1, 2)
    assert len(await all_of(store.pages.stream())) == 3
    page = await page_of(store, "2")
    assert (page.added_at, page.next_at, page.state) == (NOW, NOW, PageState.ACTIVE)
    assert await store.pages.add([], NOW) == (0, 0)


async def adding_again_updates_and_reactivates(store: Store) -> None:
    await store.pages.add([new("1", tags=("b",), role=PageRole.REQUISITE, requisites=True)], NOW)
    await store.pages.pause(["https://a.example/1"])
    assert await store.queue.claim(NOW, 10, NOW + 60, "me") == []
    await store.pages.add([new("1", tags=("a",), weight=2.5)], NOW + 5)
    page = await page_of(store, "1")
    assert (page.tags, page.weight, page.role, page.requisites) == (("a", "b"), 2.5, PageRole.PAGE, True)
    assert page.state == PageState.ACTIVE
    assert [page.id for page in await store.queue.claim(NOW + 5, 10, NOW + 60, "me")] == [page.id]


async def adding_again_keeps_what_is_not_given(store: Store) -> None:
    rules = PageRules(include=("css:main",), layer="text")
    await store.pages.add([new("1", weight=2.5, tags=("b",), page_rules=rules)], NOW)
    (page,) = await store.queue.claim(NOW, 10, NOW + 60, "me")
    await store.visit_log.commit(Batch(entries=(entry_of(replace(page, interval_s=100.0)),)))
    await store.pages.add([new("1")], NOW + 5)
    page = await page_of(store, "1")
    assert (page.weight, page.tags, page.page_rules, page.next_at) == (2.5, ("b",), rules, NOW + 100)
    await store.pages.add([new("1", weight=0.0, page_rules=PageRules(ignore=("css:.ad",), layer="main"))], NOW + 5)
    page = await page_of(store, "1")
    assert (page.weight, page.next_at, page.interval_s) == (0.0, NOW + 100, 100.0)
    assert page.page_rules == PageRules(include=("css:main",), ignore=("css:.ad",), layer="main")


async def captured_pages_are_known_and_never_due(store: Store) -> None:
    await store.pages.add([new("1", state=PageState.CAPTURED), new("2")], NOW)
    assert [page.url for page in await store.queue.claim(NOW, 10, NOW + 60, "me")] == ["https://a.example/2"]
    found = await store.maintenance.totals(NOW)
    assert (found.pages, found.paused, found.due) == (1, 0, 0)
    one = await page_of(store, "1")
    await store.visit_log.commit(Batch(entries=(entry_of(replace(one, interval_s=50.0)),)))
    assert await store.queue.claim(NOW + 200, 10, NOW + 300, "me") == [await page_of(store, "2")]
    assert await store.pages.add([new("2", state=PageState.CAPTURED)], NOW) == (0, 1)
    assert (await page_of(store, "2")).state == PageState.ACTIVE
    assert await store.maintenance.contradictions() == []


async def watching_a_captured_page_starts_it(store: Store) -> None:
    await store.pages.add([new("1", state=PageState.CAPTURED)], NOW)
    seen = replace(await page_of(store, "1"), interval_s=50.0, etag="e", last_seen_at=NOW)
    await store.visit_log.commit(Batch(entries=(entry_of(seen),)))
    await store.pages.add([new("1", tags=("t",))], NOW + 5)
    page = await page_of(store, "1")
    assert (page.state, page.next_at, page.interval_s, page.etag) == (PageState.ACTIVE, NOW + 5, None, None)
    (due,) = await store.queue.due(NOW + 5, 10)
    assert (due.id, due.tags, due.is_extra, due.is_unscheduled) == (page.id, ("t",), True, True)
    assert (await store.maintenance.totals(NOW)).pages == 1
    assert await store.maintenance.contradictions() == []


async def discovering_makes_captured_pages_active(store: Store) -> None:
    site = await store.pages.add_site(Site(id=0, url="https://a.example/"), NOW)
    states = {"1": PageState.CAPTURED, "2": PageState.ACTIVE, "3": PageState.ACTIVE}
    await store.pages.add([new(name, state=state, weight=7.0) for name, state in states.items()], NOW)
    await store.pages.pause(["https://a.example/3"])
    urls = [f"https://a.example/{name}" for name in "1234"]
    assert await store.pages.settled(urls) == {"https://a.example/3"}
    found = tuple(new(name, site_id=site.id, depth=2, weight=3.0, next_at=NOW + 9) for name in "1234")
    for _ in range(2):
        await store.visit_log.commit(Batch(discovered=found))
        pages = {name: await page_of(store, name) for name in "1234"}
        assert {name: (page.state.value, page.site_id) for name, page in pages.items()} == {
            "1": ("active", site.id), "2": ("active", site.id), "3": ("paused", None), "4": ("active", site.id),
        }  # fmt: skip
        assert [pages[name].weight for name in "1234"] == [3.0, 7.0, 7.0, 3.0]
        assert [pages[name].next_at for name in "124"] == [NOW + 9, NOW, NOW + 9]
        assert await store.maintenance.contradictions() == []
    assert await store.pages.settled(urls) == set(urls)


async def joining_a_site_makes_a_page_due(store: Store) -> None:
    await store.pages.add([new("1", tags=("t",))], NOW)
    (page,) = await store.queue.claim(NOW, 1, NOW + 60, "me")
    await store.visit_log.commit(Batch(entries=(entry_of(replace(page, interval_s=100.0, etag="e", payload="p")),)))
    site = await store.pages.add_site(Site(id=0, url="https://a.example/1"), NOW)
    for _ in range(2):
        await store.pages.add([new("1", site_id=site.id)], NOW + 5)
        page = await page_of(store, "1")
        assert (page.site_id, page.next_at, page.interval_s, page.etag) == (site.id, NOW + 5, None, None)
        assert page.tags == ("t",)
    assert await store.maintenance.contradictions() == []


async def tags_are_added_and_removed(store: Store) -> None:
    await store.pages.add([new("1", tags=("a", "b")), new("2", tags=("b",)), new("3")], NOW)
    await store.pages.add_site(Site(id=0, url="https://a.example/", tags=("a", "b")), NOW)
    ids = [(await page_of(store, name)).id for name in "123"]
    assert await store.pages.retag(ids, ["c"], ["b"]) == 3
    assert await store.pages.retag(ids, ["c"], ["b", "none"]) == 0
    assert [(await page_of(store, name)).tags for name in "123"] == [("a", "c"), ("c",), ("c",)]
    assert await store.maintenance.tag_counts() == {"a": 1, "c": 3}
    assert await store.pages.remove_site_tags(["b"]) == 1
    assert [site.tags for site in await store.pages.sites()] == [("a",)]
    assert await store.pages.retag([], ["c"], []) == 0


async def pausing_is_counted_and_stored(store: Store) -> None:
    await store.pages.add([new("1"), new("2")], NOW)
    one = "https://a.example/1"
    assert await store.pages.pause([one, one, "https://unknown.example/"]) == 1
    assert await store.pages.pause([one]) == 0
    assert (await page_of(store, "1")).state == PageState.PAUSED
    assert [page.url for page in await store.queue.claim(NOW, 10, NOW + 60, "me")] == ["https://a.example/2"]


async def sites_are_stored_by_url(store: Store) -> None:
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


async def long_streams_are_complete(store: Store) -> None:
    await store.pages.add([new(str(n), tags=("t",)) for n in range(2_345)], NOW)
    for listing in (store.pages.stream(), store.pages.stream(tag="t"), store.pages.stream(order="next")):
        found = [page.url async for page in listing]
        assert len(found) == len(set(found)) == 2_345
    assert len(await all_of(store.pages.stream(limit=1_500))) == 1_500


async def streams_by_next_visit_are_ordered(store: Store) -> None:
    await store.pages.add([new("late")], NOW + 5)
    await store.pages.add([new("early")], NOW)
    await store.pages.add([new("never")], NOW)
    await store.pages.pause(["https://a.example/never"])
    found = await all_of(store.pages.stream(order="next", limit=5))
    assert [page.url for page in found] == ["https://a.example/early", "https://a.example/late"]


async def page_rules_are_stored(store: Store) -> None:
    rules = PageRules(
        handler="rdf", layer="data", ignore=("css:é",), ignore_text=("[0-9]+",), min_size=0.1, entries=True
    )
    await store.pages.add([new("1", page_rules=rules), new("2")], NOW)
    assert ((await page_of(store, "1")).page_rules, (await page_of(store, "2")).page_rules) == (rules, None)
    await store.pages.add([new("1"), new("2", page_rules=rules)], NOW + 5)
    assert ((await page_of(store, "1")).page_rules, (await page_of(store, "2")).page_rules) == (rules, rules)
    await store.pages.set_rules((await page_of(store, "1")).id, None)
    assert ((await page_of(store, "1")).page_rules, (await page_of(store, "2")).page_rules) == (None, rules)
    (found, _) = await store.queue.claim(NOW + 5, 2, NOW + 60, "me")
    await store.pages.set_rules(found.id, PageRules(layer="raw"))
    await store.visit_log.commit(Batch(entries=(entry_of(found),)))
    assert (await page_of(store, "1")).page_rules == PageRules(layer="raw"), (
        "a visit in flight must not undo a change of rules"
    )


async def tag_rules_are_stored_separately(store: Store) -> None:
    await store.pages.add([new("1", tags=("b",))], NOW)
    await store.pages.set_tag_rules("b", PageRules(layer="raw"))
    await store.pages.set_tag_rules("a", PageRules(layer="text"))
    await store.pages.set_tag_rules("b", PageRules(layer="links"))
    assert await store.pages.tag_rules() == {"a": PageRules(layer="text"), "b": PageRules(layer="links")}
    assert (await page_of(store, "1")).page_rules is None
    await store.pages.set_tag_rules("a", None)
    await store.pages.set_tag_rules("unknown", None)
    assert await store.pages.tag_rules() == {"b": PageRules(layer="links")}


async def _commit_with_validators(store: Store, pages: Sequence[Page]) -> None:
    held = [replace(page, etag="e", last_modified="m", payload="sha1:A", fingerprint=_SELECTED) for page in pages]
    await store.visit_log.commit(Batch(entries=tuple(entry_of(page) for page in held)))


async def _check_validators(store: Store, *, removed: str, kept: str) -> None:
    """The fingerprint is kept: it says under which rules it was made."""
    without = (None, None, _SELECTED)
    for name, expected in [*((name, without) for name in removed), (kept, ("e", "m", _SELECTED))]:
        page = await page_of(store, name)
        assert (page.etag, page.last_modified, page.fingerprint) == expected, name


async def new_rules_remove_validators(store: Store) -> None:
    await store.pages.add([new(name, tags=("t",) if name == "2" else ()) for name in "1234"], NOW)
    pages = await store.queue.claim(NOW, 4, NOW + 60, "me")
    await _commit_with_validators(store, pages)
    await store.pages.set_rules(pages[0].id, PageRules(layer="raw"))
    await store.pages.set_tag_rules("t", PageRules(layer="raw"))
    await store.pages.add([new("3", page_rules=PageRules(layer="raw")), new("4")], NOW)
    await _check_validators(store, removed="123", kept="4")


async def rules_changed_during_a_visit_are_kept(store: Store) -> None:
    await store.pages.add([new(name, tags=("t",)) for name in "123"], NOW)
    pages = await store.queue.claim(NOW, 3, NOW + 60, "me")
    await store.pages.set_rules(pages[0].id, PageRules(ignore=("css:b",)))
    await store.pages.add([new("2", page_rules=PageRules(ignore=("css:b",)))], NOW)
    await _commit_with_validators(store, pages)
    await _check_validators(store, removed="12", kept="3")


async def counted_places_are_kept_by_visits(store: Store) -> None:
    await store.pages.add([new("1")], NOW)
    (page,) = await store.queue.claim(NOW, 1, NOW + 60, "me")
    await store.pages.set_counted(page.id, [5, 1 << 62, 5])
    await store.visit_log.commit(Batch(entries=(entry_of(replace(page, memory=b"learned")),)))
    page = await page_of(store, "1")
    assert (page.counted, page.memory) == ((5, 1 << 62), b"learned"), "a visit in flight must not undo it"
    await store.pages.set_counted(page.id, [])
    assert (await page_of(store, "1")).counted == ()


async def visit_times_are_set_and_kept(store: Store) -> None:
    await store.pages.add([new("1", every_s=60.0), new("2", windows="Sat UTC"), new("3")], NOW)
    ids = [(await page_of(store, name)).id for name in "123"]
    one, two, three = ids
    assert await store.pages.visit_times() == [
        VisitTimes(page_id=one, every_s=60.0),
        VisitTimes(page_id=two, windows="Sat UTC"),
    ]
    await store.pages.add([new("1", windows="Sun UTC"), new("2")], NOW)
    times = [VisitTimes(page_id=two), VisitTimes(page_id=three, every_s=90.0, windows="Mon UTC", snoozed_until=NOW + 5)]
    await store.pages.set_visit_times(times, {three: NOW + 9})
    assert await store.pages.visit_times() == [
        VisitTimes(page_id=one, every_s=60.0, windows="Sun UTC"),
        VisitTimes(page_id=three, every_s=90.0, windows="Mon UTC", snoozed_until=NOW + 5),
    ]
    page = await page_of(store, "3")
    assert (page.every_s, page.windows, page.snoozed_until, page.next_at) == (90.0, "Mon UTC", NOW + 5, NOW + 9)
    assert {due.id: (due.is_fixed, due.windows) for due in await store.queue.due(NOW + 9, 10)} == {
        one: (True, "Sun UTC"), two: (False, None), three: (True, "Mon UTC"),
    }  # fmt: skip
    await store.visit_log.commit(Batch(entries=(entry_of(replace(page, every_s=None, windows=None)),)))
    assert (await page_of(store, "3")).every_s == 90.0, "a visit in flight must not undo it"
    await store.pages.set_visit_times([], {})
    assert await store.maintenance.contradictions() == []


async def snoozed_pages_are_not_due(store: Store) -> None:
    await store.pages.add([new("1"), new("2")], NOW)
    page = await page_of(store, "1")
    await store.pages.set_visit_times([VisitTimes(page_id=page.id, snoozed_until=NOW + 50)], {})
    assert (await page_of(store, "1")).next_at == NOW
    assert await store.queue.claim_pages([page.id], NOW, NOW + 10, "me") == []
    assert [found.url for found in await store.queue.claim(NOW, 10, NOW + 100, "me")] == ["https://a.example/2"]
    await store.visit_log.commit(Batch(wake=((page.url, NOW - 5),)))
    assert await store.queue.due(NOW + 49, 10) == []
    assert [visit.at for visit in await store.queue.upcoming(NOW + 60, 10)] == [NOW + 50]
    assert await store.queue.next_due() == NOW + 50
    assert await store.maintenance.contradictions() == []
    (leased,) = await store.queue.claim_pages([page.id], NOW + 50, NOW + 60, "me")
    await store.queue.release([(leased.id, NOW + 20)])
    assert (await store.queue.upcoming(NOW + 60, 10))[0].at == NOW + 50
    await store.pages.set_visit_times([VisitTimes(page_id=page.id)], {})
    assert [due.id for due in await store.queue.due(NOW + 30, 10)] == [page.id]
    assert await store.maintenance.contradictions() == []


async def templates_are_stored_by_host(store: Store) -> None:
    await store.visit_log.commit(Batch(templates=(("a.example", b"one"), ("b.example", b"\0two"))))
    await store.visit_log.commit(Batch(templates=(("a.example", b"later"),)))
    assert await store.pages.templates(["a.example", "b.example", "c.example"]) == {
        "a.example": b"later",
        "b.example": b"\0two",
    }
    assert await store.pages.templates([]) == {}


async def finds_of_a_site_add_up(store: Store) -> None:
    """What a batch found is added once, however often it is committed; what was left out is that of the last visit."""
    await store.pages.add([new("1")], NOW)
    (page,) = await store.queue.claim(NOW, 1, NOW + 60, "me")
    source = SiteFind(site_id=1, kind="source", name=page.url, found=5, left_out=7, why="source")
    path = SiteFind(site_id=1, kind="path", name="https://a.example/?", found=2)
    batch = Batch(entries=(entry_of(page),), finds=(source, path))
    await store.visit_log.commit(batch)
    await store.visit_log.commit(batch)
    keys = [(1, "source", page.url), (1, "path", path.name), (2, "path", path.name), (1, "source", "other")]
    assert sorted(await store.pages.finds(keys), key=lambda find: find.kind) == [path, source]
    assert await store.pages.finds([]) == []
    assert await store.pages.left_out() == [source]
    again = replace(source, found=3, left_out=0, why="")
    await store.visit_log.commit(Batch(entries=(entry_of(page, at=NOW + 5),), finds=(again,)))
    assert await store.pages.finds(keys[:1]) == [replace(again, found=8)]
    assert await store.pages.left_out() == []


async def pages_are_listed_in_any_order(store: Store) -> None:
    image = new("i", role=PageRole.REQUISITE)
    for page in (new("c", tags=("t",)), new("a"), new("b", state=PageState.CAPTURED), new("d"), image):
        await store.pages.add([page], NOW)
    one, two = [await page_of(store, name) for name in "ca"]
    visited = replace(one, last_visit_at=NOW + 1, last_change_at=NOW + 1, changes=1, full_bytes=7)
    failed = replace(two, failures=3, last_outcome=Outcome.ERROR, last_change_at=NOW - 9, changes=2, full_bytes=9)
    entries = (entry_of(visited, at=NOW + 1, next_at=NOW + 50), entry_of(failed, at=NOW + 2, next_at=NOW + 40))
    await store.visit_log.commit(Batch(entries=entries))

    async def listed(
        order: PageOrder = "added", limit: int | None = None, reverse: bool = False, **fields: object
    ) -> str:
        wanted = replace(PageFilter(), **fields)
        found = await all_of(store.pages.listed(wanted, order, reverse=reverse, limit=limit))
        return "".join(page.url[-1] for page in found)

    orders: dict[PageOrder, tuple[str, str]] = {
        "url": ("acd", "dca"),
        "added": ("cad", "dac"),
        "next": ("dac", "cad"),
        "changed": ("cad", "acd"),
        "visited": ("acd", "cad"),
        "changes": ("acd", "dca"),
        "failures": ("acd", "cda"),
        "size": ("acd", "cad"),
    }
    for order, (forward, backward) in orders.items():
        assert await listed(order) == forward, order
        assert await listed(order, reverse=True) == backward, order
    assert await listed("url", limit=2) == "ac"
    assert await listed(requisites=True) == "cadi"
    assert await listed(state=PageState.CAPTURED) == "b"
    assert await listed(tag="t") == "c"
    assert await listed(host="b.example") == ""
    assert await listed("changed", changed=True) == "ca"
    assert await listed("changed", changed=True, since=NOW) == "c"
    assert await listed(errors=True) == "a"
    assert sorted(await store.pages.by_id([one.id, two.id, 99])) == sorted([one.id, two.id])
