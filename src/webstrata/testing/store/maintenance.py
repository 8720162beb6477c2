"""Contract of `StoreMaintenance`, and of filters on the visit log: totals and counts."""

from __future__ import annotations

from msgspec.structs import replace

from webstrata.errors import UsageError
from webstrata.ports import Store
from webstrata.records import (
    AddressState,
    Batch,
    BudgetState,
    ClockReading,
    Failure,
    FailureKind,
    Fingerprint,
    FinishedVisit,
    Hop,
    HostState,
    NewPage,
    Outcome,
    Page,
    PageRole,
    Site,
    TimesMoved,
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
    assert found.last_visit_at == NOW
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


# ── the clock ───────────────────────────────────────────────────────────────────────────────────────────────


def _reading(at: float, uptime_s: float, machine: str = "one") -> ClockReading:
    return ClockReading(machine=machine, uptime_s=uptime_s, at=at)


async def _follow(store: Store, reading: ClockReading) -> TimesMoved:
    return await store.maintenance.follow_clock(reading, 300.0, 86_400.0)


async def _two_visited_pages(store: Store) -> None:
    """One page was visited an hour ago, one now; both have an interval of two hours; a host waits, a budget is used."""
    await store.pages.add([new("1"), new("2")], NOW - 3600)
    one, two = await store.queue.claim(NOW, 2, NOW + 60, "me")
    entries = [entry_of(one, at=NOW - 3600, next_at=NOW + 3600), entry_of(two, at=NOW, next_at=NOW + 7200)]
    entries = [
        replace(entry, page=replace(entry.page, interval_s=7200.0, last_seen_at=entry.visit.at)) for entry in entries
    ]
    host = HostState(host="a.example", next_at=NOW + 20, backoff_until=NOW + 60)
    address = AddressState(address="192.0.2.1", next_at=NOW + 1)
    await store.visit_log.commit(Batch(entries=tuple(entries), hosts=(host,), addresses=(address,)))
    budget = BudgetState(name="all", price=0.5, credit=3.0, at=NOW)
    await store.budgets.reserve("me", NOW, NOW + 60, lambda states, own: [(budget, 2.0)])


def _page_times(page: Page) -> tuple[float | None, ...]:
    return page.added_at, page.next_at, page.last_visit_at, page.last_seen_at


async def _times(store: Store, since: float) -> list[float]:
    """Times of both pages, waits of the host and the address, time of the budget; in seconds since then."""
    pages = [await page_of(store, name) for name in "12"]
    (host,), (address,), _ = await store.queue.politeness()
    (budget,) = await store.budgets.states()
    assert (budget.price, budget.credit) == (0.5, 3.0)
    due = [visit.at for visit in await store.queue.upcoming(NOW * 2, 9)]
    assert due == [page.next_at for page in pages]
    found = [at for page in pages for at in _page_times(page)]
    return [
        round((at or 0.0) - since, 3) for at in (*found, host.next_at, host.backoff_until, address.next_at, budget.at)
    ]


async def times_follow_a_clock_that_was_set(store: Store) -> None:
    await _two_visited_pages(store)
    remaining = [-3600, 3600, -3600, -3600, -3600, 7200, 0, 0, 20, 60, 1, 0]
    assert await _times(store, NOW) == remaining
    assert await _follow(store, _reading(NOW, 1000.0)) == TimesMoved()
    assert await _follow(store, _reading(NOW + 50, 1050.5)) == TimesMoved(), "half a second is not a step"
    await _follow(store, _reading(NOW, 1000.0))
    for by_s in (-3600.0, 90_000.0, -86_400.0):
        moved = await _follow(store, _reading(NOW + by_s, 1000.0))
        assert (round(moved.by_s, 1), moved.ahead_pages) == (by_s, 0)
        assert await _times(store, NOW + by_s) == remaining
        assert await _follow(store, _reading(NOW + by_s + 5, 1005.0)) == TimesMoved(), "each step counts once"
        assert [visit.at for visit in await store.visit_log.of_page((await page_of(store, "2")).id)] == [NOW]
        await _follow(store, _reading(NOW, 1000.0))
    assert await store.maintenance.contradictions() == []


async def a_lease_moves_with_the_clock(store: Store) -> None:
    await store.pages.add([new("1")], NOW)
    await _follow(store, _reading(NOW, 1000.0))
    await store.queue.claim(NOW, 1, NOW + 60, "me")
    await _follow(store, _reading(NOW - 3600, 1000.0))
    assert await store.queue.claim(NOW - 3600 + 59, 1, NOW, "you") == []
    assert len(await store.queue.claim(NOW - 3600 + 60, 1, NOW, "you")) == 1


async def times_of_a_clock_that_was_ahead_are_corrected(store: Store) -> None:
    """After a restart of the machine nobody knows by how much the clock was ahead."""
    now = NOW - 86_400
    await _two_visited_pages(store)
    await store.pages.add([new("3"), new("4", next_at=NOW + 50)], NOW)
    await store.pages.add([new("5")], now)
    moved = await _follow(store, _reading(now, 3.0, "restarted"))
    assert (moved.by_s, moved.ahead_pages) == (0.0, 4)
    first, last = await page_of(store, "1"), await page_of(store, "2")
    assert (first.last_visit_at, first.next_at) == (now - 3600, now + 3600), "the visits keep their distance"
    assert (last.last_visit_at, last.last_seen_at, last.next_at) == (now, now, now + 7200)
    due = await store.queue.due(now, 9)
    assert sorted(page.id for page in due) == [(await page_of(store, name)).id for name in "345"]
    (host,), (address,), _ = await store.queue.politeness()
    assert (host.next_at, host.backoff_until, address.next_at) == (now + 300, now + 86_400, now + 300)
    (budget,) = await store.budgets.states()
    assert (budget.at, budget.credit) == (now, 3.0)
    assert await _follow(store, _reading(now, 3.0, "restarted")) == TimesMoved(), "there is nothing left to correct"
    assert await store.maintenance.contradictions() == []


async def visits_put_off_by_a_clock_that_was_ahead_come_in_time(store: Store) -> None:
    await _two_visited_pages(store)
    page = await page_of(store, "1")
    await store.queue.move([(page.id, NOW + 90_000, "the budget is spent")])
    budget = BudgetState(name="all", price=0.5, credit=3.0, at=NOW + 86_400)
    await store.budgets.reserve("me", NOW, NOW + 60, lambda states, own: [(budget, 2.0)])
    await _follow(store, _reading(NOW, 3.0))
    assert (await page_of(store, "1")).next_at == NOW + 3600
    assert (await page_of(store, "2")).next_at == NOW + 7200
