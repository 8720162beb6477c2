"""Rounds whose store or archive fails for a moment."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from tests.flows.conftest import DAY_S, Archiver
from tests.flows.scripted_servers import reply
from webstrata.archive.warc.archive import WarcArchive
from webstrata.errors import ArchiveError, StoreError
from webstrata.records import Batch
from webstrata.remember.store import SqlQueue, SqlVisitLog


class _FailsOnce:
    """Wraps a method of a real store or archive and raises at chosen calls."""

    def __init__(self, method: Callable[..., Any], error: Exception, calls: set[int]) -> None:
        self._method, self._error, self._calls = method, error, calls
        self.count = 0

    async def __call__(self, *args: Any) -> Any:
        self.count += 1
        if self.count in self._calls:
            raise self._error
        return await self._method(*args)


@pytest.mark.parametrize("part", ["commit", "append", "commit-often", "release"])
def test_a_failed_round_loses_and_repeats_no_visit(
    run_scenario: Callable[..., None], monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    """After a store or an archive failed in a round, the next round visits its pages and every visit is logged once."""
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
        monkeypatch.setattr(SqlQueue, "release", lambda self, pages: release(self, pages), raising=False)

    async def scenario(archiver: Archiver) -> None:
        urls = [f"http://{host}.test/{n}" for host in "abc" for n in range(4)]
        for url in urls:
            archiver.servers.serve(url, reply(f"<p>{url}"))
        await archiver.watch(*urls)
        await archiver.run(600)
        assert wrapped.count > len(calls)
        for url in urls:
            assert await archiver.outcomes(url) == ["new"]
        assert (await archiver.totals()).visits == 12
        assert (await archiver.totals()).in_flight == 0

    run_scenario(scenario)


def test_an_error_during_a_round_does_not_end_the_loop(
    run_scenario: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store that fails while visits are in flight ends only the round: the next round can visit their hosts."""
    commit = SqlVisitLog.commit
    failed = asyncio.Event()

    async def fails_first(self: SqlVisitLog, batch: Batch) -> None:
        if not failed.is_set():
            failed.set()
            raise StoreError("locked, says the test")
        await commit(self, batch)

    monkeypatch.setattr(SqlVisitLog, "commit", fails_first)

    async def scenario(archiver: Archiver) -> None:
        slow = "http://a.test/slow"
        archiver.servers.serve(slow, reply("half", length=10, after="stall"), reply("<p>whole"))
        pages = [f"http://b.test/{n}" for n in range(300)]
        for url in pages:
            archiver.servers.serve(url, reply(f"<p>{url}"))
        await archiver.watch(slow, *pages)
        await archiver.run(3 * DAY_S)
        assert failed.is_set()
        assert "new" in await archiver.outcomes(slow)
        assert all(page.visits >= 1 for page in (await archiver.pages()).values())

    at_once = ("polite.delay=0s", "polite.address_delay=0s")
    run_scenario(scenario, "crawl.round=1h", "budget.total=1/page/day", *at_once, "fetch.first_byte_timeout=1s")


def test_politeness_of_a_failed_transaction_is_kept(
    run_scenario: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A Retry-After is respected after a restart even if the first transaction with it failed."""
    wrapped = _FailsOnce(SqlVisitLog.commit, StoreError("locked, says the test"), {1})
    monkeypatch.setattr(SqlVisitLog, "commit", lambda self, batch: wrapped(self, batch))

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve("http://a.test/0", reply("later", 429, Retry_After="7200"), reply("<p>now"))
        await archiver.watch("http://a.test/0", "http://b.test/0")
        await archiver.run(120)
        await archiver.watch("http://a.test/1")
        await archiver.run(3 * 3600)
        first, second = archiver.servers.requests("a.test", "/0")[0], archiver.servers.requests("a.test", "/1")[0]
        assert second.at - first.at >= 7200

    run_scenario(scenario)
