"""The changes of all pages: none is lost between batches, and the contents that are compared are limited."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from msgspec import Struct
from msgspec.structs import replace

from webstrata.clock import ManualClock
from webstrata.detect.diff.changed_words import changed_words
from webstrata.flows.changes import ChangeReader, PageChange, page_changes
from webstrata.records import (
    Batch,
    ChangeKind,
    Failure,
    FailureKind,
    FinishedVisit,
    NewPage,
    Outcome,
    Page,
    PageRules,
    Position,
    Visit,
    VisitFilter,
)
from webstrata.remember.engine import open_store

CHANGES = 250
FAILURES = 40
"""Failed visits before each change: the version before it is not one of the visits just before."""
CHANGED = VisitFilter(which="changes")


def _visits(page: Page, number: int) -> list[Visit]:
    at = 100.0 * number
    changed = Visit(
        page_id=page.id,
        url=page.url,
        at=at + 50,
        outcome=Outcome.CHANGED if number else Outcome.NEW,
        status=200,
        counts=number > 0,
        kind=ChangeKind.CONTENT if number else ChangeKind.NEW,
        raw=f"{number:064x}",
        position=Position(file="a.warc.gz", offset=number, length=1, record_id=f"{number}"),
    )
    failed = replace(
        changed,
        outcome=Outcome.ERROR,
        counts=False,
        kind=ChangeKind.ERROR,
        failure=Failure(kind=FailureKind.RESET, detail=""),
    )
    return [*(replace(failed, at=at + step) for step in range(FAILURES if number % 100 == 1 else 0)), changed]


async def _changes(path: Path, limit: int | None) -> list[PageChange]:
    store = open_store(f"sqlite:///{path}", ManualClock())
    try:
        await store.pages.add([NewPage(url="https://a.example/", host="a.example", tags=("t",))], 0.0)
        await store.pages.set_tag_rules("t", PageRules(layer="text"))
        (page,) = await store.queue.claim(0.0, 1, 60.0, "test")
        visits = [visit for number in range(CHANGES + 1) for visit in _visits(page, number)]
        await store.visit_log.commit(Batch(entries=tuple(FinishedVisit(page=page, visit=visit) for visit in visits)))
        return [change async for change in page_changes(store, CHANGED, limit)]
    finally:
        await store.close()


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[PageChange]:
    return asyncio.run(_changes(tmp_path_factory.mktemp("changes") / "store.db", None))


class _Capture(Struct, frozen=True):
    """A record of the archive."""

    body: bytes
    url: str = "https://a.example/"
    at: float = 0.0
    status: int = 200
    headers: tuple[tuple[str, str], ...] = (("content-type", "text/html"),)
    large: None = None


def _read(position: Position) -> _Capture:
    """A page that names its version."""
    return _Capture(f"<main><p>This is version {position.offset} of the page.</p></main>".encode())


def _name(visit: Visit) -> str:
    return f"{visit.at}"


def test_batches(found: list[PageChange], tmp_path: Path) -> None:
    """Each change is listed once, newest first, with the version before it and the rules that apply."""
    offsets = [change.visit.position.offset for change in found if change.visit.position]
    assert offsets == list(range(CHANGES, 0, -1))
    before = [change.before.position.offset for change in found if change.before and change.before.position]
    assert before == list(range(CHANGES - 1, -1, -1))
    assert {change.page.page_rules for change in found} == {PageRules(layer="text")}
    assert len(asyncio.run(_changes(tmp_path / "store.db", 7))) == 7


def test_words(found: list[PageChange]) -> None:
    """The difference of a change is that of its two versions."""
    reader = ChangeReader(_read, max_decoded=1_000, max_bytes=None)
    difference = reader.difference(found[0], _name)
    assert difference is not None
    assert changed_words(difference, 100) == (f"{CHANGES - 1}", f"{CHANGES}")


def test_the_total_is_limited(found: list[PageChange]) -> None:
    """After the contents that may be compared, changes have no difference, and their number is known."""
    size = len(_read(Position(file="a", offset=100, length=1, record_id="x")).body)
    reader = ChangeReader(_read, max_decoded=1_000, max_bytes=10 * size)
    compared = [reader.difference(change, _name) is not None for change in found[:30]]
    assert compared == [True] * 10 + [False] * 20
    assert (reader.left_out, reader.unreadable) == (20, 0)


def test_large_and_missing_contents(found: list[PageChange]) -> None:
    """A very large content is not compared; one that cannot be read is counted apart."""

    def large(position: Position) -> _Capture:
        return _Capture(b"x" * 5_000_000)

    def missing(position: Position) -> _Capture:
        raise FileNotFoundError(position.file)

    reader = ChangeReader(large, max_decoded=10_000_000, max_bytes=100_000_000)
    assert reader.difference(found[0], _name) is None
    assert reader.left_out == 1
    reader = ChangeReader(missing, max_decoded=1_000, max_bytes=None)
    assert reader.difference(found[0], _name) is None
    assert reader.unreadable == 1
