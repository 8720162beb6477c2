"""Visits are parsed apart and committed in bounded batches; slow parsing delays only its own host."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from webstrata.errors import StoreError
from webstrata.flows.crawl import visit_batcher
from webstrata.flows.crawl.discovery import Discovery
from webstrata.flows.crawl.parse import ParsedContent
from webstrata.flows.crawl.visit_batcher import (
    MAX_BYTES,
    MAX_UNPARSED_OF_HOST,
    MAX_VISITS,
    CrawlProgress,
    VisitBatcher,
)
from webstrata.records import Exchange, Outcome, Page, Visit, VisitResult

UNPARSABLE = -1
"""The id of a page whose parsing fails."""


def visit_result(number: int, size: int = 0, host: str | None = None) -> VisitResult:
    host = host or f"h{number}.test"
    page = Page(id=number, url=f"http://{host}/{number}", host=host)
    exchange = Exchange(url=page.url, at=0.0, duration_s=0.0, request_head=b"", body=bytes(size))
    return VisitResult(page=page, at=float(number), exchanges=(exchange,))


class SlowPipeline:
    """Commits slowly and records the batches; the batches with the numbers `fail_at` fail."""

    def __init__(self, fail_at: frozenset[int] = frozenset()) -> None:
        self.batches: list[list[int]] = []
        self.bytes: list[int] = []
        self.robots = 0
        self.stuck = asyncio.Event()
        """Pages of the host `stuck.test` are parsed when this is set."""
        self._is_committing = False
        self._fail_at = fail_at

    async def parse_visit(self, result: VisitResult, discovery: Discovery) -> ParsedContent | None:
        if result.page.host == "stuck.test":
            await self.stuck.wait()
        await asyncio.sleep(0.001)
        if result.page.id == UNPARSABLE:
            raise StoreError("cannot be parsed")
        return None

    async def commit(
        self,
        batch: Sequence[VisitResult],
        parsed: Sequence[ParsedContent | None],
        robots: Sequence[Exchange],
        discovery: Discovery,
    ) -> list[Visit]:
        assert len(parsed) == len(batch)
        assert not self._is_committing, "one batch at a time"
        self._is_committing = True
        self.batches.append([result.page.id for result in batch])
        self.bytes.append(sum(len(exchange.body) for result in batch for exchange in result.exchanges))
        self.robots += len(robots)
        await asyncio.sleep(0.001)
        self._is_committing = False
        if len(self.batches) in self._fail_at:
            raise StoreError(f"batch {len(self.batches)}")
        return [
            Visit(page_id=result.page.id, url=result.page.url, at=result.at, outcome=Outcome.NEW) for result in batch
        ]


class Committed(CrawlProgress):
    """Records the pages of committed visits."""

    def __init__(self) -> None:
        self.pages: list[int] = []
        self.some = asyncio.Event()

    def visited(self, visits: Sequence[Visit]) -> None:
        self.pages += [visit.page_id for visit in visits]
        self.some.set()


def make_batcher(
    pipeline: SlowPipeline, progress: CrawlProgress | None = None, *, whole_batches: bool = False
) -> VisitBatcher:
    discovery = Discovery((), {}, due_at=0.0)
    batcher = VisitBatcher(pipeline, discovery, progress or CrawlProgress(), whole_batches=whole_batches)
    batcher.start()
    return batcher


def test_batches_are_bounded_however_many_visits_wait() -> None:
    """1500 visits put at once make batches of at most 256 visits, and each visit is in one batch."""

    async def main() -> None:
        pipeline, committed = SlowPipeline(), Committed()
        batcher = make_batcher(pipeline, committed)
        await asyncio.gather(*(batcher.put(visit_result(n)) for n in range(1500)))
        await batcher.stop()
        assert max(map(len, pipeline.batches)) <= MAX_VISITS
        assert sorted(committed.pages) == list(range(1500))
        assert batcher.visits == 1500

    asyncio.run(main())


def test_whole_batches_end_only_when_they_are_flushed() -> None:
    """However many visits are put, and however long that takes, they are one batch; two flushes make two."""

    async def main() -> None:
        pipeline = SlowPipeline()
        batcher = make_batcher(pipeline, whole_batches=True)
        for n in range(2 * MAX_VISITS):
            await batcher.put(visit_result(n))
        await batcher.flush()
        await batcher.put(visit_result(-2))
        await batcher.stop()
        assert [len(batch) for batch in pipeline.batches] == [2 * MAX_VISITS, 1]
        assert pipeline.batches[0] == list(range(2 * MAX_VISITS)), "in the order of the visits"

    asyncio.run(main())


def test_uncommitted_visits_follow_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the clock is set, visits that are parsed, and those whose batch waits for its commit, are moved with it."""

    async def main() -> None:
        pipeline = SlowPipeline()
        batcher = make_batcher(pipeline)
        lock = asyncio.Lock()
        times: list[tuple[float, float]] = []
        commit = pipeline.commit

        async def commit_later(batch: Sequence[VisitResult], *rest: Any) -> list[Visit]:
            async with lock:
                times.extend((result.at, result.page.added_at) for result in batch)
                return await commit(batch, *rest)

        monkeypatch.setattr(pipeline, "commit", commit_later)
        async with lock:
            await batcher.put(visit_result(1))
            batcher.hurry()
            await asyncio.sleep(0.1)
            await batcher.put(visit_result(2, host="stuck.test"))
            batcher.shift(1000.0)
        pipeline.stuck.set()
        await batcher.stop()
        assert times == [(1001.0, 1000.0), (1002.0, 1000.0)]

    asyncio.run(main())


