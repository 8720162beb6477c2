"""`webstrata plan`: its time with a million pages, and how long a crawl takes against what it said before.

The forecast uses what a first, smaller crawl of the same home left in the store. Both crawls are real: the origin
server of the other benchmarks, sockets, WARC files and SQLite, with the delays of politeness disabled.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import uvloop

from bench import watched_home
from bench.contenders.whole_loop import flags, watch_pages
from bench.figures import Figure, command_seconds
from bench.origin import serving
from bench.pages import urls
from webstrata import settings
from webstrata.flows.budget_whatif import budget_whatif
from webstrata.flows.planning import by_host, plan_input
from webstrata.home import Home
from webstrata.node import Node
from webstrata.plan.estimate import estimate
from webstrata.schedule.budget import DEFAULT_RATE
from webstrata.schedule.policy import Bounds

_PAGES, _PAGES_QUICK = 1_000_000, 100_000
_CRAWLED, _CRAWLED_QUICK = 100_000, 10_000
_FIRST_CRAWL = 0.1
"""Pages of the crawl from which the forecast learns, as a share of those of the crawl that it is about."""


def run(quick: bool) -> list[Figure]:
    return [*_plan_of_many_pages(_PAGES_QUICK if quick else _PAGES), *_forecast(_CRAWLED_QUICK if quick else _CRAWLED)]


def _plan_of_many_pages(pages: int) -> list[Figure]:
    with tempfile.TemporaryDirectory() as name:
        start = time.perf_counter()
        node = watched_home.build(Path(name), pages, time.time())
        build_s = time.perf_counter() - start
        seconds = command_seconds(["plan", "--offline", "--json", "--home", name], Path(name))
        page_by_page = uvloop.run(_page_by_page(node))
    title = f"({pages:,} pages due)"
    return [
        Figure(bench="planning", name=f"`webstrata plan` {title}", values=seconds, unit="s", at_most=2.0),
        Figure(
            bench="planning",
            name="reading page by page : `webstrata plan`",
            values=[page_by_page / one for one in seconds],
            # With fewer pages the start of Python is the larger part.
            at_least=3.0 if pages >= _PAGES else None,
        ),
        Figure(bench="planning", name=f"building the home {title}", values=[build_s], unit="s"),
    ]


async def _page_by_page(node: Node) -> float:
    """Seconds to read all due pages and all forecasts, each page as a record, which `plan` avoids."""
    start = time.perf_counter()
    async with node.store() as store:
        by_host([visit.url for visit in await store.queue.upcoming(node.clock.now(), _PAGES)])
        await budget_whatif(store, node.schedule(), DEFAULT_RATE, node.clock.now(), Bounds(), sampled=_PAGES)
    return time.perf_counter() - start


def _forecast(pages: int) -> list[Figure]:
    with serving() as (port, _, _):
        command = [sys.executable, "-m", "bench.planning", str(port), str(pages)]
        process = subprocess.run(command, capture_output=True, text=True, check=False)
    if process.returncode:
        raise RuntimeError(f"the crawl failed:\n{process.stderr[-2000:]}")
    found = json.loads(process.stdout)
    error = abs(found["forecast_s"] / found["actual_s"] - 1.0)
    title = f"({pages:,} pages)"
    return [
        Figure(bench="planning", name=f"error of the forecast {title}", values=[error], unit="", at_most=0.1),
        Figure(bench="planning", name=f"forecast {title}", values=[found["forecast_s"]], unit="s"),
        Figure(bench="planning", name=f"crawl {title}", values=[found["actual_s"]], unit="s"),
    ]


async def _forecast_and_crawl(port: int, pages: int, folder: Path) -> None:
    home, _ = Home.create(folder)
    loaded, _ = settings.load(folder, flags=flags(port))
    node = Node(home, loaded)
    first = int(pages * _FIRST_CRAWL)
    listed = urls(first + pages, port)
    await watch_pages(node, listed[:first])
    async with node.crawling() as loop:
        await loop.crawl()
    await watch_pages(node, listed[first:])
    start = time.perf_counter()
    async with node.store() as store:
        due = await store.queue.due_by_host(node.clock.now())
        known = await plan_input(due, store=store, gate=await node.gate(store), web=None, now=node.clock.now())
    threads = loaded.fetch.connections
    forecast = estimate(known.loads, known.downloads, node.spacing_model(), threads, known.pace)
    planned_s = time.perf_counter() - start
    start = time.perf_counter()
    async with node.crawling() as loop:
        visits = await loop.crawl()
    actual_s = time.perf_counter() - start
    assert visits == pages, f"{visits} visits instead of {pages}"
    print(
        json.dumps(
            {
                "forecast_s": forecast.median_s,
                "low_s": forecast.low_s,
                "high_s": forecast.high_s,
                "machine_s": forecast.machine_s,
                "planned_s": planned_s,
                "actual_s": actual_s,
            }
        )
    )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        uvloop.run(_forecast_and_crawl(int(sys.argv[1]), int(sys.argv[2]), Path(name)))
