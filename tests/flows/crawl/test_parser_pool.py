"""`ParserPool`: results equal those of this process; a page that ends its parser process affects no other page."""

from __future__ import annotations

import asyncio
import gzip
import multiprocessing
import socket
import time
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from tests.flows.conftest import DAILY, Archiver
from tests.flows.crawl.hostile_parser import DEADLY, ENDLESS, FAULTY, GREEDY, parse_hostile
from tests.flows.scripted_servers import reply
from webstrata.flows.crawl.parse import ParsedContent, ParseJob, parse_bytes, parse_content
from webstrata.flows.crawl.parser_pool import ParserPool
from webstrata.flows.crawl.parser_process import serve


def job(name: str, body: bytes) -> ParseJob:
    return ParseJob(url=f"http://a.test/{name}", body=body, content_type="text/html", max_decoded=1000)


def test_a_deadly_page_is_compared_by_its_bytes(caplog: pytest.LogCaptureFixture) -> None:
    """The other pages are parsed, it is compared by its bytes, and the log names it; the next batch is parsed."""
    jobs = [job("one", b"<p>one"), job("deadly", DEADLY), job("two", b"<p>two")]

    async def main() -> tuple[list[ParsedContent], list[ParsedContent]]:
        pool = ParserPool(1, parse=parse_hostile)
        try:
            return await pool.parse(jobs), await pool.parse(jobs[:1])
        finally:
            pool.close()

    seen, after = asyncio.run(main())
    by_bytes = replace(parse_bytes(jobs[1]), problem="parsing ended the parser process")
    assert seen == [*parse_content(jobs[:1]), by_bytes, *parse_content(jobs[2:])]
    assert after == parse_content(jobs[:1])
    assert "http://a.test/deadly" in caplog.text


@pytest.mark.parametrize(
    ("body", "problem"),
    [(ENDLESS, "parsing took longer than 1 s"), (GREEDY, "parsing took more memory than allowed")],
)
@pytest.mark.parametrize("is_forked", [False, True])
def test_a_hostile_page_stops_at_a_limit(body: bytes, problem: str, is_forked: bool) -> None:
    """A page whose parsing never ends, or needs all memory, is compared by its bytes; the event loop is not blocked."""
    jobs = [job("one", b"<p>one"), job("hostile", body), job("two", b"<p>two")]
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.01)
            ticks += 1

    async def main() -> tuple[list[ParsedContent], list[ParsedContent]]:
        pool = ParserPool(1, limit_s=1.0, memory_bytes=1024**3, parse=parse_hostile, is_forked=is_forked)
        ticking = asyncio.create_task(tick())
        try:
            return await pool.parse(jobs), await pool.parse(jobs[:1])
        finally:
            ticking.cancel()
            pool.close()

    seen, after = asyncio.run(main())
    assert seen == [*parse_content(jobs[:1]), replace(parse_bytes(jobs[1]), problem=problem), *parse_content(jobs[2:])]
    assert after == parse_content(jobs[:1])
    assert body != ENDLESS or ticks > 0


def test_a_page_that_raises_an_error_in_the_parser(caplog: pytest.LogCaptureFixture) -> None:
    """An exception of the parser affects that page only, and the log has the traceback."""
    jobs = [job("one", b"<p>one"), job("faulty", FAULTY), job("two", b"<p>two")]

    async def main() -> list[ParsedContent]:
        pool = ParserPool(1, parse=parse_hostile)
        try:
            return await pool.parse(jobs)
        finally:
            pool.close()

    seen = asyncio.run(main())
    assert [seen[0], seen[2]] == [*parse_content(jobs[:1]), *parse_content(jobs[2:])]
    assert seen[1].fingerprint == parse_bytes(jobs[1]).fingerprint
    assert "an error in the parser" in caplog.text
    assert "http://a.test/faulty" in caplog.text


