"""`ParserLanes`: the contents of a host never wait for those of a hostile one, and what waits is limited."""

from __future__ import annotations

import asyncio
import contextlib
import time

from tests.flows.crawl.hostile_parser import BUSY, DEADLY, run_hostile
from webstrata.flows.crawl.parse import ParseJob
from webstrata.flows.parsers.child import Status
from webstrata.flows.parsers.lanes import QUEUED_BYTES, ParserLanes, UnparsableError
from webstrata.flows.parsers.parser_process import ParserLimits
from webstrata.flows.parsers.tasks import run_task

LIMITS = ParserLimits(slow_s=0.5, cpu_s=2.0, wall_s=60.0)


def job(body: bytes) -> ParseJob:
    return ParseJob(url="http://a.test/", body=body, content_type="text/html", max_decoded=100_000_000)


def running(lanes: ParserLanes) -> int:
    return sum(process.is_running for process in lanes.shared)


def test_healthy_hosts_do_not_wait_for_poison() -> None:
    """Ten contents that never end, of one host: those of other hosts are done long before they are."""

    async def main() -> tuple[int, int]:
        lanes = ParserLanes(1, run_hostile, limits=LIMITS)
        try:
            poison = [asyncio.create_task(lanes.reply_of(job(BUSY + b"%d" % n), "bad.test")) for n in range(10)]
            await asyncio.sleep(0)
            healthy = [lanes.reply_of(job(b"<p>%d" % n), f"{n}.test") for n in range(100)]
            replies = await asyncio.gather(*healthy)
            done = sum(task.done() for task in poison)
            for task in poison:
                task.cancel()
            await asyncio.gather(*poison, return_exceptions=True)
            return sum(reply.status is Status.DONE for reply in replies), done
        finally:
            lanes.close()

    parsed, poison_done = asyncio.run(main())
    assert parsed == 100
    assert poison_done <= 2  # each takes two seconds of processor time


def test_a_suspect_is_parsed_apart() -> None:
    """After one deadly content the host has a process of its own, in which its other contents are parsed before it."""

    async def main() -> tuple[bool, bool, list[str], int]:
        lanes = ParserLanes(1, run_hostile, limits=LIMITS)
        try:
            bodies = [b"<p>one", DEADLY, b"<p>two"]
            order: list[str] = []

            async def reply(body: bytes) -> None:
                try:
                    order.append((await lanes.reply_of(job(body), "bad.test")).status.name)
                except UnparsableError:
                    order.append("unparsable")

            await asyncio.gather(*(reply(body) for body in bodies))
            shared = lanes.shared[0].pid
            await asyncio.gather(reply(DEADLY + b" again"), lanes.reply_of(job(b"<p>good"), "good.test"))
            is_untouched = lanes.shared[0].pid == shared
            return lanes.is_suspect("bad.test"), lanes.is_suspect("good.test"), order, int(is_untouched)
        finally:
            lanes.close()

    assert asyncio.run(main()) == (True, False, ["DONE", "DONE", "unparsable", "unparsable"], 1)


def test_lanes_take_turns() -> None:
    """A host with hundreds of contents does not delay a host with one: its content is among the first done."""

    async def main() -> int:
        lanes = ParserLanes(1, run_task)
        done: list[str] = []

        async def reply(lane: str) -> None:
            await lanes.reply_of(job(b"<p>words"), lane)
            done.append(lane)

        try:
            await asyncio.gather(*(reply("many.test") for _ in range(400)), reply("one.test"))
            return done.index("one.test")
        finally:
            lanes.close()

    assert asyncio.run(main()) < 100


