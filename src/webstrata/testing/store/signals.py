"""Contract of `SignalStore`: announcements of feeds and sitemaps, and the counts of sources."""

from __future__ import annotations

from msgspec.structs import replace

from webstrata.ports import Store
from webstrata.records import READ_COUNTS, VISIT_COUNTS, Batch, NewAnnouncements, SourceCheck
from webstrata.testing.store.examples import NOW, entry_of, new, page_of

_LIST = "https://a.example/list"


def _announced(*signals: tuple[str, float | None, float | None], at: float = NOW, **fields: object) -> Batch:
    said = tuple((f"https://a.example/{name}", given, until) for name, given, until in signals)
    one = {"source": _LIST, "kind": "sitemap-lastmod", "seen_at": at, "signals": said, **fields}
    return Batch(announced=(NewAnnouncements(**one),))  # type: ignore[arg-type]


async def _seen(store: Store, *names: str, at: float, next_at: float | None = None) -> None:
    pages = [await page_of(store, name) for name in names]
    seen = [replace(page, last_seen_at=at, last_visit_at=at) for page in pages]
    await store.visit_log.commit(Batch(entries=tuple(entry_of(page, at=at, next_at=next_at) for page in seen)))


async def _news(store: Store, *names: str) -> list[int]:
    ids = [(await page_of(store, name)).id for name in names]
    said = {one.page_id: one.news for one in await store.signals.announcements(ids)}
    return [said.get(one, -1) for one in ids]


async def signals_about_unwatched_urls_are_kept(store: Store) -> None:
    def announced(*others: tuple[str, float | None], at: float) -> Batch:
        return _announced(at=at, unwatched=tuple((f"https://a.example/{name}", given) for name, given in others))

    await store.visit_log.commit(announced(("1", NOW - 9), ("2", NOW - 9), ("3", None), ("\0", NOW), at=NOW))
    await store.visit_log.commit(announced(("1", NOW - 5), ("2", NOW - 99), ("3", None), at=NOW + 1))
    await store.pages.add([new("1"), new("2"), new("3"), new("4")], NOW + 2)
    listed = await store.signals.listed_by(_LIST)
    assert {url[-1]: at for url, at in listed.items()} == {"1": NOW - 5, "2": NOW - 9, "3": None}
    assert await _news(store, "1", "2", "3", "4") == [0, 0, 0, -1], "of a page never seen nothing is news"
    many = [(f"old{number}", NOW - 1000 - number) for number in range(2100)]
    await store.visit_log.commit(announced(*many, ("new", NOW + 3), at=NOW + 3))
    await store.visit_log.commit(announced(("newer", NOW + 4), at=NOW + 4))
    await store.pages.add([new(name) for name in ("new", "newer", "old5", "old1996", "old2099")], NOW + 5)
    found = {url.rpartition("/")[2] for url in await store.signals.listed_by(_LIST)}
    assert found >= {"new", "newer", "old5"}, "the latest times are kept"
    assert not found & {"old2099"}, "a source is kept so many addresses of, and no more"
    await store.visit_log.commit(announced(("later", None), at=NOW + 400 * 86_400.0))
    await store.pages.add([new("old7"), new("later")], NOW + 6)
    found = {url.rpartition("/")[2] for url in await store.signals.listed_by(_LIST)}
    assert "later" in found
    assert "old7" not in found, "words of more than half a year ago are forgotten"