def test_concurrent_batches() -> None:
    """Concurrent batches get their own results; a page that ends a parser process affects only itself."""
    batches = [[job(f"{n}-{i}", b"<p>%d %d" % (n, i)) for i in range(5)] for n in range(12)]
    batches[3][2] = job("deadly", DEADLY)

    async def main() -> list[list[ParsedContent]]:
        pool = ParserPool(2, parse=parse_hostile)
        try:
            return await asyncio.gather(*(pool.parse(jobs) for jobs in batches))
        finally:
            pool.close()

    seen = asyncio.run(main())
    by_bytes = replace(parse_bytes(batches[3][2]), problem="parsing ended the parser process")
    for number, (jobs, parsed) in enumerate(zip(batches, seen, strict=True)):
        expected = [by_bytes if job.body == DEADLY else parse_content([job])[0] for job in jobs]
        assert parsed == expected, number


def test_other_processes_continue_while_one_hangs() -> None:
    """With two processes, a batch is parsed at once while another one never ends."""

    async def main() -> float:
        pool = ParserPool(2, limit_s=60.0, parse=parse_hostile)
        pool.start(1_000)
        try:
            await asyncio.gather(pool.parse([job("warm", b"<p>1")]), pool.parse([job("up", b"<p>2")]))
            endless = asyncio.create_task(pool.parse([job("endless", ENDLESS)]))
            await asyncio.sleep(0)
            begun = time.monotonic()
            await pool.parse([job("one", b"<p>one")])
            took = time.monotonic() - begun
            endless.cancel()
            await asyncio.gather(endless, return_exceptions=True)
            return took
        finally:
            pool.close()

    assert asyncio.run(main()) < 50.0


def test_the_loop_continues_after_a_parser_process_ended(run_scenario: Callable[..., None]) -> None:
    """In the real loop the deadly page is archived and new, then same; the text of the other pages is compared."""

    async def scenario(archiver: Archiver) -> None:
        pages = {"one": b"<p>one", "deadly": DEADLY, "two": b"<p>two"}
        for name, body in pages.items():
            archiver.servers.serve(f"http://a.test/{name}", reply(body))
        await archiver.watch(*[f"http://a.test/{name}" for name in pages])
        await archiver.run(1.5 * 86_400)
        for name, body in pages.items():
            assert await archiver.outcomes(f"http://a.test/{name}") == ["new", "same"]
            fingerprint = (await archiver.page(f"http://a.test/{name}")).fingerprint
            assert fingerprint is not None
            assert fingerprint.size == len(body)
            assert (fingerprint.text is None) == (name == "deadly")

    run_scenario(scenario, DAILY, make_parsers=lambda processes: ParserPool(processes, parse=parse_hostile))


def test_bytes_are_compared_without_their_coding() -> None:
    """A page that could not be parsed has the digest of its decoded bytes: another compression is no other page."""
    one, two = (gzip.compress(b"<p>words", level, mtime=level) for level in (1, 9))
    raws = {parse_bytes(replace(job("packed", body), content_encoding="gzip")).fingerprint.raw for body in (one, two)}
    assert raws == {parse_content([job("plain", b"<p>words")])[0].fingerprint.raw}
    torn = parse_bytes(replace(job("torn", one[:-9]), content_encoding="gzip"))
    assert torn.torn


def test_processes_are_started_as_they_are_needed() -> None:
    """Few contents use one process; concurrent batches, or the number of expected contents, start the others."""

    def running(pool: ParserPool) -> int:
        return sum(process.is_running for process in pool._processes)

    async def main() -> list[int]:
        pool = ParserPool(2)
        seen = []
        try:
            pool.start()
            seen.append(running(pool))
            await asyncio.gather(*(pool.parse([job(str(n), b"<p>%d" % n)]) for n in range(2)))
            seen.append(running(pool))
            await asyncio.gather(*(pool.parse([job(str(n), b"<p>%d" % n)]) for n in range(3)))
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


def test_a_process_that_is_ended_early_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    """A process that is ended while it starts, or whose crawler ended before it was ready, prints no error."""
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
