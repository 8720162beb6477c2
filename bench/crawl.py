"""Pages per second of the whole loop, beside Scrapy merely downloading, a minimal archiving loop and a bare one.

All contenders fetch the same pages from the same origin, each in a process of its own, one after the other; the
turns are repeated, and each ratio is taken within one turn, so that a noisy machine disturbs both sides alike. CPU time
per page (all processes of a contender together) says what a machine that is busy otherwise would show.
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

from bench.environment import compiling_once
from bench.figures import Figure
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
# What is much faster or slower than the rest gets so many times the pages: all take about as long.
_SHARE = {"bare": 3.0, "scrapy": 0.4}


def measure(name: str, port: int, pages: int, environment: dict[str, str]) -> dict[str, float]:
    """One run of one contender; `with_start_per_s` counts from the start of its process to its end."""
    pages = int(pages * _SHARE.get(name, 1.0))
    begun = time.perf_counter()
    command = [*CONTENDERS[name], str(port), str(pages)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    whole_s = time.perf_counter() - begun
    if ran.returncode:
        raise RuntimeError(f"{name} failed:\n{ran.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(ran.stdout)
    cpu_us = found["cpu_us_per_page"] + 1e6 * found["children_cpu_s"] / found["pages"]
    return {**found, "cpu_us": cpu_us, "with_start_per_s": found["pages"] / whole_s}


def turns(repeats: int, pages: int) -> Iterator[dict[str, dict[str, float]]]:
    with serving() as (port, _, _), tempfile.TemporaryDirectory() as folder:
        environment = compiling_once(Path(folder))
        for name in CONTENDERS:
            measure(name, port, 100, environment)
        for _ in range(repeats):
            yield {name: measure(name, port, pages, environment) for name in CONTENDERS}


def run(quick: bool) -> list[Figure]:
    seen = list(turns(5 if quick else 7, _PAGES_QUICK if quick else _PAGES))

    def ratio(over: str, key: str = "per_s") -> list[float]:
        return [turn["webstrata"][key] / turn[over][key] for turn in seen]

    figures = [
        # There is one way to look at a page, with every layer of detection: the same figure answers for both.
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
        rates = [turn[name]["per_s"] for turn in seen]
        figures.append(Figure(bench="crawl", name=f"{name}, pages per second", values=rates, unit="/s"))
    return figures
