"""A database that contradicts itself is told so, and what follows from other rows can be made anew."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from msgspec.structs import replace
from sqlalchemy import create_engine, event, text

from webstrata.clock import ManualClock
from webstrata.records import (
    Batch,
    Contradiction,
    FinishedVisit,
    NewAnnouncements,
    NewPage,
    Outcome,
    Page,
    PageRole,
    Site,
    Visit,
)
from webstrata.remember.engine import open_store
from webstrata.remember.integrity.row_checksums import register
from webstrata.remember.store import SqlStore

NOW = 1_800_000_000.5


def entry(page: Page, at: float, **fields: Any) -> FinishedVisit:
    visit = replace(Visit(page_id=page.id, url=page.url, at=at, outcome=Outcome.SAME, bytes=100), **fields)
    changed = replace(page, visits=page.visits + 1, last_visit_at=at, interval_s=3600.0, next_at=at + 3600.0)
    return FinishedVisit(page=changed, visit=visit)


async def live(store: SqlStore) -> None:
    """A little of everything: hosts, days, tags, a site, a source, a paused page, leases held and given back."""
    site = await store.pages.add_site(Site(id=0, url="https://a.example/", scope="host"), NOW)
    names = [f"https://{host}.example/{n}" for host in "ab" for n in range(5)]
    new = [NewPage(url=url, host=url[8:17], tags=("t",), site_id=site.id) for url in names]
    await store.pages.add(
        [*new, NewPage(url="https://a.example/x.css", host="a.example", role=PageRole.REQUISITE)], NOW
    )
    claimed = await store.queue.claim(NOW, 6, NOW + 60, "me")
    entries = tuple(entry(page, NOW + 86_400.0 * (n % 2), counts=n > 3) for n, page in enumerate(claimed[:4]))
    said = NewAnnouncements(
        source="https://a.example/feed", kind="feed-entry", seen_at=NOW, signals=((names[0], None, NOW),)
    )
    await store.visit_log.commit(Batch(entries=entries, announced=(said,)))
    await store.queue.release([(claimed[4].id, NOW + 7)])
    await store.pages.pause([names[9]])


def contradictions_of(url: str, *statements: str, mend: bool = False) -> list[Contradiction]:
    async def run() -> list[Contradiction]:
        store = open_store(url, ManualClock(NOW))
        try:
            if mend:
                await store.maintenance.recount()
            elif not statements:
                await live(store)
            return await store.maintenance.contradictions()
        finally:
            await store.close()

    if statements:
        engine = create_engine(url)
        if engine.dialect.name == "sqlite":
            event.listen(engine, "connect", lambda connection, _: register(connection))
        with engine.begin() as connection:
            for statement in statements:
                connection.execute(text(statement))
        engine.dispose()
    return asyncio.run(run())


DERIVED = {
    "UPDATE totals SET visits = visits + 1 WHERE visits > 0": "the counter of visits is 5, the rows give 4",
    "UPDATE totals SET hosts = 0": "the counter of hosts is 0, the rows give 2",
    "UPDATE totals SET rate = 7": "counter of rate",
    "UPDATE host_days SET bytes = 1 WHERE host = 'a.example'": "of a.example on day",
    "DELETE FROM host_days": "visits of a.example on day",
    "UPDATE day_totals SET changes = changes + 2": "changes on day",
    "DELETE FROM queue WHERE page_id = 1": "1 page is missing from the queue",
    "INSERT INTO queue (page_id) VALUES (4711)": "1 queue row has no page; the first is 4711",
    "UPDATE queue SET due_at = 5 WHERE lease_until IS NULL AND due_at IS NOT NULL": "queue rows do not match",
    "UPDATE queue SET due_at = 5 WHERE lease_until IS NOT NULL": "1 queue row does not match",
    "UPDATE pages SET state = 'paused' WHERE id = 2": "counter of paused is 1, the rows give 2",
}
FACTS = {
    "DELETE FROM pages WHERE id = 1": "1 visit refers to a missing row of pages; the first page_id is 1",
    "INSERT INTO page_tags (tag, page_id) VALUES ('t', 4711)": "1 tag refers to a missing row of pages",
    "DELETE FROM sources": "1 signal refers to a missing row of sources",
    "INSERT INTO page_features (page_id, features, at) VALUES (4711, '{}', 1)": "1 feature row refers to a missing row",
    "INSERT INTO page_importance (page_id, rank, in_links) VALUES (4711, 1, 1)": "1 importance row refers",
    "INSERT INTO learned_pages (page_id, at) VALUES (4711, 1)": "1 learned row refers to a missing row of pages",
    "INSERT INTO copies (page_id, at, archive_id, digest, text, status, has_links) "
    "VALUES (1, 1, 4711, '', '', 0, false)": "1 copy refers to a missing row of archives",
    "DELETE FROM sites": "10 pages refer to a missing row of sites",
    "DELETE FROM visits WHERE page_id = 1": "1 page counts visits but has none in the log; the first is https://a",
}


def test_a_living_database_has_none(store_url: str) -> None:
    """Adding, claiming, committing, giving back and pausing leave nothing that does not fit."""
    assert contradictions_of(store_url) == []


@pytest.mark.parametrize("statement", [*DERIVED, *FACTS])
def test_each_is_found(store_url: str, statement: str) -> None:
    """Every count, place or lead that is wrong is named; made anew is what follows from other rows, and only that."""
    contradictions_of(store_url)
    found = contradictions_of(store_url, statement)
    words = {**DERIVED, **FACTS}[statement]
    (named,) = [one for one in found if words in one.what][:1]
    assert named.is_derived == (statement in DERIVED)
    left = contradictions_of(store_url, mend=True)
    assert [one.what for one in left if one.is_derived] == []
    assert (named in left) == (statement in FACTS)


def test_counts_made_anew_are_the_same(store_url: str) -> None:
    """To count again what was counted right changes nothing, seconds apart from the order of adding."""

    async def run() -> None:
        store = open_store(store_url, ManualClock(NOW))
        await live(store)
        before = (
            await store.maintenance.totals(NOW),
            await store.maintenance.host_days(),
            await store.maintenance.days(),
        )
        await store.maintenance.recount()
        assert (
            await store.maintenance.totals(NOW),
            await store.maintenance.host_days(),
            await store.maintenance.days(),
        ) == before
        await store.close()

    asyncio.run(run())


def test_writers_at_odds_leave_none(store_url: str) -> None:
    """Six writers pause, watch, claim, call, move, commit and give back the same pages; places and counts are true."""
    urls = [f"https://a.example/{n}" for n in range(30)]
    new = [NewPage(url=url, host="a.example") for url in urls]

    async def one(store: SqlStore, number: int) -> None:
        for turn in range(6):
            some = urls[(number * 7 + turn * 3) % 30 :][:12]
            claimed = await store.queue.claim(NOW + turn, 8, NOW + 900, f"owner {number}")
            await store.pages.pause(some[:4])
            await store.queue.move([(n, NOW + turn, "moved") for n in range(number + 1, 30, 3)])
            chosen = await store.queue.claim_pages(range(1, 30, 4), NOW, NOW + 900, f"owner {number}")
            entries = tuple(entry(page, NOW + turn + number / 10) for page in claimed[:4])
            await store.visit_log.commit(
                Batch(entries=entries, wake=tuple((url, NOW) for url in some), discovered=tuple(new))
            )
            await store.queue.release([(page.id, None) for page in (*claimed[4:], *chosen[1:])])
            await store.pages.add([page for page in new if page.url in some[2:6]], NOW)

    async def run() -> None:
        stores = [open_store(store_url, ManualClock(NOW)) for _ in range(6)]
        await stores[0].pages.add(new[:20], NOW)
        await asyncio.gather(*(one(store, number) for number, store in enumerate(stores)))
        assert await stores[0].maintenance.contradictions() == []
        await stores[0].queue.end_leases("owner 0")
        assert await stores[0].maintenance.contradictions() == []
        assert await stores[0].queue.stale_leases(NOW + 1000) == (await stores[0].maintenance.totals(NOW)).in_flight
        for store in stores:
            await store.close()

    asyncio.run(run())
