"""Pages per second of the whole crawl loop, of Scrapy (download only), of a minimal archiving loop and of a bare loop.

All contenders fetch the same pages from the same origin server, each in a separate process, one after the other. The
turns are repeated, and each ratio is computed within one turn, so that a noisy machine affects both sides equally. CPU
time per page includes all processes of a contender and does not depend on the load of the machine.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.figures import Figure, compiling_once
from bench.origin import serving

_PEERS = Path(".peers/bin/python")
_MODULE = [sys.executable, "-m"]
CONTENDERS = {
    "bare": [*_MODULE, "bench.contenders.bare"],
    "scrapy": [str(_PEERS), "bench/contenders/scrapy_download.py"],
    "minimal": [*_MODULE, "bench.contenders.minimal"],
    "webstrata": [*_MODULE, "bench.contenders.whole_loop"],
}
_PAGES = 4_000
_PAGES_QUICK = 1_500
_PAGES_FACTOR = {"bare": 3.0, "scrapy": 0.4}
"""Faster contenders fetch more pages and slower ones fewer, so that all take about the same time."""


def measure(name: str, port: int, pages: int, environment: dict[str, str]) -> dict[str, float]:
    """One run of one contender; `with_start_per_s` counts from the start to the end of its process."""
    pages = int(pages * _PAGES_FACTOR.get(name, 1.0))
    start = time.perf_counter()
    command = [*CONTENDERS[name], str(port), str(pages)]
    process = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    total_s = time.perf_counter() - start
    if process.returncode:
        raise RuntimeError(f"{name} failed:\n{process.stderr[-2000:]}")
    measured: dict[str, Any] = json.loads(process.stdout)
    cpu_us = measured["cpu_us_per_page"] + 1e6 * measured["children_cpu_s"] / measured["pages"]
    return {**measured, "cpu_us": cpu_us, "with_start_per_s": measured["pages"] / total_s}


def turns(repeats: int, pages: int) -> Iterator[dict[str, dict[str, float]]]:
    """The measurements of each turn, after a short run of every contender that is not counted."""
    with serving() as (port, _, _), tempfile.TemporaryDirectory() as folder:
        environment = compiling_once(Path(folder))
        for name in CONTENDERS:
            measure(name, port, 100, environment)
        for _ in range(repeats):
            yield {name: measure(name, port, pages, environment) for name in CONTENDERS}


def run(quick: bool) -> list[Figure]:
    measured = list(turns(5 if quick else 7, _PAGES_QUICK if quick else _PAGES))

    def ratio(over: str, key: str = "per_s") -> list[float]:
        return [turn["webstrata"][key] / turn[over][key] for turn in measured]

    figures = [
        # Every page is parsed with all layers of detection, so the same figure is compared with both targets.
        Figure(bench="crawl", name="whole loop : Scrapy downloading", values=ratio("scrapy"), at_least=2.5),
        Figure(bench="crawl", name="…with all layers of detection", values=ratio("scrapy"), at_least=1.5),
        Figure(bench="crawl", name="whole loop : minimal loop", values=ratio("minimal"), at_least=0.7),
        Figure(bench="crawl", name="whole loop : bare aiohttp", values=ratio("bare")),
        Figure(bench="crawl", name="CPU per page, whole loop : Scrapy", values=ratio("scrapy", "cpu_us")),
        Figure(bench="crawl", name="CPU per page, whole loop : minimal loop", values=ratio("minimal", "cpu_us")),
        Figure(bench="crawl", name="…start-up included : Scrapy", values=ratio("scrapy", "with_start_per_s")),
        Figure(bench="crawl", name="…start-up included : minimal", values=ratio("minimal", "with_start_per_s")),
    ]
    for name in CONTENDERS:
        rates = [turn[name]["per_s"] for turn in measured]
        figures.append(Figure(bench="crawl", name=f"{name}, pages per second", values=rates, unit="/s"))
    return figures
