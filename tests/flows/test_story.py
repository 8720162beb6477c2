"""The story of a page: rows of the log are read in batches, and no visit is lost or counted twice."""

from __future__ import annotations

import asyncio
from pathlib import Path

from msgspec.structs import replace

from webstrata.clock import ManualClock
from webstrata.flows.story import PageStory, page_story
from webstrata.records import (
    Batch,
    ChangeKind,
    FinishedVisit,
    NewPage,
    Outcome,
    Page,
    Position,
    Visit,
)
from webstrata.remember.engine import open_store

VISITS = 1_203
EVERY = 100
"""Each hundredth visit found a change."""


def _visit(page: Page, number: int) -> Visit:
    changed = number % EVERY == 0
    kind = ChangeKind.NEW if number == 0 else ChangeKind.CONTENT if changed else ChangeKind.NONE
    return Visit(
        page_id=page.id,
        url=page.url,
        at=float(number),
        outcome=Outcome.CHANGED if changed else Outcome.SAME,
        status=200,
        counts=changed and number > 0,
        kind=kind,
        raw=f"{number // EVERY:064x}",
        position=Position(file="a.warc.gz", offset=number, length=1, record_id=f"{number}"),
    )


async def _story(path: Path, since: float | None, until: float | None) -> PageStory:
    store = open_store(f"sqlite:///{path}", ManualClock())
    try:
        await store.pages.add([NewPage(url="https://a.example/", host="a.example")], 0.0)
        (page,) = await store.queue.claim(0.0, 1, 60.0, "test")
        for start in range(0, VISITS, 100):
            entries = tuple(
                FinishedVisit(page=replace(page, visits=number + 1), visit=_visit(page, number))
                for number in range(start, min(VISITS, start + 100))
            )
            await store.visit_log.commit(Batch(entries=entries))
        return await page_story(store, page, since, until)
    finally:
        await store.close()


def test_batches(tmp_path: Path) -> None:
    """All visits are counted once, and each change has the version before it."""
    story = asyncio.run(_story(tmp_path / "store.db", None, None))

    offsets = [event.visit.position.offset for event in story.events if event.visit.position]
    assert story.visits == VISITS
    assert offsets == list(range(1200, -1, -EVERY))
    assert story.changes == 12
    assert [event.quiet_visits for event in story.events] == [2, *[EVERY - 1] * 12]
    assert story.quiet_first == 0
    assert [event.before is None for event in story.events] == [False] * 12 + [True]
    for event in story.events[:-1]:
        assert event.before is not None
        assert event.before.raw != event.visit.raw


def test_period(tmp_path: Path) -> None:
    """Visits outside the period are not counted; the version before the first change may be older than the period."""
    story = asyncio.run(_story(tmp_path / "store.db", 300.0, 1000.0))

    assert story.visits == 701
    assert [event.visit.at for event in story.events] == [at * 100.0 for at in range(10, 2, -1)]
    assert story.events[-1].before is not None
