"""Rounds: slow hosts, dead hosts, and stores that fail for a moment."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from tests.flows.conftest import DAY_S, START_AT, Life
from tests.flows.town import reply, robots
from webstrata.archive.warc.archive import WarcArchive
from webstrata.errors import ArchiveError, StoreError
from webstrata.records import Batch
from webstrata.remember.store import SqlQueue, SqlVisitLog


def test_a_slow_host_delays_nobody_else(live: Callable[..., None]) -> None:
    """Fifty pages at a Crawl-delay of 30 s take their time; another host's pages are visited in theirs."""

    async def scenario(life: Life) -> None:
        life.town.play("http://a.test/robots.txt", robots("User-agent: *\nCrawl-delay: 30"))
        slow = [f"http://a.test/{n:02}" for n in range(50)]
        await life.watch(*slow, *[f"http://b.test/{n}" for n in range(10)])
        await life.run(120)
        quick_paths = life.town.paths("b.test")
        assert len(quick_paths) == 11
        assert life.town.times("b.test")[-1] <= START_AT + 30
        left = sorted((page.next_at, page.url) for page in (await life.pages()).values() if page.visits == 0)
        assert len(left) > 40
        assert [url for _, url in left] == slow[-len(left) :]
        times = [at for at, _ in left if at is not None]
        assert times == sorted(set(times)), "pages given back keep their order"
        assert all(after - before == pytest.approx(30) for before, after in pairwise(times))
        await life.run(2000)
        assert life.town.paths("a.test")[1:] == [f"/{n:02}" for n in range(50)]
        assert min(after - before for before, after in pairwise(life.town.times("a.test"))) >= 30

    live(scenario)


def test_hosts_that_cannot_be_reached_are_tried_ever_less(live: Callable[..., None]) -> None:
    """A refused connection and an unknown name are classes in the log; tries thin out and the loop goes on."""

    async def scenario(life: Life) -> None:
        refused, unknown = "http://closed.test/", "http://no-such-name.invalid/"
        life.town.play("http://a.test/", lambda asked: reply(f"<p>{asked.at}"))
        await life.watch(refused, unknown, "http://a.test/")
        await life.run(6 * 3600)
        assert set(await life.outcomes(refused)) == {"robots"}
        assert set(await life.outcomes(unknown)) == {"dns"}
        assert 3 <= len(await life.outcomes(refused)) <= 12
        assert 3 <= len(await life.outcomes(unknown)) <= 12
        assert len(await life.outcomes("http://a.test/")) >= 6
        detail = (await life.last(refused)).failure
        assert detail is not None
        assert "reach" in detail.detail

    live(
        scenario,
        "fetch.hosts=closed.test=127.0.0.2:1",
        "fetch.allow_private=127.0.0.2/32:1",
        "schedule.start_interval=1h",
        "schedule.min_interval=30m",
    )


class _FailsOnce:
    """Stands before a method of a real store or archive and raises at chosen calls."""

    def __init__(self, method: Callable[..., Any], error: Exception, calls: set[int]) -> None:
        self._method, self._error, self._calls = method, error, calls
        self.count = 0

    async def __call__(self, *args: Any) -> Any:
        self.count += 1
        if self.count in self._calls:
            raise self._error
        return await self._method(*args)


@pytest.mark.parametrize("part", ["commit", "append", "commit-often", "release"])
def test_a_failed_round_loses_and_doubles_nothing(
    live: Callable[..., None], monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    """After a store or an archive failed in a round, the next one takes the pages up and every visit is there once."""
    calls = {1, 2, 3} if part == "commit-often" else {1}
    if part == "append":
        wrapped = _FailsOnce(WarcArchive.append, ArchiveError("disk full, says the test"), calls)
        monkeypatch.setattr(WarcArchive, "append", lambda self, captures: wrapped(self, captures))
    else:
        wrapped = _FailsOnce(SqlVisitLog.commit, StoreError("locked, says the test"), calls)
        monkeypatch.setattr(SqlVisitLog, "commit", lambda self, batch: wrapped(self, batch))
    if part == "release":
        operation = vars(SqlQueue)["release"]
        release = _FailsOnce(
            lambda self, pages: operation.__get__(self, SqlQueue)(pages), StoreError("locked, says the test"), {1}
        )
        monkeypatch.setattr(SqlQueue, "release", lambda self, pages: release(self, pages))

    async def scenario(life: Life) -> None:
        urls = [f"http://{host}.test/{n}" for host in "abc" for n in range(4)]
        for url in urls:
            life.town.play(url, reply(f"<p>{url}"))
        await life.watch(*urls)
        await life.run(600)
        assert wrapped.count > len(calls)
        for url in urls:
            assert await life.outcomes(url) == ["new"]
        assert (await life.census()).visits == 12
        assert (await life.census()).in_flight == 0

    live(scenario)


def test_an_error_in_mid_round_is_the_rounds_not_the_loops(
    live: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store that fails while visits are in flight ends the round only: their hosts are free for the next."""
    commit = SqlVisitLog.commit
    failed = asyncio.Event()

    async def fails_first(self: SqlVisitLog, batch: Batch) -> None:
        if not failed.is_set():
            failed.set()
            raise StoreError("locked, says the test")
        await commit(self, batch)

    monkeypatch.setattr(SqlVisitLog, "commit", fails_first)

    async def scenario(life: Life) -> None:
        slow = "http://a.test/slow"
        life.town.play(slow, reply("half", length=10, after="stall"), reply("<p>whole"))
        pages = [f"http://b.test/{n}" for n in range(300)]
        for url in pages:
            life.town.play(url, reply(f"<p>{url}"))
        await life.watch(slow, *pages)
        await life.run(3 * DAY_S)
        assert failed.is_set()
        assert "new" in await life.outcomes(slow)
        assert all(page.visits >= 1 for page in (await life.pages()).values())

    live(scenario, "crawl.round=1h", "polite.delay=0s", "polite.address_delay=0s", "fetch.first_byte_timeout=1s")


def test_promises_of_a_failed_transaction_are_kept(live: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    """A rest that a host asked for is remembered across a restart though the first transaction with it failed."""
    wrapped = _FailsOnce(SqlVisitLog.commit, StoreError("locked, says the test"), {1})
    monkeypatch.setattr(SqlVisitLog, "commit", lambda self, batch: wrapped(self, batch))

    async def scenario(life: Life) -> None:
        life.town.play("http://a.test/0", reply("later", 429, Retry_After="7200"), reply("<p>now"))
        await life.watch("http://a.test/0", "http://b.test/0")
        await life.run(120)
        await life.watch("http://a.test/1")
        await life.run(3 * 3600)
        first, second = life.town.requests("a.test", "/0")[0], life.town.requests("a.test", "/1")[0]
        assert second.at - first.at >= 7200

    live(scenario)
