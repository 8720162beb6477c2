"""What an import asks the store, and what it stores beside copies, on both engines."""

from __future__ import annotations

import asyncio

from webstrata.clock import DAY_S, ManualClock
from webstrata.records import ArchivedCopy, ImportProgress
from webstrata.remember.engine import open_store

NOW = 1.8e9


def _copy(page: int, at: float) -> ArchivedCopy:
    return ArchivedCopy(url=f"http://example.org/{page}", at=at, archive="a")


def test_stored_copies(store_url: str) -> None:
    """For each page and time the store says whether there is a copy, also for many pages, and of unknown pages."""

    async def run() -> None:
        store = open_store(store_url, ManualClock(NOW))
        try:
            copies = [_copy(page, NOW - page % 7 * DAY_S) for page in range(3000)]
            await store.copies.add(copies, None, NOW)
            keys = [(copy.url, copy.at) for copy in copies]
            asked = [*keys, (copies[0].url, copies[0].at + 1), (copies[1].url, copies[0].at), ("http://x.org/", NOW)]
            assert await store.copies.stored(asked) == [True] * 3000 + [False] * 3
            assert await store.copies.stored([]) == []
        finally:
            await store.close()

    asyncio.run(run())


def test_progress_without_copies(store_url: str) -> None:
    """A batch of which nothing was kept moves the position of its import."""

    async def run() -> None:
        store = open_store(store_url, ManualClock(NOW))
        try:
            for position in ("5", "9"):
                progress = ImportProgress(key="k", position=position, read=7, skipped={"malformed": 7}, at=NOW)
                assert await store.copies.add([], progress, NOW) == []
                assert await store.copies.progress("k") == progress
        finally:
            await store.close()

    asyncio.run(run())


def test_features_of_several_times(store_url: str) -> None:
    """Features are stored with the time of each page's content; those of a later content are kept."""

    async def run() -> None:
        store = open_store(store_url, ManualClock(NOW))
        try:
            await store.copies.add([_copy(page, NOW) for page in (1, 2)], None, NOW)
            ids = await store.pages.known(["http://example.org/1", "http://example.org/2"])
            first, second = ids.values()
            await store.facts.save_features(
                {first: {"words": 1.0}, second: {"words": 2.0}}, {first: 10.0, second: 30.0}
            )
            await store.facts.save_features({first: {"words": 3.0}, second: {"words": 4.0}}, 20.0)
            assert await store.facts.features([first, second]) == {first: {"words": 3.0}, second: {"words": 2.0}}
        finally:
            await store.close()

    asyncio.run(run())
