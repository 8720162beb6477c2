"""Batches of finished visits: bounded, settled in order, and their errors told once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from webstrata.errors import StoreError
from webstrata.flows.crawl.parse import ParsedContent
from webstrata.flows.crawl.polite_client import Visited
from webstrata.flows.crawl.visit_batcher import MAX_BYTES, MAX_RECORDS, READ_TOGETHER, VisitBatcher
from webstrata.records import Exchange, Outcome, Page, Visit


def visited(number: int, size: int = 0) -> Visited:
    page = Page(id=number, url=f"http://a.test/{number}", host="a.test")
    exchange = Exchange(url=page.url, at=0.0, duration_s=0.0, request_head=b"", body=bytes(size))
    return Visited(page=page, at=float(number), exchanges=(exchange,))


class Settling:
    """Settles slowly and remembers the batches; fails where told to."""

    def __init__(self, fail_at: frozenset[int] = frozenset()) -> None:
        self.batches: list[list[int]] = []
        self.bytes: list[int] = []
        self.extras = 0
        self.busy = False
        self.parts: list[int] = []
        self._fail_at = fail_at

    async def read(self, batch: Sequence[Visited]) -> list[ParsedContent | None]:
        self.parts.append(len(batch))
        await asyncio.sleep(0.001)
        if any(one.page.id < 0 for one in batch):
            raise StoreError("unreadable")
        return [None for _ in batch]

    async def settle(
        self, batch: Sequence[Visited], looks: Sequence[ParsedContent | None], extras: Sequence[Exchange]
    ) -> list[Visit]:
        assert len(looks) == len(batch)
        assert not self.busy, "one batch at a time"
        self.busy = True
        self.batches.append([one.page.id for one in batch])
        self.bytes.append(sum(len(exchange.body) for one in batch for exchange in one.exchanges))
        self.extras += len(extras)
        await asyncio.sleep(0.001)
        self.busy = False
        if len(self.batches) in self._fail_at:
            raise StoreError(f"batch {len(self.batches)}")
        return [Visit(page_id=one.page.id, url=one.page.url, at=one.at, outcome=Outcome.NEW) for one in batch]


def test_batches_are_bounded_however_many_wait() -> None:
    """A thousand lanes that deliver at once make batches of at most 256 records, each record in one of them."""

    async def main() -> None:
        settling, settled = Settling(), list[int]()
        intake = VisitBatcher(
            settling.read, settling.settle, lambda visits: settled.extend(visit.page_id for visit in visits)
        )
        intake.start()
        await asyncio.gather(*(intake.put(visited(n)) for n in range(1500)))
        await intake.stop()
        assert max(map(len, settling.batches)) <= MAX_RECORDS
        assert sorted(settled) == list(range(1500))
        assert len(settling.batches) == 6
        assert max(settling.parts) <= READ_TOGETHER

    asyncio.run(main())


def test_large_bodies_make_small_batches() -> None:
    """A batch takes no further visit once it holds 64 MB: memory stays flat whatever is fetched."""

    async def main() -> None:
        settling = Settling()
        intake = VisitBatcher(settling.read, settling.settle, lambda visits: None)
        intake.start()
        await asyncio.gather(*(intake.put(visited(n, MAX_BYTES // 2)) for n in range(6)))
        await intake.stop()
        assert max(settling.bytes) <= MAX_BYTES
        assert [len(batch) for batch in settling.batches] == [2, 2, 2]

    asyncio.run(main())


def test_flush_waits_for_all_that_was_put() -> None:
    """After `flush` everything put before is settled, extras too; an empty intake flushes at once."""

    async def main() -> None:
        settling = Settling()
        intake = VisitBatcher(settling.read, settling.settle, lambda visits: None)
        intake.start()
        await asyncio.wait_for(intake.flush(), 10)
        for n in range(300):
            await intake.put(visited(n))
        intake.keep(visited(0).exchanges[0])
        await intake.flush()
        assert sum(map(len, settling.batches)) == 300
        assert [n for batch in settling.batches for n in batch] == list(range(300))
        assert settling.extras == 1
        await intake.put(visited(300))
        await intake.stop()
        assert sum(map(len, settling.batches)) == 301

    asyncio.run(main())


def test_a_lone_visit_is_settled_soon() -> None:
    """Nothing waits longer than half a second for company."""

    async def main() -> None:
        settled = asyncio.Event()
        settling = Settling()
        intake = VisitBatcher(settling.read, settling.settle, lambda visits: settled.set())
        intake.start()
        await intake.put(visited(1))
        await asyncio.wait_for(settled.wait(), 10)
        await intake.stop()

    asyncio.run(main())


def test_errors_surface_once() -> None:
    """The error of a batch is raised to one who puts or flushes, once; later batches are settled."""

    async def main() -> None:
        settling, settled = Settling(frozenset({1})), list[int]()
        intake = VisitBatcher(
            settling.read, settling.settle, lambda visits: settled.extend(visit.page_id for visit in visits)
        )
        intake.start()
        await intake.put(visited(1))
        with pytest.raises(StoreError, match="batch 1"):
            await intake.flush()
        await intake.flush()
        await intake.put(visited(2))
        await intake.stop()
        assert settled == [2]

    asyncio.run(main())


def test_a_batch_that_cannot_be_read_is_an_error_like_others() -> None:
    """An error while reading surfaces too, and the batches before and after are settled."""

    async def main() -> None:
        settling, settled = Settling(), list[int]()
        intake = VisitBatcher(
            settling.read, settling.settle, lambda visits: settled.extend(visit.page_id for visit in visits)
        )
        intake.start()
        for number in (1, -1, 2):
            await intake.put(visited(number))
            if number < 0:
                with pytest.raises(StoreError, match="unreadable"):
                    await intake.flush()
            else:
                await intake.flush()
        await intake.stop()
        assert settled == [1, 2]

    asyncio.run(main())


def test_stop_tells_the_last_error() -> None:
    """An error of the last batch is not lost: `stop` raises it, and the intake has ended."""

    async def main() -> None:
        settling = Settling(frozenset({1}))
        intake = VisitBatcher(settling.read, settling.settle, lambda visits: None)
        intake.start()
        await intake.put(visited(1))
        with pytest.raises(StoreError):
            await intake.stop()
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(main())
