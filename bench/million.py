"""A million watched pages: time to claim and count pages, and of `webstrata status` with the start of Python."""

from __future__ import annotations

import tempfile
from pathlib import Path

import uvloop

from bench import store
from bench.figures import Figure, command_seconds
from webstrata.home import Home
from webstrata.node import Node
from webstrata.settings import Settings

_PAGES = 1_000_000
_PAGES_QUICK = 200_000


def run(quick: bool) -> list[Figure]:
    pages = _PAGES_QUICK if quick else _PAGES
    with tempfile.TemporaryDirectory() as name:
        home, _ = Home.create(Path(name))
        measured = uvloop.run(store.run(Node(home, Settings()).store_url, pages, commits=20))
        status = command_seconds(["status", "--json", "--home", name], Path(name))
        start = command_seconds(["settings", "--json", "--home", name], Path(name))

    def figure(title: str, values: list[float], unit: str, at_most: float | None = None) -> Figure:
        return Figure(bench="million", name=f"{title} ({pages:,} pages)", values=values, unit=unit, at_most=at_most)

    return [
        figure("claim 1,000", [measured["claim_1000_ms"]], "ms", at_most=50.0),
        figure("totals", [measured["totals_ms"]], "ms", at_most=1000.0),
        figure("next due", [measured["next_due_ms"]], "ms"),
        figure("`webstrata status`", status, "s", at_most=1.0),
        figure("commit, entries per second", [measured["commit_entries_per_s"]], "/s"),
        figure("database, bytes per page", [measured["bytes_per_page"]], "B"),
        Figure(bench="million", name="`webstrata settings` (start without the store)", values=start, unit="s"),
    ]
