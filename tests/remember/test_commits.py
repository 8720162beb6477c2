"""What was acknowledged stays, and a batch is in the database wholly or not at all."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys

import pytest

from webstrata.clock import ManualClock
from webstrata.records import Page
from webstrata.remember.engine import open_store

BATCH = 40

# Visits every page again and again, in batches, and says the number of each batch once it is committed.
VISITOR = f"""
import asyncio, itertools, sys
from msgspec.structs import replace
from webstrata.clock import ManualClock
from webstrata.records import Batch, FinishedVisit, NewPage, Outcome, Visit
from webstrata.remember.engine import open_store

async def main():
    store = open_store(sys.argv[1], ManualClock())
    new = [NewPage(url=f"https://a.example/{{n}}", host="a.example") for n in range({BATCH})]
    await store.pages.add(new, 0.0)
    await store.queue.end_leases("visitor")
    for number in itertools.count(int(sys.argv[2])):
        pages = await store.queue.claim(float(number), 10 * {BATCH}, number + 0.5, "visitor")
        entries = tuple(
            FinishedVisit(
                page=replace(page, visits=page.visits + 1, next_at=number + 1.0, interval_s=number + 1.0),
                visit=Visit(page_id=page.id, url=page.url, at=float(number), outcome=Outcome.SAME, bytes=1),
            )
            for page in pages
        )
        found = (NewPage(url=f"https://b.example/{{number}}", host="b.example", tags=("t",)),)
        await store.visit_log.commit(Batch(entries=entries, discovered=found if number % 2 else ()))
        print(number, flush=True)

asyncio.run(main())
"""


def visit_until_killed(url: str, start: int, after: int, delay_s: float) -> int:
    """Kill the visitor a moment after its so-manieth acknowledgement; the last batch that it acknowledged."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", VISITOR, url, str(start)], env=environment, stdout=subprocess.PIPE, text=True
    ) as visitor:
        assert visitor.stdout is not None
        try:
            acknowledged = [int(visitor.stdout.readline()) for _ in range(after)]
            with pytest.raises(subprocess.TimeoutExpired):
                visitor.wait(delay_s)
        finally:
            visitor.send_signal(signal.SIGKILL)
        acknowledged += [int(line) for line in visitor.stdout if line.endswith("\n")]
    return acknowledged[-1]


def test_kill_at_any_moment_leaves_old_or_new(store_url: str) -> None:
    """After each of several kills every acknowledged batch is there, each batch is whole, and totals agree."""
    moments = random.Random(5)
    acknowledged: int = 0

    async def inspect() -> int:
        store = open_store(store_url, ManualClock())
        assert (await store.maintenance.check_engine()).faults == ()
        assert await store.maintenance.contradictions() == []
        pages: list[Page] = [page async for page in store.pages.stream(host="a.example")]
        logs = [[visit.at for visit in await store.visit_log.of_page(page.id, order="oldest")] for page in pages]
        assert len(pages) == BATCH
        assert all(log == logs[0] for log in logs), "a batch is there in part"
        assert {page.visits for page in pages} == {len(logs[0])}
        assert len(logs[0]) >= acknowledged
        before = await store.maintenance.totals(0.0)
        await store.maintenance.recount()
        assert await store.maintenance.totals(0.0) == before
        await store.close()
        return len(logs[0])

    done = 0
    for _ in range(4):
        acknowledged = visit_until_killed(store_url, done + 1, moments.randint(1, 8), moments.random() * 0.02)
        done = asyncio.run(inspect())
    assert done >= 4
