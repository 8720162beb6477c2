"""Reading in other processes: the same as here, and a page that kills its reader costs nobody else anything."""

from __future__ import annotations

import asyncio
import gzip
import multiprocessing
import os
import signal
import socket
import time
from collections.abc import Callable, Sequence

import pytest
from msgspec.structs import replace

from tests.flows.conftest import Life
from tests.flows.town import reply
from webstrata.flows.crawl.parse import ParsedContent, ParseJob, parse_bytes, parse_content
from webstrata.flows.crawl.parser_pool import ParserPool
from webstrata.flows.crawl.parser_process import serve

DEADLY = b"<p>deadly"


def job(name: str, body: bytes) -> ParseJob:
    return ParseJob(url=f"http://a.test/{name}", body=body, content_type="text/html", max_decoded=1000, max_ratio=10.0)


ENDLESS = b"<p>endless"
GREEDY = b"<p>greedy"
FAULTY = b"<p>faulty"


def read_hostile(jobs: Sequence[ParseJob]) -> list[ParsedContent]:
    """Reading that some bodies break, or keep from ending as native code would: only the process's end stops it."""
    for one in jobs:
        if one.body == DEADLY:
            os._exit(11)
        if one.body == ENDLESS:
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT, signal.SIGALRM})
            while True:
                pass
        if one.body == GREEDY:
            bytearray(10 * 1024**3)
        if one.body == FAULTY:
            raise ZeroDivisionError("a fault of ours")
    return parse_content(jobs)


def test_a_deadly_page_is_compared_by_its_bytes(caplog: pytest.LogCaptureFixture) -> None:
    """The pages beside it are read as ever, it counts by its bytes, and the log names it; the next batch is read."""
    jobs = [job("one", b"<p>one"), job("deadly", DEADLY), job("two", b"<p>two")]

    async def main() -> tuple[list[ParsedContent], list[ParsedContent]]:
        pool = ParserPool(1, read=read_hostile)
        try:
            return await pool.look(jobs), await pool.look(jobs[:1])
        finally:
            pool.close()

    seen, after = asyncio.run(main())
    by_bytes = replace(parse_bytes(jobs[1]), problem="it killed the process that read it")
    assert seen == [*parse_content(jobs[:1]), by_bytes, *parse_content(jobs[2:])]
    assert after == parse_content(jobs[:1])
    assert "http://a.test/deadly" in caplog.text


@pytest.mark.parametrize(
    ("body", "problem"),
    [(ENDLESS, "reading it took longer than 1 s"), (GREEDY, "reading it took more memory than it may")],
)
@pytest.mark.parametrize("is_forked", [False, True])
def test_a_hostile_page_stops_at_a_limit(body: bytes, problem: str, is_forked: bool) -> None:
    """A page that never ends, or wants all memory, counts by its bytes; the others are read; the loop never stops."""
    jobs = [job("one", b"<p>one"), job("hostile", body), job("two", b"<p>two")]
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.01)
            ticks += 1

    async def main() -> tuple[list[ParsedContent], list[ParsedContent]]:
        pool = ParserPool(1, limit_s=1.0, memory_bytes=1024**3, read=read_hostile, is_forked=is_forked)
        ticking = asyncio.create_task(tick())
        try:
            return await pool.look(jobs), await pool.look(jobs[:1])
        finally:
            ticking.cancel()
            pool.close()

    seen, after = asyncio.run(main())
    assert seen == [*parse_content(jobs[:1]), replace(parse_bytes(jobs[1]), problem=problem), *parse_content(jobs[2:])]
    assert after == parse_content(jobs[:1])
    assert body != ENDLESS or ticks > 0


def test_a_page_that_meets_a_fault_of_ours(caplog: pytest.LogCaptureFixture) -> None:
    """Reading that raises costs that page its closer look, and the log says where it happened."""
    jobs = [job("one", b"<p>one"), job("faulty", FAULTY), job("two", b"<p>two")]

    async def main() -> list[ParsedContent]:
        pool = ParserPool(1, read=read_hostile)
        try:
            return await pool.look(jobs)
        finally:
            pool.close()

    seen = asyncio.run(main())
    assert [seen[0], seen[2]] == [*parse_content(jobs[:1]), *parse_content(jobs[2:])]
    assert seen[1].fingerprint == parse_bytes(jobs[1]).fingerprint
    assert "a fault of ours" in caplog.text
    assert "http://a.test/faulty" in caplog.text