def test_waiting_bytes_are_limited() -> None:
    """More bytes than the budget are admitted only as others are done; a cancelled content frees its share."""

    async def main() -> tuple[int, int]:
        lanes = ParserLanes(1, run_task)
        half = b"<p>" + b"x" * (QUEUED_BYTES * 2 // 3)
        try:
            tasks = [asyncio.create_task(lanes.reply_of(job(half + b"%d" % n), f"{n}.test")) for n in range(4)]
            for _ in range(10):
                await asyncio.sleep(0)
            admitted = lanes._waiting.bytes
            tasks[3].cancel()
            await asyncio.wait(tasks)
            assert [task.cancelled() for task in tasks] == [False, False, False, True]
            return admitted, lanes._waiting.bytes + lanes._suspected.bytes
        finally:
            lanes.close()

    admitted, at_end = asyncio.run(main())
    assert 0 < admitted <= QUEUED_BYTES
    assert at_end == 0


def test_the_event_loop_is_not_blocked() -> None:
    """While a content is parsed for a long time, the event loop goes on."""

    async def main() -> int:
        lanes = ParserLanes(1, run_hostile, limits=LIMITS)
        try:
            hostile = asyncio.create_task(lanes.reply_of(job(BUSY), "bad.test"))
            ticks = 0
            while not hostile.done():
                await asyncio.sleep(0.01)
                ticks += 1
            return ticks
        finally:
            lanes.close()

    assert asyncio.run(main()) > 20


def test_processes_are_started_as_they_are_needed() -> None:
    """Few contents use one process; many at a time, or the number of expected contents, start the others."""

    async def main() -> list[int]:
        lanes = ParserLanes(2, run_task)
        seen = []
        try:
            lanes.start(1)
            seen.append(running(lanes))
            for number in (4, 100):
                await asyncio.gather(*(lanes.reply_of(job(b"<p>%d" % n), f"{n}.test") for n in range(number)))
                seen.append(running(lanes))
            return seen
        finally:
            lanes.close()

    assert asyncio.run(main()) == [1, 1, 2]
    lanes = ParserLanes(3, run_task)
    try:
        lanes.start(3)
        assert running(lanes) == 3
    finally:
        lanes.close()


def test_other_processes_continue_while_one_hangs() -> None:
    """With two processes, contents are parsed at once while another one never ends."""

    async def main() -> float:
        lanes = ParserLanes(2, run_hostile, limits=ParserLimits(slow_s=60.0, cpu_s=100.0, wall_s=100.0))
        try:
            lanes.start(2)
            await asyncio.gather(*(lanes.reply_of(job(b"<p>%d" % n), "a.test") for n in range(40)))
            endless = asyncio.create_task(lanes.reply_of(job(BUSY), "b.test"))
            await asyncio.sleep(0)
            begun = time.monotonic()
            await lanes.reply_of(job(b"<p>one"), "a.test")
            took = time.monotonic() - begun
            endless.cancel()
            await asyncio.gather(endless, return_exceptions=True)
            return took
        finally:
            lanes.close()

    assert asyncio.run(main()) < 50.0


def test_a_proven_host_does_not_wait_for_many_costly_ones() -> None:
    """While forty other hosts send contents that never end, a process that they do not reach works for a quick host."""

    async def main() -> tuple[int, bool]:
        lanes = ParserLanes(2, run_hostile, limits=LIMITS)
        try:
            await lanes.reply_of(job(b"<p>first"), "good.test")
            with contextlib.suppress(UnparsableError):
                await lanes.reply_of(job(BUSY), "bad.test")
            await lanes.reply_of(job(b"<p>again"), "good.test")
            reserved = lanes.shared[0].pid
            costly = [asyncio.create_task(lanes.reply_of(job(BUSY + b"%d" % n), f"{n}.test")) for n in range(40)]
            await asyncio.sleep(0)
            replies = [await lanes.reply_of(job(b"<p>%d" % n), "good.test") for n in range(20)]
            is_untouched = reserved is not None and lanes.shared[0].pid == reserved
            for task in costly:
                task.cancel()
            await asyncio.gather(*costly, return_exceptions=True)
            return sum(reply.status is Status.DONE for reply in replies), is_untouched
        finally:
            lanes.close()

    assert asyncio.run(main()) == (20, True)
