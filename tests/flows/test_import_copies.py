"""The import of copies into a real store: counts, progress, dry runs, and continuing after an end at any time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from webstrata.clock import DAY_S, ManualClock
from webstrata.flows.import_copies import ImportResult, import_copies
from webstrata.ports import Store
from webstrata.records import ArchivedCopy, ContentFeatures, CopyRow, NewPage, PageState, ReadBatch, SkippedRow
from webstrata.remember.engine import open_store
from webstrata.remember.homes.store_home import StoreHome
from webstrata.wanted_pages import WantedPages, wanted_pages

NOW = 1.8e9
T = TypeVar("T")


class _Batches:
    """A source of these batches; the position is the number of the next one. `ends_at`: reading fails there."""

    key = "test"

    def __init__(self, batches: list[ReadBatch], ends_at: int | None = None) -> None:
        self._batches = batches
        self.ends_at = ends_at
        self.started: list[str] = []

    async def batches(self, position: str = "") -> AsyncIterator[ReadBatch]:
        self.started.append(position)
        for number in range(int(position or 0), len(self._batches)):
            if number == self.ends_at:
                raise InterruptedError
            yield self._batches[number]


def _copy(page: str, day: int, **more: Any) -> ArchivedCopy:
    return ArchivedCopy(
        url=f"http://example.org/{page}", at=NOW - (1000 - day) * DAY_S, archive="a", digest=f"sha1:{day}", **more
    )


def _batch(number: int, *copies: ArchivedCopy, **more: Any) -> ReadBatch:
    return ReadBatch(copies=list(copies), read=len(copies), position=str(number), **more)


def _run(tmp_path: Path, act: Callable[[Store], Awaitable[T]]) -> T:
    async def run() -> T:
        url = f"sqlite:///{tmp_path}/test.db"
        store = open_store(url, ManualClock(NOW), create=not (tmp_path / "test.db").exists(), home=StoreHome(node="n"))
        try:
            return await act(store)
        finally:
            await store.close()

    return asyncio.run(run())


async def _import(store: Store, source: _Batches, wanted: WantedPages | None = None, **options: Any) -> ImportResult:
    return await import_copies(store, source, NOW, wanted=wanted or WantedPages(), **options)


async def _rows(store: Store, *pages: str) -> list[CopyRow]:
    ids = await store.pages.known([f"http://example.org/{page}" for page in pages])
    return await store.copies.rows(sorted(ids.values()))


def test_counts(tmp_path: Path) -> None:
    """Rows that the reader left out, duplicates and unwanted pages are counted; all rows add up."""
    skipped = SkippedRow(reason="malformed", where="x:1")
    source = _Batches(
        [
            _batch(1, _copy("a", 1), _copy("a", 2), _copy("b", 1), _copy("a", 1)),
            ReadBatch(
                copies=[_copy("a", 2), _copy("c/d/e", 1)],
                skipped=[skipped],
                skipped_counts={"malformed": 1},
                read=3,
                position="2",
            ),
            ReadBatch(skipped_counts={"future": 2}, read=2, position="3"),
        ]
    )

    async def act(store: Store) -> None:
        seen = []
        wanted = wanted_pages(["http://example.org/*"], max_depth=2)
        result = await _import(store, source, wanted, on_batch=lambda batch, progress: seen.append((batch, progress)))
        assert (result.read, result.kept) == (9, 3)
        assert result.skipped == {"duplicate": 2, "malformed": 1, "too-deep": 1, "future": 2}
        assert [len(batch.copies) for batch, _ in seen] == [3, 0, 0]
        assert [progress.read for _, progress in seen] == [4, 7, 9]
        assert [row.digest for row in await _rows(store, "a")] == ["sha1:1", "sha1:2"]
        page = await store.pages.get("http://example.org/a")
        assert page is not None
        assert page.state is PageState.CAPTURED

    _run(tmp_path, act)


def test_interrupted_import_continues(tmp_path: Path) -> None:
    """After an end between any two batches, the same import goes on there: each copy once, and the counts of a whole
    import."""
    batches = [_batch(n + 1, _copy("a", n), _copy("b", n), _copy("a", n)) for n in range(4)]
    for ends_at in range(4):
        folder = tmp_path / str(ends_at)
        folder.mkdir()
        source = _Batches(batches, ends_at)
        with pytest.raises(InterruptedError):
            _run(folder, lambda store, source=source: _import(store, source))
        source.ends_at = None
        result = _run(folder, lambda store, source=source: _import(store, source))
        assert source.started == ["", str(ends_at) if ends_at else ""]
        assert (result.read, result.kept, result.skipped) == (12, 8, {"duplicate": 4})
        assert result.continued_from == 3 * ends_at
        assert len(_run(folder, lambda store: _rows(store, "a", "b"))) == 8


def test_finished_import_is_not_read_again(tmp_path: Path) -> None:
    """It says when it was finished; with `restart` it is read again and adds nothing. Other pages: another import."""

    async def act(store: Store) -> None:
        source = _Batches([_batch(1, _copy("a", 1))])
        assert (await _import(store, source)).finished_before is None
        again = await _import(store, source)
        assert again.finished_before is not None
        assert (again.read, again.finished_before.kept, len(source.started)) == (0, 1, 1)
        restarted = await _import(store, source, restart=True)
        assert (restarted.read, restarted.kept, restarted.skipped) == (1, 0, {"duplicate": 1})
        other = await _import(store, source, wanted_pages(max_depth=3))
        assert (other.finished_before, other.skipped) == (None, {"duplicate": 1})
        assert [one.is_finished for one in await store.copies.imports()] == [True, True]

    _run(tmp_path, act)


def test_dry_run_stores_nothing(tmp_path: Path) -> None:
    """A dry run counts as the import would, and neither copies nor progress are stored."""

    async def act(store: Store) -> None:
        source = _Batches([_batch(1, _copy("a", 1), _copy("b", 1)), _batch(2, _copy("a", 1), _copy("a", 2))])
        dry = await _import(store, source, dry_run=True)
        assert await store.pages.known(["http://example.org/a"]) == {}
        assert await store.copies.imports() == []
        real = await _import(store, source)
        assert (dry.read, dry.kept, dry.skipped) == (real.read, real.kept, real.skipped) == (4, 3, {"duplicate": 1})
        assert (await _import(store, source, dry_run=True)).skipped == {"duplicate": 4}

    _run(tmp_path, act)


def test_later_copies_complete_stored_ones(tmp_path: Path) -> None:
    """A copy of the same time with a content is a duplicate, and adds what the stored one lacks."""

    async def act(store: Store) -> None:
        await _import(store, _Batches([_batch(1, _copy("a", 1))]))
        result = await _import(store, _Batches([_batch(1, _copy("a", 1, text="words", links=b""))]), restart=True)
        assert result.skipped == {"duplicate": 1}
        assert [(row.text, row.has_links) for row in await _rows(store, "a")] == [("words", True)]

    _run(tmp_path, act)


def test_features_are_stored_with_the_pages(tmp_path: Path) -> None:
    """Of several contents of a page, the features of the latest one are kept, whatever the order of imports."""

    async def act(store: Store) -> None:
        def features(day: int) -> list[ContentFeatures]:
            copy = _copy("a", day)
            return [ContentFeatures(url=copy.url, at=copy.at, features={"words": float(day)})]

        source = _Batches(
            [
                _batch(1, _copy("a", 5), _copy("a", 6), features=features(6) + features(5)),
                _batch(2, _copy("a", 2), features=features(2)),
            ]
        )
        await _import(store, source)
        ids = await store.pages.known(["http://example.org/a"])
        assert list((await store.facts.features(list(ids.values()))).values()) == [{"words": 6.0}]

    _run(tmp_path, act)


def test_watched_pages(tmp_path: Path) -> None:
    """`watched` keeps only pages that are visited; `watch` makes imported pages such pages."""

    async def act(store: Store) -> None:
        await store.pages.add([NewPage(url="http://example.org/a", host="example.org")], NOW)
        await store.pages.add([NewPage(url="http://example.org/b", host="example.org", state=PageState.CAPTURED)], NOW)
        source = _Batches([_batch(1, _copy("a", 1), _copy("b", 1), _copy("c", 1))])
        result = await _import(store, source, wanted_pages(watched=True))
        assert (result.kept, result.skipped) == (1, {"outside": 2})
        await _import(store, source, watch=True)
        pages = await store.pages.by_url([f"http://example.org/{name}" for name in "abc"])
        assert [page.state for page in pages.values()] == [PageState.ACTIVE] * 3

    _run(tmp_path, act)