def test_batches_side_by_side() -> None:
    """Several batches asked for at once each get their own answers; what breaks a reader costs only itself."""
    batches = [[job(f"{n}-{i}", b"<p>%d %d" % (n, i)) for i in range(5)] for n in range(12)]
    batches[3][2] = job("deadly", DEADLY)

    async def main() -> list[list[ParsedContent]]:
        pool = ParserPool(2, read=read_hostile)
        try:
            return await asyncio.gather(*(pool.look(jobs) for jobs in batches))
        finally:
            pool.close()

    seen = asyncio.run(main())
    by_bytes = replace(parse_bytes(batches[3][2]), problem="it killed the process that read it")
    for number, (jobs, found) in enumerate(zip(batches, seen, strict=True)):
        wanted = [by_bytes if one.body == DEADLY else parse_content([one])[0] for one in jobs]
        assert found == wanted, number


def test_others_go_on_while_one_reader_hangs() -> None:
    """With two readers, a batch beside one that never ends is read at once."""

    async def main() -> float:
        pool = ParserPool(2, limit_s=60.0, read=read_hostile)
        pool.start(1_000)
        try:
            await asyncio.gather(pool.look([job("warm", b"<p>1")]), pool.look([job("up", b"<p>2")]))
            endless = asyncio.create_task(pool.look([job("endless", ENDLESS)]))
            await asyncio.sleep(0)
            begun = time.monotonic()
            await pool.look([job("one", b"<p>one")])
            took = time.monotonic() - begun
            endless.cancel()
            await asyncio.gather(endless, return_exceptions=True)
            return took
        finally:
            pool.close()

    assert asyncio.run(main()) < 50.0


def test_the_loop_goes_on_after_a_reader_died(live: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    """In the real loop the deadly page is archived and new, then same; its neighbours have their text compared."""

    defaults = ParserPool.__init__.__kwdefaults__
    assert defaults is not None
    monkeypatch.setitem(defaults, "read", read_hostile)

    async def scenario(life: Life) -> None:
        pages = {"one": b"<p>one", "deadly": DEADLY, "two": b"<p>two"}
        for name, body in pages.items():
            life.town.play(f"http://a.test/{name}", reply(body))
        await life.watch(*[f"http://a.test/{name}" for name in pages])
        await life.run(1.5 * 86_400)
        for name, body in pages.items():
            assert await life.outcomes(f"http://a.test/{name}") == ["new", "same"]
            fingerprint = (await life.page(f"http://a.test/{name}")).fingerprint
            assert fingerprint is not None
            assert fingerprint.size == len(body)
            assert (fingerprint.text is None) == (name == "deadly")

    live(scenario, "crawl.workers=1")


def test_bytes_are_compared_without_their_coding() -> None:
    """A page that could not be read has the bytes that it has when it can be: another packing is no other page."""
    one, two = (gzip.compress(b"<p>words", level, mtime=level) for level in (1, 9))
    raws = {parse_bytes(replace(job("packed", body), content_encoding="gzip")).fingerprint.raw for body in (one, two)}
    assert raws == {parse_content([job("plain", b"<p>words")])[0].fingerprint.raw}
    torn = parse_bytes(replace(job("torn", one[:-9]), content_encoding="gzip"))
    assert torn.torn


def test_readers_are_started_as_they_are_needed() -> None:
    """Few contents have one process, many at once or an announcement of many start the others."""

    def running(pool: ParserPool) -> int:
        return sum(reader.is_running for reader in pool._readers)

    async def main() -> list[int]:
        pool = ParserPool(2)
        seen = []
        try:
            pool.start()
            seen.append(running(pool))
            await asyncio.gather(*(pool.look([job(str(n), b"<p>%d" % n)]) for n in range(2)))
            seen.append(running(pool))
            await asyncio.gather(*(pool.look([job(str(n), b"<p>%d" % n)]) for n in range(3)))
            return [*seen, running(pool)]
        finally:
            pool.close()

    assert asyncio.run(main()) == [1, 1, 2]
    pool = ParserPool(3)
    try:
        pool.start(500)
        assert running(pool) == 3
    finally:
        pool.close()


def test_a_reader_that_nobody_waits_for_says_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    """Ended while it starts, or left alone before it could say that it is ready, a reader goes without a word."""
    pool = ParserPool(2)
    pool.start(1_000)
    pool.close()
    ours, theirs = socket.socketpair()
    process = multiprocessing.get_context("spawn").Process(target=serve, args=(theirs, parse_content, 2**30))
    process.start()
    theirs.close()
    ours.close()
    process.join()

    assert process.exitcode == 0
    assert capfd.readouterr().err == ""
