"""Processes that spend one budget never spend more than it has, and what a killed one took comes back."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from webstrata.clock import ManualClock
from webstrata.records import BudgetState
from webstrata.remember.engine import open_store
from webstrata.remember.store import SqlStore

TAKE_PAY_AND_DIE = """
import asyncio, os, signal, sys
from webstrata.clock import ManualClock
from webstrata.records import Batch, FinishedVisit, NewPage, Outcome, BudgetState, Visit
from webstrata.remember.engine import open_store

async def live():
    store = open_store(sys.argv[1], ManualClock())
    await store.pages.add([NewPage(url="https://a.example/", host="a.example")], 0.0)
    (page,) = await store.queue.claim(0.0, 1, 60.0, "victim")
    taken = BudgetState(name="all", price=0.5, credit=5.0, at=0.0)
    await store.budgets.reserve("victim", 0.0, 60.0, lambda stands, own: [(taken, 3.0)])
    visit = Visit(page_id=page.id, url=page.url, at=1.0, outcome=Outcome.SAME)
    entries = (FinishedVisit(page=page, visit=visit),)
    await store.visit_log.commit(Batch(entries=entries, payer="victim", paid=(("all", 1.0),)))
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(live())
"""


def test_many_spenders_spend_what_there_is(store_url: str) -> None:
    """Eight processes' worth of stores take portions at once until nothing is left: together exactly the budget."""

    async def one(store: SqlStore, owner: str, spent: list[float]) -> None:
        for _ in range(12):
            granted: list[float] = []

            def deal(
                stands: Mapping[str, BudgetState], own: Mapping[str, float], granted: list[float] = granted
            ) -> list[tuple[BudgetState, float]]:
                credit = stands["all"].credit if "all" in stands else 50.0
                granted[:] = [min(credit, 3.0)]
                return [(BudgetState(name="all", price=0.5, credit=credit - granted[0], at=0.0), 0.0)]

            await store.budgets.reserve(owner, 0.0, 60.0, deal)
            spent += granted

    async def run() -> None:
        stores = [open_store(store_url, ManualClock()) for _ in range(8)]
        spent: list[float] = []
        await asyncio.gather(*(one(store, f"owner {n}", spent) for n, store in enumerate(stores)))
        assert sum(spent) == 50.0
        assert [pace.credit for pace in await stores[0].budgets.states()] == [0.0]
        for store in stores:
            await store.close()

    asyncio.run(run())


def test_a_killed_process_loses_what_it_spent_and_nothing_else(store_url: str) -> None:
    """Of three taken one was spent before kill -9: two come back when the process is back, or its time is over."""
    environment: dict[str, Any] = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    killed = subprocess.run([sys.executable, "-c", TAKE_PAY_AND_DIE, store_url], env=environment, check=False)
    assert killed.returncode == -9

    async def run() -> None:
        store = open_store(store_url, ManualClock())
        await store.budgets.reserve("other", 59.0, 90.0, lambda stands, own: ())
        assert [pace.credit for pace in await store.budgets.states()] == [5.0]
        await store.budgets.reserve("victim", 59.0, 90.0, lambda stands, own: ())
        assert [pace.credit for pace in await store.budgets.states()] == [7.0]
        await store.close()

    asyncio.run(run())