def test_a_host_with_many_visits_waits_for_parsing_not_for_commits(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next visit of a host is admitted as soon as one of its visits is parsed, before any is committed."""
    monkeypatch.setattr(visit_batcher, "MAX_WAIT_S", 300.0)

    async def main() -> None:
        pipeline = SlowPipeline()
        batcher = make_batcher(pipeline)
        async with asyncio.timeout(30):
            for n in range(3 * MAX_UNPARSED_OF_HOST):
                await batcher.put(visit_result(n, host="a.test"))
        assert pipeline.batches == []
        await batcher.stop()

    asyncio.run(main())


def test_large_bodies_make_small_batches() -> None:
    """A batch of 64 MB takes no further visit: memory is bounded whatever is fetched."""

    async def main() -> None:
        pipeline = SlowPipeline()
        batcher = make_batcher(pipeline)
        await asyncio.gather(*(batcher.put(visit_result(n, MAX_BYTES // 2)) for n in range(6)))
        await batcher.stop()
        assert max(pipeline.bytes) <= MAX_BYTES
        assert sum(map(len, pipeline.batches)) == 6

    asyncio.run(main())


def test_flush_waits_for_all_visits_put_before() -> None:
    """After `flush` all visits and robots.txt exchanges are committed; an empty batcher is flushed at once."""

    async def main() -> None:
        pipeline = SlowPipeline()
        batcher = make_batcher(pipeline)
        await asyncio.wait_for(batcher.flush(), 10)
        for n in range(300):
            await batcher.put(visit_result(n))
        batcher.add_robots(visit_result(0).exchanges[0])
        await batcher.flush()
        assert sorted(n for batch in pipeline.batches for n in batch) == list(range(300))
        assert pipeline.robots == 1
        await batcher.put(visit_result(300))
        await batcher.stop()
        assert sum(map(len, pipeline.batches)) == 301

    asyncio.run(main())


def test_a_single_visit_is_committed_soon() -> None:
    """A visit is committed without further visits and without `flush`."""

    async def main() -> None:
        committed = Committed()
        batcher = make_batcher(SlowPipeline(), committed)
        await batcher.put(visit_result(1))
        await asyncio.wait_for(committed.some.wait(), 10)
        await batcher.stop()

    asyncio.run(main())


def test_the_error_of_a_batch_is_raised_once() -> None:
    """The error of a batch is raised by the next `put` or `flush` only; later batches are committed."""

    async def main() -> None:
        pipeline, committed = SlowPipeline(frozenset({1})), Committed()
        batcher = make_batcher(pipeline, committed)
        await batcher.put(visit_result(1))
        with pytest.raises(StoreError, match="batch 1"):
            await batcher.flush()
        await batcher.flush()
        await batcher.put(visit_result(2))
        await batcher.stop()
        assert committed.pages == [2]

    asyncio.run(main())


def test_an_error_of_parsing_is_raised_like_others() -> None:
    """An error of parsing is raised by `flush`, and the batches before and after it are committed."""

    async def main() -> None:
        committed = Committed()
        batcher = make_batcher(SlowPipeline(), committed)
        for number in (1, UNPARSABLE, 2):
            await batcher.put(visit_result(number))
            if number == UNPARSABLE:
                with pytest.raises(StoreError, match="cannot be parsed"):
                    await batcher.flush()
            else:
                await batcher.flush()
        await batcher.stop()
        assert committed.pages == [1, 2]

    asyncio.run(main())


def test_stop_raises_the_error_of_the_last_batch() -> None:
    """`stop` raises the error of the last batch, and no task is left."""

    async def main() -> None:
        batcher = make_batcher(SlowPipeline(frozenset({1})))
        await batcher.put(visit_result(1))
        with pytest.raises(StoreError):
            await batcher.stop()
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(main())


def test_a_content_that_is_hard_to_parse_delays_only_its_host() -> None:
    """Visits of other hosts are committed meanwhile; its host may have a bounded number of unparsed visits."""

    async def main() -> None:
        pipeline, committed = SlowPipeline(), Committed()
        batcher = make_batcher(pipeline, committed)
        for n in range(MAX_UNPARSED_OF_HOST):
            await batcher.put(visit_result(1000 + n, host="stuck.test"))
        one_more = asyncio.create_task(batcher.put(visit_result(2000, host="stuck.test")))
        for n in range(500):
            await batcher.put(visit_result(n))
        async with asyncio.timeout(30):
            while len(committed.pages) < 500:
                committed.some.clear()
                await committed.some.wait()
        assert sorted(committed.pages) == list(range(500))
        assert not one_more.done()
        pipeline.stuck.set()
        await one_more
        await batcher.stop()
        assert len(committed.pages) == 500 + MAX_UNPARSED_OF_HOST + 1

    asyncio.run(main())


def test_stop_drops_what_cannot_be_parsed_in_time() -> None:
    """`stop` with a time limit commits what is parsed, drops the rest, and leaves no task."""

    async def main() -> None:
        pipeline, committed = SlowPipeline(), Committed()
        batcher = make_batcher(pipeline, committed)
        await batcher.put(visit_result(1, host="stuck.test"))
        await batcher.put(visit_result(2))
        await asyncio.wait_for(committed.some.wait(), 30)
        await asyncio.wait_for(batcher.stop(grace_s=0.05), 30)
        assert committed.pages == [2]
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(main())
