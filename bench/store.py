"""Speed of the store (add, claim, count, commit): `python bench/store.py [--pages N] [--url URL] [--json]`.

Without `--url` a SQLite file in a temporary folder is measured. The database in `--url` must be empty.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from typing import Any

from msgspec.structs import replace

from webstrata.clock import ManualClock
from webstrata.records import (
    Batch,
    Fingerprint,
    FinishedVisit,
    HostState,
    NewPage,
    Original,
    Outcome,
    Page,
    Position,
    Visit,
)
from webstrata.remember.engine import open_store
from webstrata.remember.store import SqlStore

_NOW = 1_800_000_000.0
_BATCH = 256
_HOSTS = 1_000


def new_pages(first: int, number: int) -> list[NewPage]:
    return [
        NewPage(url=f"https://host{n % _HOSTS}.example/section/{n}/page.html", host=f"host{n % _HOSTS}.example")
        for n in range(first, first + number)
    ]


def entry(page: Page, at: float) -> FinishedVisit:
    """A finished visit with the usual fields."""
    digest = f"{page.id:064x}"
    return FinishedVisit(
        page=replace(
            page,
            next_at=at + 86_400.0,
            interval_s=86_400.0,
            policy="dyn",
            policy_state=b"\0" * 32,
            reason="unchanged: twice the interval",
            visits=page.visits + 1,
            last_visit_at=at,
            last_seen_at=at,
            last_outcome=Outcome.SAME,
            etag='"5f2a-6130"',
            payload=f"sha1:{page.id:032d}",
            fingerprint=Fingerprint(
                raw=digest, size=20_000, media_type="text/html", title="A page", text=digest, links=digest
            ),
        ),
        visit=Visit(
            page_id=page.id,
            url=page.url,
            at=at,
            outcome=Outcome.SAME,
            status=200,
            duration_s=0.12,
            bytes=20_000,
            headers={"content-type": "text/html; charset=utf-8", "etag": '"5f2a-6130"', "server": "bench"},
            raw=digest,
            text=digest,
            payload=f"sha1:{page.id:032d}",
            position=Position(
                file="webstrata-20260101000000-0001.warc.gz",
                offset=page.id * 5_000,
                length=5_000,
                record_id=f"<urn:uuid:{page.id:032x}>",
            ),
        ),
    )


def batch(pages: list[Page], at: float) -> Batch:
    entries = tuple(entry(page, at) for page in pages)
    originals = tuple(
        Original(
            payload=e.visit.payload or "", record_id=e.visit.position.record_id, at=at, url=e.visit.url,
            file=e.visit.position.file, offset=e.visit.position.offset,
        )
        for e in entries
        if e.visit.position is not None
    )  # fmt: skip
    hosts = tuple(HostState(host=host, next_at=at) for host in {page.host for page in pages})
    return Batch(entries=entries, originals=originals, hosts=hosts)


async def timed(work: Callable[[], Awaitable[Any]], times: int = 1) -> float:
    """Median duration of several runs in seconds."""
    durations = []
    for _ in range(times):
        start = time.perf_counter()
        await work()
        durations.append(time.perf_counter() - start)
    return sorted(durations)[len(durations) // 2]


async def measure(store: SqlStore, pages: int, commits: int) -> dict[str, float]:
    result: dict[str, float] = {}
    first = min(100_000, pages)
    result["add_first_s"] = await timed(lambda: store.pages.add(new_pages(0, first), _NOW))
    result["add_again_s"] = await timed(lambda: store.pages.add(new_pages(0, first), _NOW))
    for start in range(first, pages, 100_000):
        await store.pages.add(new_pages(start, min(100_000, pages - start)), _NOW + start / pages)
    claim_times = iter(range(1, 1_000))
    result["claim_1000_ms"] = 1e3 * await timed(
        lambda: store.queue.claim(_NOW + 10, 1_000, _NOW + 1e6 + next(claim_times), "bench"), 9
    )
    result["totals_ms"] = 1e3 * await timed(lambda: store.maintenance.totals(_NOW + 10), 5)
    result["next_due_ms"] = 1e3 * await timed(store.queue.next_due, 9)
    claimed = await store.queue.claim(_NOW + 10, commits * _BATCH, _NOW + 2e6, "bench")
    batches = [batch(claimed[n : n + _BATCH], _NOW + 20 + n) for n in range(0, len(claimed), _BATCH)]
    commits_start = time.perf_counter()
    for each in batches:
        await store.visit_log.commit(each)
    result["commit_entries_per_s"] = len(claimed) / (time.perf_counter() - commits_start)
    # Rows of visited pages are longer than those of new pages.
    seen_at = _NOW + 20 + len(claimed) + 86_400.0
    result["claim_seen_1000_ms"] = 1e3 * await timed(
        lambda: store.queue.claim_pages([page.id for page in claimed[:1_000]], seen_at, 0.0, "bench"), 9
    )
    result["bytes_per_page"] = await store.maintenance.size_bytes() / pages
    return result


async def run(url: str, pages: int, commits: int) -> dict[str, float]:
    store = open_store(url, ManualClock(_NOW))
    try:
        return await measure(store, pages, commits)
    finally:
        await store.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url")
    parser.add_argument("--pages", type=int, default=1_000_000)
    parser.add_argument("--commits", type=int, default=40)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        url = options.url or f"sqlite:///{folder}/store.db"
        result = {"pages": options.pages, **asyncio.run(run(url, options.pages, options.commits))}
    if options.json:
        json.dump(result, sys.stdout)
        return
    for name, value in result.items():
        print(f"{name:24} {value:12,.1f}")


if __name__ == "__main__":
    main()
