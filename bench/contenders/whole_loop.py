"""Webstrata's whole crawl loop with robots.txt, WARC, index, fingerprints, database and every fsync.

Only the delays of politeness are disabled, because they would dominate the time. The home is new, and every page is
watched before the measurement starts.
"""

from __future__ import annotations

import cProfile
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import uvloop

from bench.contenders.stopwatch import Stopwatch
from bench.pages import urls
from webstrata import settings
from webstrata.flows.crawl.visit_batcher import CrawlProgress
from webstrata.home import Home
from webstrata.node import Node
from webstrata.records import NewPage, Visit
from webstrata.urls import canonical, host_of


def flags(port: int) -> list[str]:
    return [
        "polite.delay=0",
        "polite.delay_factor=0",
        "polite.address_delay=0",
        "polite.connections_per_host=2",
        "fetch.connections=64",
        f"fetch.allow_private=127.0.0.0/8:{port}",
    ]


class Counter(CrawlProgress):
    def __init__(self, watch: Stopwatch) -> None:
        self._watch = watch
        self.failed = 0

    def visited(self, visits: Sequence[Visit]) -> None:
        if visits:
            self._watch.finished(len(visits))
            self.failed += sum(visit.status != 200 for visit in visits)


async def watch_pages(node: Node, addresses: list[str]) -> None:
    async with node.store() as store:
        pages = [NewPage(url=url, host=host_of(url)) for url in map(canonical, addresses)]
        await store.pages.add(pages, node.clock.now() - 1)


async def main(port: int, pages: int, folder: Path, more: list[str]) -> None:
    home, _ = Home.create(folder)
    loaded, _ = settings.load(folder, flags=[*flags(port), *more])
    node = Node(home, loaded)
    await watch_pages(node, urls(pages, port))
    stopwatch = Stopwatch()
    counter = Counter(stopwatch)
    start = time.perf_counter()
    async with node.crawling(counter) as loop:
        await loop.crawl()
    total_s = time.perf_counter() - start
    assert not counter.failed, f"{counter.failed} visits failed"
    stopwatch.report(whole_per_s=pages / total_s)


if __name__ == "__main__":
    port, pages, *more = sys.argv[1:]
    with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_FOLDER")) as name:
        work = main(int(port), int(pages), Path(name), more)
        if profile := os.environ.get("BENCH_PROFILE"):
            with cProfile.Profile() as profiler:
                uvloop.run(work)
            profiler.dump_stats(profile)
        else:
            uvloop.run(work)
