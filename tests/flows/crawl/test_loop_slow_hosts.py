"""A host that does not answer occupies its own lane only, and a stop ends its visits. The clock is the real one."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import pytest

from tests.flows.conftest import Archiver
from tests.flows.scripted_servers import ReceivedRequest, Reply, reply
from webstrata.clock import RealClock
from webstrata.flows.crawl.discovery import Discovery
from webstrata.flows.crawl.parse import ParsedContent
from webstrata.flows.crawl.visit_pipeline import VisitPipeline
from webstrata.records import VisitResult

AT_ONCE = ("polite.delay=0s", "polite.address_delay=0s")
STALLED = "http://a.test/"
HEALTHY = ("http://b.test/", "http://c.test/", "http://d.test/")


def stalls(archiver: Archiver) -> asyncio.Event:
    """The host of `STALLED` sends a part of each response and then nothing; the event is set at its first request."""
    reached = asyncio.Event()

    def answer(request: ReceivedRequest) -> Reply:
        reached.set()
        return Reply(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nwords", "stall")

    archiver.servers.serve(STALLED, answer)
    return reached


@pytest.mark.parametrize("policy", ["value", "dyn"])
def test_other_hosts_keep_their_rhythm_while_one_stalls(run_scenario: Callable[..., None], policy: str) -> None:
    """Pages that are visited every second are visited again and again while a visit of another host does not end."""

    async def scenario(archiver: Archiver) -> None:
        stalls(archiver)
        for url in HEALTHY:
            archiver.servers.serve(url, lambda request: reply(f"<p>{request.at}"))
        await archiver.watch(STALLED)
        await archiver.watch(*HEALTHY, every_s=1.0)

        def are_visited_often() -> bool:
            return all(archiver.servers.paths(host).count("/") >= 4 for host in ("b.test", "c.test", "d.test"))

        async with archiver.node.crawling() as loop:
            running = asyncio.create_task(loop.run())
            async with asyncio.timeout(60):
                while not are_visited_often():  # noqa: ASYNC110 - the servers have no event
                    await asyncio.sleep(0.1)
            loop.stop()
            await running
        assert archiver.servers.paths("a.test") == ["/robots.txt", "/"]
        assert await archiver.visits(STALLED) == [], "its visit was cancelled by the stop"

    run_scenario(
        scenario,
        *AT_ONCE,
        f"schedule.policy={policy}",
        "fetch.first_byte_timeout=300s",
        "crawl.stop_timeout=0s",
        make_clock=RealClock,
    )


def test_other_hosts_are_claimed_while_a_content_is_parsed(
    run_scenario: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A content whose parsing does not end delays no claim, even when it is the only thing under way."""
    parse_visit = VisitPipeline.parse_visit

    async def parse(pipeline: VisitPipeline, result: VisitResult, discovery: Discovery) -> ParsedContent | None:
        if result.page.url == STALLED:
            await asyncio.sleep(300)
        return await parse_visit(pipeline, result, discovery)

    async def scenario(archiver: Archiver) -> None:
        for url in (STALLED, HEALTHY[0]):
            archiver.servers.serve(url, reply("<p>words"))
        await archiver.watch(STALLED)
        await archiver.watch(HEALTHY[0], every_s=1.0)
        async with archiver.node.crawling() as loop:
            running = asyncio.create_task(loop.run())
            async with asyncio.timeout(60):
                while archiver.servers.paths("b.test").count("/") < 4:  # noqa: ASYNC110 - the servers have no event
                    await asyncio.sleep(0.1)
            loop.stop()
            await running
        assert archiver.servers.paths("a.test") == ["/robots.txt", "/"]

    monkeypatch.setattr(VisitPipeline, "parse_visit", parse)
    run_scenario(scenario, *AT_ONCE, "crawl.stop_timeout=0s", make_clock=RealClock)


@pytest.mark.parametrize("ended_by", ["stop", "time"])
def test_a_stop_cancels_visits_that_do_not_end(run_scenario: Callable[..., None], ended_by: str) -> None:
    """The stated time after a stop, or after the end of `run --for`, visits in flight are cancelled; pages stay due."""

    async def scenario(archiver: Archiver) -> None:
        reached = stalls(archiver)
        await archiver.watch(STALLED)
        async with archiver.node.crawling() as loop:
            until = archiver.clock.now() + 3 if ended_by == "time" else float("inf")
            running = asyncio.create_task(loop.run(until))
            await asyncio.wait_for(reached.wait(), 30)
            if ended_by == "stop":
                loop.stop()
            started = time.monotonic()
            await asyncio.wait_for(running, 100)
            assert time.monotonic() - started < 60, "the server holds the connection for 300 s"
        page = await archiver.page(STALLED)
        assert (page.visits, page.failures) == (0, 0)
        assert page.next_at is not None
        assert page.next_at <= archiver.clock.now()

    run_scenario(scenario, *AT_ONCE, "fetch.first_byte_timeout=300s", "crawl.stop_timeout=1s", make_clock=RealClock)


def test_a_crawl_visits_other_hosts_while_one_stalls(run_scenario: Callable[..., None]) -> None:
    """`crawl` commits the pages of other hosts, and those found on them, before the stalled visit ends."""

    async def scenario(archiver: Archiver) -> None:
        stalls(archiver)
        archiver.servers.serve("http://b.test/", reply('<p>Start. <a href="/more">more</a>'))
        archiver.servers.serve("http://b.test/more", reply("<p>more"))
        await archiver.watch(STALLED)
        await archiver.watch_site("http://b.test/")
        async with archiver.node.crawling() as loop:
            running = asyncio.create_task(loop.crawl())
            async with asyncio.timeout(60):
                while (await archiver.totals()).visits < 3:  # noqa: ASYNC110 - the store has no event
                    await asyncio.sleep(0.1)
            assert not running.done()
            loop.stop()
            assert await running >= 3
        assert "/more" in archiver.servers.paths("b.test")

    run_scenario(scenario, *AT_ONCE, "fetch.first_byte_timeout=300s", "crawl.stop_timeout=0s", make_clock=RealClock)