async def a_repeated_signal_is_stored_once(store: Store) -> None:
    await store.pages.add([new("1"), new("2"), new("3")], NOW)
    await _seen(store, "1", "2", at=NOW)
    first = _announced(("1", NOW + 5, NOW + 5), ("2", NOW - 5, NOW - 5), ("3", None, None), ("4", NOW, NOW), at=NOW + 9)
    for _ in range(2):
        await store.visit_log.commit(first)
        assert await _news(store, "1", "2", "3") == [1, 0, 0], "what is older than the last sight is no news"
    listed = await store.signals.listed_by(_LIST)
    assert {url[-1]: at for url, at in listed.items()} == {"1": NOW + 5, "2": NOW - 5, "3": None}
    await store.visit_log.commit(
        _announced(("1", NOW + 4, NOW + 4), ("2", NOW + 7, NOW + 7), ("3", None, None), at=NOW + 10)
    )
    assert await _news(store, "1", "2", "3") == [1, 1, 0], "only a later time is a new signal"
    gone = ("https://a.example/2", "https://a.example/unknown")
    read = {"entries": 1.0, "page_days": 3.0, "late_days": 0.5, "dated": 1.0, "discovered": 2.0, "read_days": 1.0}
    for _ in range(2):
        await store.visit_log.commit(
            _announced(
                ("1", NOW + 11, NOW + 11),
                at=NOW + 12,
                dropped=gone,
                flood=True,
                listed=2,
                keep=0.5,
                counted=read,
                finds_pages=True,
            )
        )
    assert await _news(store, "1", "2", "3") == [2, -1, 0]
    (source,) = await store.signals.sources()
    assert (source.url, source.reads, source.floods, source.read_at) == (_LIST, 3, 1, NOW + 12)
    assert (source.listed, source.recent_reads, source.finds_pages) == (2, 3.0, True)
    assert {name: getattr(source, name) for name in READ_COUNTS} == read, "a read that comes twice counts once"
    await store.visit_log.commit(_announced(at=NOW + 13, listed=2, keep=0.5, counted=read))
    (source,) = await store.signals.sources()
    assert not source.finds_pages, "the last read says it"
    assert {name: getattr(source, name) for name in READ_COUNTS} == {name: 1.5 * one for name, one in read.items()}
    assert await store.signals.sources([_LIST]) == [source]
    assert await store.signals.sources_by_id([source.id, source.id + 1]) == {source.id: source}
    assert await store.signals.sources(["https://a.example/other"]) == []


async def a_signal_moves_the_next_visit_forward(store: Store) -> None:
    names = ("1", "2", "3", "4", "5")
    await store.pages.add([new(name, **_FAR.get(name, {})) for name in names], NOW)
    await _seen(store, "1", "2", "3", "4", at=NOW, next_at=NOW + 1000)
    await store.pages.pause(["https://a.example/3"])
    call = tuple(f"https://a.example/{name}" for name in names)
    signals = [(name, NOW + 5, NOW - 1 if name == "2" else NOW + 5) for name in names]
    await store.visit_log.commit(
        _announced(*signals, at=NOW + 9, visit_soon=call, rest_s=60.0, reason="because of the list")
    )
    page = await page_of(store, "1")
    assert (page.next_at, page.reason) == (NOW + 60, "because of the list")
    for name in ("2", "3", "5"):
        page = await page_of(store, name)
        assert page.next_at != NOW + 60, name
        assert page.reason != "because of the list", name
    assert [page.url[-1] for page in await store.queue.claim(NOW + 60, 9, NOW + 99, "me")] == ["1", "4"]
    await store.visit_log.commit(
        _announced(("1", NOW + 50, NOW + 50), at=NOW + 70, visit_soon=call[:1], rest_s=5.0, reason="again")
    )
    assert await store.queue.claim(NOW + 80, 9, NOW + 99, "other") == [], "a page that is being visited is not called"


_FAR: dict[str, dict[str, object]] = {"5": {"next_at": NOW + 1000}}


async def visits_update_the_counts_of_a_source(store: Store) -> None:
    await store.pages.add([new("1"), new("2")], NOW)
    await _seen(store, "1", "2", at=NOW)
    await store.visit_log.commit(_announced(("1", NOW + 5, NOW + 5), ("2", NOW + 5, NOW + 5), at=NOW + 9))
    (source,) = await store.signals.sources()
    one, two = await page_of(store, "1"), await page_of(store, "2")
    added = {name: float(number) for number, name in enumerate(VISIT_COUNTS, 1)}
    settled = ((one.id, NOW + 9), (two.id, NOW + 8))
    checked = SourceCheck(source_id=source.id, keep=0.5, added=added | {"recent_reads": 0.0}, settled=settled)
    for at in (NOW + 20, NOW + 20, NOW + 30):
        await store.visit_log.commit(Batch(entries=(entry_of(one, at=at),), checked=(checked,)))
    (source,) = await store.signals.sources()
    sums = [getattr(source, name) for name in VISIT_COUNTS]
    assert sums == [1.5, 3.0, 4.5, 6.0, 7.5, 9.0, 10.5, 0.25], "a batch that comes twice counts once"
    assert await _news(store, "1", "2") == [0, 1], "what was said meanwhile is news still"
