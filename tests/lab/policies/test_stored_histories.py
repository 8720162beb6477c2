"""Live equals lab: a small history on the living web and its replay in the lab give the same visits."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import numpy as np
import pytest

from webstrata import settings as settings_file
from webstrata import urls
from webstrata.clock import DAY_S, JumpingClock
from webstrata.errors import UsageError
from webstrata.home import Home
from webstrata.lab.livingweb.recording import Recording
from webstrata.lab.livingweb.server import LivingWeb
from webstrata.lab.policies.histories import Histories, make_histories
from webstrata.lab.policies.replay_budget import replay_budget
from webstrata.lab.policies.replay_timer import replay_timer
from webstrata.lab.policies.stored_histories import covered_days, stored_histories
from webstrata.lab.policies.truth import Truth
from webstrata.node import Node
from webstrata.records import NewPage
from webstrata.schedule.policy import Bounds
from webstrata.schedule.registry import policy, policy_state

START_AT = 20_000 * DAY_S
PAGES = 8
DAYS = 60
UNHURRIED = (
    "crawl.workers=0",
    "polite.delay=0s",
    "polite.delay_factor=0",
    "polite.address_delay=0s",
    "polite.obey_robots=false",
)
"""No delays: visits take place at their scheduled times."""


def changes() -> list[list[float]]:
    """Changes of pages with different rates, from a seed; every change is at noon."""
    random = np.random.default_rng(7)
    return [[day + 0.5 for day in range(DAYS) if random.random() < 0.6 / 2.0**n] for n in range(PAGES)]


def recordings(histories: list[list[float]]) -> list[Recording]:
    found = []
    for n, days in enumerate(histories):
        at = [START_AT - DAY_S, *(START_AT + day * DAY_S for day in days)]
        contents = {
            f"{n}.{k}": f"<html><body><p>edition {k} of page {n}: " + f"w{k}x{n} " * 30 + "</p></body></html>"
            for k in range(len(at))
        }
        found.append(
            Recording(
                site=f"page{n}",
                pages={"index.html": [(when, f"{n}.{k}") for k, when in enumerate(at)]},
                contents={name: text.encode() for name, text in contents.items()},
            )
        )
    return found


async def lived(folder: Path, *flags: str) -> tuple[dict[int, list[int]], Node]:
    """Days of all visits after the first, page by page."""
    clock = JumpingClock(START_AT)
    home, _ = Home.create(folder)
    async with LivingWeb(recordings(changes()), clock) as living:
        loaded, _ = settings_file.load(folder, environment={}, flags=(*UNHURRIED, *flags))
        fetch = msgspec.structs.replace(loaded.fetch, hosts=living.hosts(), allow_private=tuple(living.exceptions()))
        node = Node(home, msgspec.structs.replace(loaded, fetch=fetch), clock)
        pages = [f"http://page{n}.test/" for n in range(PAGES)]
        async with node.store() as store:
            await store.pages.add([NewPage(url=url, host=urls.host_of(url)) for url in pages], clock.now())
        async with node.crawling() as loop:
            await loop.run(START_AT + (DAYS + 0.5) * DAY_S)
    visits: dict[int, list[int]] = {}
    async with node.store() as store:
        for n, url in enumerate(pages):
            page = await store.pages.get(url)
            assert page is not None
            log = await store.visit_log.of_page(page.id, order="oldest")
            visits[n] = [round((visit.at - START_AT) / DAY_S) for visit in log[1:]]
    return visits, node


def truth() -> Truth:
    rows = [
        {
            "corpus": "small",
            "page": f"page{n}",
            "site": f"page{n}",
            "first": START_AT - DAY_S,
            "until": START_AT + DAYS * DAY_S,
            "changes": [START_AT + day * DAY_S for day in days],
        }
        for n, days in enumerate(changes())
    ]
    return Truth(make_histories(rows), float(DAYS))


@pytest.mark.parametrize("name", ["dyn", "week"])
def test_a_timer_visits_the_same_days_live_and_in_the_lab(tmp_path: Path, name: str) -> None:
    """A timer policy makes the same visits live and in the lab."""
    visits, _ = asyncio.run(
        lived(tmp_path, f"schedule.policy={name}", "schedule.min_interval=1d", "schedule.start_interval=7d")
    )
    log = replay_timer(policy(name), truth())
    assert visits == {n: sorted(log.at[log.page == n].round().astype(int).tolist()) for n in range(PAGES)}


@pytest.mark.parametrize("name", ["value", "optimal-capture"])
def test_a_budgeted_policy_visits_the_same_days_live_and_in_the_lab(tmp_path: Path, name: str) -> None:
    """Two visits a day for eight pages, a round a day: the allocator chooses the same pages on the same days."""
    visits, _ = asyncio.run(
        lived(
            tmp_path,
            f"schedule.policy={name}",
            "schedule.min_interval=12h",
            "budget.total=0.25/page/day",
            "budget.carry_over=1d",
            "crawl.round=1d",
        )
    )
    bounds = Bounds(min_days=0.5, max_days=180.0)
    pages = policy_state(name, np.arange(PAGES), bounds=bounds)
    log = replay_budget(pages, truth(), 2.0 * DAYS)
    assert visits == {n: sorted(log.at[log.page == n].astype(int).tolist()) for n in range(PAGES)}


def test_what_visits_saw_becomes_histories(tmp_path: Path) -> None:
    """Each observed change is half-way between two visits; the window is covered by most pages."""
    visits, node = asyncio.run(
        lived(tmp_path, "schedule.policy=fixed", "schedule.start_interval=2d", "schedule.min_interval=1d")
    )
    assert set(visits[0]) == set(range(2, DAYS + 1, 2))

    async def read() -> Histories:
        async with node.store() as store:
            return await stored_histories(store)

    histories = asyncio.run(read())
    assert len(histories) == PAGES
    assert covered_days(histories) == DAYS
    for n in (0, PAGES - 1):
        days = (histories.changes[histories.offsets[n] : histories.offsets[n + 1]] - START_AT) / DAY_S
        expected = sorted({2 * int(day // 2) + 1 for day in changes()[n]})
        assert days.round(3).tolist() == expected


def test_an_empty_store_has_no_history(tmp_path: Path) -> None:
    """A store without a page that was seen twice is an error."""
    home, _ = Home.create(tmp_path)

    async def read() -> None:
        settings, _ = settings_file.load(tmp_path, environment={})
        async with Node(home, settings).store() as store:
            await stored_histories(store)

    with pytest.raises(UsageError, match="seen twice"):
        asyncio.run(read())
