"""A week of a home with pages of many speeds: the next visit that `list` shows right after a visit comes true."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

import numpy as np
import pytest

from tests.flows.conftest import Archiver
from tests.flows.scripted_servers import ReceivedRequest, Reply, Script, reply
from webstrata.records import IntervalLimit

HOUR_S = 3600.0
HOSTS = {f"{name}.test": f"127.0.0.{number}" for number, name in enumerate("abcdef", 2)}
PERIODS_H = (0.5, 1, 3, 6, 12, 24, 72, 168, 720, 1_000_000)
"""One page of each host changes once in each of these times."""

_NOTED = """
CREATE TABLE promised (page_id INTEGER, at REAL, next_at REAL);
CREATE TRIGGER noted AFTER UPDATE OF last_seen_at ON pages WHEN NEW.last_seen_at IS NOT NULL BEGIN
  INSERT INTO promised VALUES (NEW.id, NEW.last_seen_at, NEW.next_at);
END;
"""


def _changing(period_s: float, phase_s: float) -> Script:
    def serve(request: ReceivedRequest) -> Reply:
        return reply(f"<p>edition {int((request.at + phase_s) // period_s)} of a page of this home")

    return serve


async def _watch_sixty(archiver: Archiver) -> None:
    """60 pages of ten speeds on six hosts; six must be seen every three hours, six at most twice a day."""
    random = np.random.default_rng(1)
    pages: dict[str, list[str]] = {"often": [], "seldom": [], "": []}
    for number in range(60):
        url = f"http://{'abcdef'[number % 6]}.test/{number}"
        period_s = HOUR_S * PERIODS_H[number // 6] * random.uniform(1.0, 1.3)
        archiver.servers.serve(url, _changing(period_s, random.uniform(0.0, period_s)))
        pages["often" if number % 10 == 3 else "seldom" if number % 10 == 7 else ""].append(url)
    for tag, addresses in pages.items():
        await archiver.watch(*addresses, tags=(tag,) if tag else ())
    async with archiver.node.store() as store:
        for limit in (
            IntervalLimit(kind="tag", name="often", min_s=None, max_s=3 * HOUR_S),
            IntervalLimit(kind="tag", name="seldom", min_s=12 * HOUR_S, max_s=None),
        ):
            await store.budgets.set_interval_limit(limit)


@pytest.mark.timeout(1200)
def test_the_next_visit_that_list_shows_comes_true(run_scenario: Callable[..., None]) -> None:
    """The median error is below 10 % of the time between two visits, and nine of ten are below 25 %."""

    async def scenario(archiver: Archiver) -> None:
        await _watch_sixty(archiver)
        with sqlite3.connect(archiver.home.database) as database:
            database.executescript(_NOTED)
        await archiver.run(7 * 24 * HOUR_S)
        with sqlite3.connect(archiver.home.database) as database:
            noted = database.execute("SELECT page_id, at, next_at FROM promised ORDER BY page_id, at").fetchall()
            database.executescript("DROP TRIGGER noted; DROP TABLE promised;")
        visits = np.array(noted)
        same_page = visits[1:, 0] == visits[:-1, 0]
        between = (visits[1:, 1] - visits[:-1, 1])[same_page]
        error = np.abs(visits[1:, 1] - visits[:-1, 2])[same_page] / between
        assert len(error) > 2400, "the budget of six visits per page and day is spent"
        assert np.median(error) < 0.10
        assert np.mean(error < 0.25) > 0.90

    run_scenario(scenario, hosts=HOSTS)
