"""`ParserPool`: results equal those of this process; a page that ends its parser process affects no other page."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest
from msgspec.structs import replace

from tests.flows.conftest import DAILY, Archiver
from tests.flows.crawl.hostile_parser import (
    BUSY,
    DEADLY,
    ENDLESS,
    FAULTY,
    GREEDY,
    LARGE,
    UNDECODABLE,
    run_hostile,
    run_never,
)
from tests.flows.scripted_servers import reply
from webstrata.flows.crawl.parse import ParsedContent, ParseJob, parse_bytes, parse_content
from webstrata.flows.parsers.parser_pool import ParserPool
from webstrata.flows.parsers.parser_process import ParserLimits
from webstrata.flows.parsers.tasks import DecodeTask
from webstrata.flows.parsers.unparsable import UnparsableContents
from webstrata.records import UNPARSED, UnparsableContent

T = TypeVar("T")

QUICK = ParserLimits(slow_s=0.5, cpu_s=1.0, wall_s=100.0, memory_bytes=2**30)
NOISE = b"".join(hashlib.sha256(b"%d" % n).digest() for n in range(1000))
ZEROS = NOISE + bytes(60_000_000)
"""They are compressed to less than a hundredth, and more than a thousandth."""


def job(name: str, body: bytes, host: str = "a.test") -> ParseJob:
    return ParseJob(url=f"http://{host}/{name}", body=body, content_type="text/html", max_decoded=200_000_000)


def by_bytes(unparsed: ParseJob, problem: str) -> ParsedContent:
    return parse_bytes(unparsed.body, unparsed.content_encoding, max_decoded=unparsed.max_decoded, problem=problem)


def with_pool(use: Callable[[ParserPool], Awaitable[T]], pool: ParserPool) -> T:
    async def main() -> T:
        try:
            return await use(pool)
        finally:
            pool.close()

    return asyncio.run(main())


async def parse(pool: ParserPool, *jobs: ParseJob) -> list[ParsedContent]:
    return list(await asyncio.gather(*(pool.submit(one) for one in jobs)))


@pytest.mark.parametrize("is_forked", [False, True])
@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (DEADLY, "parsing ended the parser process"),
        (ENDLESS, "parsing took longer than 5 s"),
        (BUSY, "parsing took longer than 1 s of processor time"),
        (GREEDY, "parsing took more memory than allowed"),
        (LARGE, "parsing had a result that is too large"),
    ],
)
def test_a_hostile_content_is_compared_by_its_bytes(
    body: bytes, problem: str, is_forked: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """The other contents are parsed, before it and behind it; the log names it; it is not parsed a second time."""
    jobs = [job("one", b"<p>one"), job("hostile", body), job("two", b"<p>two"), job("else", b"<p>else", "b.test")]
    found: list[UnparsableContent] = []

    async def save(content: UnparsableContent) -> None:
        found.append(content)

    async def use(pool: ParserPool) -> tuple[list[ParsedContent], list[ParsedContent]]:
        return await parse(pool, *jobs), await parse(pool, jobs[0])

    limits = replace(QUICK, wall_s=5.0) if body == ENDLESS else QUICK
    pool = ParserPool(1, limits=limits, run=run_hostile, is_forked=is_forked, unparsable=UnparsableContents(save=save))
    seen, after = with_pool(use, pool)
    expected = [parse_content(one) for one in jobs]
    expected[1] = by_bytes(jobs[1], problem)
    assert seen == expected
    assert after == expected[:1]
    assert "http://a.test/hostile" in caplog.text
    assert [(content.reason, content.size) for content in found] == [(problem, len(body))]

    again = ParserPool(0, run=run_never, unparsable=UnparsableContents(found))  # after a restart
    assert with_pool(lambda pool: pool.submit(jobs[1]), again) == expected[1]


def test_a_content_that_cannot_be_decoded_is_compared_as_it_was_sent() -> None:
    """If even the digest of the decoded bytes ends the process, the digest of the bytes as sent is taken."""
    unparsed = replace(job("hostile", UNDECODABLE), content_encoding="gzip")
    seen = with_pool(lambda pool: pool.submit(unparsed), ParserPool(1, limits=QUICK, run=run_hostile))
    assert seen.fingerprint.raw == hashlib.sha256(UNDECODABLE).hexdigest()
    assert seen.fingerprint.data_kind == UNPARSED


def test_an_error_of_the_parser(caplog: pytest.LogCaptureFixture) -> None:
    """An exception affects that content only, and the log has the traceback. It is parsed again at the next visit."""
    jobs = [job("one", b"<p>one"), job("faulty", FAULTY), job("two", b"<p>two")]
    pool = ParserPool(1, run=run_hostile)
    seen = with_pool(lambda pool: parse(pool, *jobs), pool)
    assert [seen[0], seen[2]] == [parse_content(jobs[0]), parse_content(jobs[2])]
    assert seen[1] == by_bytes(jobs[1], "parsing failed: ZeroDivisionError: an error in the parser")
    assert "Traceback" in caplog.text
    assert "http://a.test/faulty" in caplog.text
    assert asyncio.run(pool.unparsable.find(jobs[1])) is None


def test_tasks_of_handlers() -> None:
    """A task gives its result, raises ValueError for another form, and is not run again if it exceeds its limits."""

    def task(body: bytes, max_bytes: int = 1000) -> DecodeTask:
        return DecodeTask(body=body, content_encoding="gzip", max_bytes=max_bytes, max_ratio=2000.0)

    async def use(pool: ParserPool) -> list[Any]:
        bodies = [gzip.compress(b"words"), DEADLY, gzip.compress(bytes(40_000_000))]
        tasks = [task(bodies[0]), task(bodies[1]), task(bodies[2], 40_000_000), task(bodies[1])]
        return [(await asyncio.gather(pool.run(one, lane="a.test"), return_exceptions=True))[0] for one in tasks]

    decoded, deadly, large, known = with_pool(use, ParserPool(1, limits=QUICK, run=run_hostile))
    assert decoded.body == b"words"
    assert isinstance(deadly, ValueError)
    assert str(known) == str(deadly) == "parsing ended the parser process"
    assert str(large) == "parsing had a result that is too large"


def test_zeros_that_expand_hundreds_of_times_are_not_parsed() -> None:
    """The content is hashed piece by piece: it has the digest of its decoded bytes, and no text."""
    packed = replace(job("zeros", gzip.compress(ZEROS)), content_encoding="gzip")
    begun = time.process_time()
    parsed = parse_content(packed)
    assert time.process_time() - begun < 20.0
    assert parsed.fingerprint.raw == hashlib.sha256(ZEROS).hexdigest()
    assert (parsed.fingerprint.size, parsed.fingerprint.text) == (len(ZEROS), None)
    assert parsed.problem == "expands to more than 100 times its size"
    limits = ParserLimits(memory_bytes=300 * 2**20)  # less than five times the decoded size
    assert with_pool(lambda pool: pool.submit(packed), ParserPool(1, limits=limits)) == parsed


def test_bytes_are_compared_without_their_coding() -> None:
    """A page that could not be parsed has the digest of its decoded bytes: another compression is no other page."""
    packed = [
        replace(job("packed", gzip.compress(b"<p>words", level, mtime=level)), content_encoding="gzip")
        for level in (1, 9)
    ]
    raws = {by_bytes(one, "problem").fingerprint.raw for one in packed}
    assert raws == {parse_content(job("plain", b"<p>words")).fingerprint.raw}
    assert by_bytes(replace(packed[0], body=packed[0].body[:-9]), "problem").torn


def test_the_loop_continues_after_a_parser_process_ended(run_scenario: Callable[..., None]) -> None:
    """In the real loop the deadly page is archived and new, then same; the text of the other pages is compared.

    The store remembers it, so that it ends no process in the second run.
    """

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
        async with archiver.node.store() as store:
            (content,) = await store.visit_log.unparsable(10)
        assert content.reason == "parsing ended the parser process"

    run_scenario(scenario, DAILY, make_parsers=lambda processes: ParserPool(processes, run=run_hostile))
