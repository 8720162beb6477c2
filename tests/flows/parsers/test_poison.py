"""Poison in the real loop: hostile bodies cost their parser little, the crawler nothing, and other hosts no time."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

from tests.flows.conftest import DAILY, Archiver
from tests.flows.scripted_servers import reply
from webstrata.flows.parsers.parser_pool import ParserPool
from webstrata.records import PageRules

MEGABYTE = 2**20
ZEROS = gzip.compress(bytes(200_000_000), 6)
ROWS = b'{"head":{"vars":["a"]},"results":{"bindings":[' + b",".join([b"{}"] * 8_000_000) + b"]}}"


def memory(pid: int | str, field: str) -> int:
    """A value of a process in bytes: `VmHWM` is the most memory that it ever had, `VmRSS` what it has now."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))


def test_ten_poison_pages(run_scenario: Callable[..., None]) -> None:
    """Ten pages of 200 MB of zeros: parsers stay below 600 MB, the crawler does not grow, healthy pages are parsed."""
    pools: list[ParserPool] = []

    def make_parsers(processes: int) -> ParserPool:
        pools.append(ParserPool(processes))
        return pools[-1]

    async def scenario(archiver: Archiver) -> None:
        poison = [f"http://a.test/{n}" for n in range(10)]
        healthy = [f"http://b.test/{n}" for n in range(10)]
        for n, url in enumerate(poison):
            archiver.servers.serve(url, reply(gzip.compress(b"%d" % n) + ZEROS, content_encoding="gzip"))
        for n, url in enumerate(healthy):
            archiver.servers.serve(url, reply(b"<p>words %d" % n))
        await archiver.watch(*poison, *healthy)
        before = memory("self", "VmRSS")
        peaks: list[int] = []
        async with archiver.node.crawling() as loop:
            await loop.crawl()
            lanes = pools[-1]._lanes
            peaks = [memory(one.pid, "VmHWM") for one in (*lanes.shared, lanes.for_suspects) if one.pid is not None]
        assert memory("self", "VmRSS") - before < 150 * MEGABYTE
        assert max(peaks) < 600 * MEGABYTE
        for url in healthy:
            page = await archiver.page(url)
            assert page.fingerprint is not None
            assert page.fingerprint.text is not None
        for url in poison:
            page = await archiver.page(url)
            assert page.fingerprint is not None
            assert page.fingerprint.size > 190_000_000  # a thousand times its size as sent
            assert page.fingerprint.text is None

    run_scenario(scenario, DAILY, make_parsers=make_parsers)


def test_results_that_take_too_much_memory(run_scenario: Callable[..., None]) -> None:
    """A SPARQL result of eight million rows in some kilobytes fails in a parser process; the crawler does not grow."""
    packed = gzip.compress(ROWS)

    async def scenario(archiver: Archiver) -> None:
        url = "http://a.test/sparql?query=SELECT%20*%20%7B%7D"
        kind = "application/sparql-results+json"
        archiver.servers.serve(url, reply(packed, kind=kind, content_encoding="gzip"))
        await archiver.watch(url)
        before = memory("self", "VmRSS")
        await archiver.crawl()
        assert memory("self", "VmRSS") - before < 100 * MEGABYTE
        (visit,) = await archiver.visits(url)
        assert visit.failure is not None
        assert visit.failure.kind == "partial-answer"

    run_scenario(scenario, DAILY)


def test_a_context_that_is_named_a_hundred_times(run_scenario: Callable[..., None]) -> None:
    """A large context is fetched once, and a document that is too costly to expand is compared as JSON."""
    context = json.dumps({"@context": {f"t{n}": f"http://e.org/{n}" for n in range(60_000)}}).encode()
    document = json.dumps({"@context": ["http://b.test/c"] * 99, "t1": "x"}).encode()

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve("http://a.test/d", reply(document, kind="application/ld+json"))
        archiver.servers.serve("http://b.test/c", reply(context, kind="application/ld+json"))
        await archiver.watch("http://a.test/d", page_rules=PageRules(handler="rdf"))
        await archiver.crawl()
        page = await archiver.page("http://a.test/d")
        assert page.fingerprint is not None
        assert page.fingerprint.data_kind == "json"
        assert len(archiver.records("http://b.test/c")) == 1

    run_scenario(scenario, DAILY)
