"""A month of two recorded sites: their servers count no violations of politeness, unless it is switched off."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec

from tests.flows.conftest import SharedLanes
from webstrata import settings as settings_file
from webstrata import urls
from webstrata.clock import DAY_S, JumpingClock
from webstrata.flows.parsers.parser_pool import ParserPool
from webstrata.home import Home
from webstrata.lab.livingweb.recording import SHIPPED_WINDOW, load_shipped
from webstrata.lab.livingweb.server import LivingWeb, PacedWeb
from webstrata.node import Node
from webstrata.records import NewPage

POLITE = ("polite.delay=1s", "budget.total=10/day")
RUDE = (
    "polite.delay=0s",
    "polite.delay_factor=0",
    "polite.address_delay=0s",
    "polite.connections_per_host=8",
    "polite.obey_robots=false",
    "budget.total=20/day",
)


async def crawl_living_web(
    folder: Path, lanes: SharedLanes, days: int, flags: tuple[str, ...]
) -> tuple[LivingWeb, int]:
    clock = JumpingClock(SHIPPED_WINDOW[0])
    recordings = [recording for recording in load_shipped() if recording.site in ("choldgraf", "leancommunity")]
    home, _ = Home.create(folder)
    async with LivingWeb(recordings, clock) as living:
        loaded, _ = settings_file.load(folder, environment={}, flags=("crawl.round=6h", *flags))
        fetch = msgspec.structs.replace(loaded.fetch, hosts=living.hosts(), allow_private=tuple(living.exceptions()))
        settings = msgspec.structs.replace(loaded, fetch=fetch)
        node = Node(home, settings, clock, make_parsers=lambda processes: ParserPool(processes, lanes=lanes))
        async with node.store() as store:
            await store.pages.add([NewPage(url=url, host=urls.host_of(url)) for url in living.urls()], clock.now())
        async with node.crawling(wrap_web=lambda web: PacedWeb(web, clock, living)) as loop:
            await loop.run(SHIPPED_WINDOW[0] + days * DAY_S)
        async with node.store() as store:
            totals = await store.maintenance.totals(clock.now())
        return living, totals.visits


def test_polite_visits_cause_no_violations(tmp_path: Path, shared_lanes: SharedLanes) -> None:
    """The servers count no violation in a month with hundreds of requests."""
    living, visits = asyncio.run(crawl_living_web(tmp_path, shared_lanes, 31, POLITE))
    assert visits > 200
    assert living.meter.requests.total() > visits
    assert living.meter.violations() == []


def test_impolite_visits_are_counted(tmp_path: Path, shared_lanes: SharedLanes) -> None:
    """With politeness switched off the servers count short gaps, overlaps and pages without robots.txt."""
    living, visits = asyncio.run(crawl_living_web(tmp_path, shared_lanes, 10, RUDE))
    assert visits > 100
    assert {"host-gap", "overlap", "no-robots"} <= set(living.meter.counts)
    assert living.meter.count > visits
