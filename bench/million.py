"""A million watched pages: claiming, counting, and `webstrata status` as a user meets it, start of Python included."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import uvloop

from bench import store
from bench.environment import compiling_once
from bench.figures import Figure
from webstrata.home import Home
from webstrata.node import Node
from webstrata.settings import Settings

_PAGES = 1_000_000
_PAGES_QUICK = 200_000


def run(quick: bool) -> list[Figure]:
    pages = _PAGES_QUICK if quick else _PAGES
    with tempfile.TemporaryDirectory() as name:
        home, _ = Home.create(Path(name))
        found = uvloop.run(store.run(Node(home, Settings()).store_url, pages, commits=20))
        status = _seconds(["status", "--json", "--home", name], Path(name))
        start = _seconds(["settings", "--json", "--home", name], Path(name))

    def figure(title: str, values: list[float], unit: str, at_most: float | None = None) -> Figure:
        return Figure(bench="million", name=f"{title} ({pages:,} pages)", values=values, unit=unit, at_most=at_most)

    return [
        figure("claim 1,000", [found["claim_1000_ms"]], "ms", at_most=50.0),
        figure("census", [found["census_ms"]], "ms", at_most=1000.0),
        figure("next due", [found["next_due_ms"]], "ms"),
        figure("`webstrata status`", status, "s", at_most=1.0),
        figure("commit, entries per second", [found["commit_entries_per_s"]], "/s"),
        figure("database, bytes per page", [found["bytes_per_page"]], "B"),
        Figure(bench="million", name="`webstrata settings`: a start without the store", values=start, unit="s"),
    ]


def _seconds(arguments: list[str], folder: Path) -> list[float]:
    """Some runs of a command; the first one, which compiles the modules, is left out."""
    command = [sys.executable, "-c", "from webstrata.cli import main; main()", *arguments]
    environment = compiling_once(folder)
    spans = []
    for _ in range(6):
        begun = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
        spans.append(time.perf_counter() - begun)
    return spans[1:]
