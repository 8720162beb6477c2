"""Contract of `StoreMaintenance`, and of filters on the visit log: totals and counts."""

from __future__ import annotations

from msgspec.structs import replace

from webstrata.errors import UsageError
from webstrata.ports import Store
from webstrata.records import (
    Batch,
    Failure,
    FailureKind,
    Fingerprint,
    FinishedVisit,
    Hop,
    NewPage,
    Outcome,
    PageRole,
    Site,
)
from webstrata.testing.store.examples import DAY, NOW, all_of, entry_of, new, page_of, visit_of


async def visits_can_be_filtered(store: Store) -> None:
    await store.pages.add([new("1"), new("2")], NOW)
    page, other = await store.queue.claim(NOW, 2, NOW + 60, "me")
    outcomes = (Outcome.NEW, Outcome.SAME, Outcome.CHANGED, Outcome.ERROR, Outcome.GONE, Outcome.BACK)
    entries = tuple(entry_of(page, at=NOW + n, outcome=outcome) for n, outcome in enumerate(outcomes))
    await store.visit_log.commit(Batch(entries=(*entries, entry_of(other))))

    async def times(**narrow: object) -> list[float]:
        return [visit.at - NOW for visit in await store.visit_log.of_page(page.id, **narrow)]  # type: ignore[arg-type]

    assert await times() == [5, 4, 3, 2, 1, 0]
    assert await times(order="oldest", limit=2) == [0, 1]
    assert await times(since=NOW + 1, until=NOW + 3) == [3, 2, 1]
    assert await times(changes_only=True) == [5, 4, 2, 0]
    assert await store.visit_log.of_page(123_456) == []


async def totals_match_the_rows(store: Store) -> None:
    image = new("i.png", role=PageRole.REQUISITE)
    await store.pages.add([new("1"), new("2"), new("3"), image], NOW)
    await store.pages.add([NewPage(url="https://b.example/", host="b.example")], NOW + 500)
    await store.pages.add_site(Site(id=0, url="https://a.example/"), NOW)
    await store.pages.pause(["https://a.example/3"])
    one, two = await store.queue.claim(NOW, 2, NOW + 60, "me")
    seen = entry_of(one, next_at=NOW + 43_200, counts=True)
    failed = Failure(kind=FailureKind.DNS)
    error = entry_of(two, next_at=NOW + 5, outcome=Outcome.ERROR, failure=failed, bytes=0)
    seen = replace(seen, page=replace(seen.page, interval_s=43_200.0))
    await store.visit_log.commit(Batch(entries=(seen, error)))
    found = await store.maintenance.totals(NOW + 1)
    assert (found.pages, found.paused, found.requisites, found.sites, found.hosts) == (3, 1, 1, 1, 2)
    assert (found.visits, found.changes, found.errors, found.bytes) == (2, 1, 1, 10)
    assert (found.due, found.in_flight, found.next_at, found.expected_per_day) == (1, 0, NOW, 2.0)
    await store.queue.claim(NOW + 1, 1, NOW + 60, "me")
    found = await store.maintenance.totals(NOW + 1)
    assert (found.due, found.in_flight, found.next_at) == (0, 1, NOW + 5)
    await store.pages.pause([one.url])
    assert (await store.maintenance.totals(NOW + 1)).expected_per_day == 0.0
    await store.pages.add([new("1"), new("3")], NOW)
    found = await store.maintenance.totals(NOW + 1)
    assert (found.pages, found.paused, found.expected_per_day) == (4, 0, 2.0)


async def hosts_are_counted_by_day(store: Store) -> None:
    other = NewPage(url="https://b.example/", host="b.example")
    await store.pages.add([new("1"), other], NOW)
    page, far = await store.queue.claim(NOW, 2, NOW + 60, "me")
    failed = Failure(kind=FailureKind.RESET)
    await store.visit_log.commit(Batch(entries=(entry_of(page, counts=True, duration_s=0.5), entry_of(far))))
    await store.visit_log.commit(Batch(entries=(entry_of(page, at=NOW + 1, failure=failed, duration_s=0.25),)))
    await store.visit_log.commit(Batch(entries=(entry_of(page, at=NOW + 86_400),)))
    rows = [(d.host, d.day - DAY, d.visits, d.changes, d.errors, d.bytes) for d in await store.maintenance.host_days()]
    assert rows == [("a.example", 0, 2, 1, 1, 20), ("b.example", 0, 1, 0, 0, 10), ("a.example", 1, 1, 0, 0, 10)]
    assert (await store.maintenance.host_days(host="a.example"))[0].duration_s == 0.75
    assert [d.day for d in await store.maintenance.host_days(since_day=DAY + 1)] == [DAY + 1]


async def any_text_from_the_web_can_be_stored(store: Store) -> None:
    """U+0000 and unpaired surrogates do not fail a commit; a tag with one is an error."""
    await store.pages.add([new("1")], NOW)
    (page,) = await store.queue.claim(NOW, 1, NOW + 60, "me")
    bad = "a\x00b\ud800c"
    seen = replace(page, reason=bad, etag=bad, fingerprint=Fingerprint(raw="", size=0, title=bad))
    failure = Failure(kind=FailureKind.MALFORMED, detail=bad)
    visit = visit_of(page, failure=failure, headers={bad: bad}, hops=(Hop(url=bad, status=1),))
    found = (new(bad), new("2"))
    await store.visit_log.commit(Batch(entries=(FinishedVisit(page=seen, visit=visit),), discovered=found))
    assert (await page_of(store, "1")).etag == "a\ufffdb\ufffdc"
    assert len(await store.visit_log.of_page(page.id)) == 1
    assert len(await all_of(store.pages.stream())) == 2
    try:
        await store.pages.add([new("3", tags=(bad,))], NOW)
    except UsageError:
        pass
    else:
        raise AssertionError("a tag that cannot be stored must be refused")
