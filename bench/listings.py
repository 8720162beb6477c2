"""Speed of listings over all visits: `python -m bench.listings [--visits N] [--url URL] [--json]`.

A store with this number of visits of 10,000 pages is made first: one of 50 found a change, one of 100 failed, and one
page of 100 has a tag. Without `--url` it is a SQLite file in a temporary folder. The database in `--url` must be empty.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile

from msgspec.structs import replace

from bench.store import entry, new_pages, timed
from webstrata.clock import DAY_S, ManualClock
from webstrata.records import (
    Batch,
    ChangeKind,
    Failure,
    FailureKind,
    FinishedVisit,
    Outcome,
    Page,
    PageFilter,
    VisitFilter,
)
from webstrata.remember.engine import open_store
from webstrata.remember.store import SqlStore

_NOW = 1_800_000_000.0
_PAGES = 10_000
_BATCH = 2_000
_CHANGED = {"outcome": Outcome.CHANGED, "kind": ChangeKind.CONTENT, "counts": True, "significance": 0.5}
_FAILED = {
    "outcome": Outcome.ERROR,
    "kind": ChangeKind.ERROR,
    "failure": Failure(kind=FailureKind.BACKOFF, detail="status 503"),
}


def _entry(page: Page, number: int, at: float) -> FinishedVisit:
    found = entry(page, at)
    fields = _CHANGED if number % 50 == 7 else _FAILED if number % 100 == 9 else {}
    return replace(found, visit=replace(found.visit, **fields))


async def fill(store: SqlStore, visits: int) -> float:
    """Write the visits, one page after the other, a second apart; returns the time of the last."""
    added = [replace(page, tags=("t",) if n % 100 == 0 else ()) for n, page in enumerate(new_pages(0, _PAGES))]
    await store.pages.add(added, _NOW)
    pages = [page async for page in store.pages.stream()]
    for first in range(0, visits, _BATCH):
        numbers = range(first, min(first + _BATCH, visits))
        entries = (_entry(pages[number * 7 % len(pages)], number, _NOW + number) for number in numbers)
        await store.visit_log.commit(Batch(entries=tuple(entries)))
    return _NOW + visits


async def measure(store: SqlStore, visits: int) -> dict[str, float]:
    """Milliseconds of each listing, the fastest of three."""
    end = await fill(store, visits)

    async def first_rows(wanted: VisitFilter) -> None:
        _ = [row async for row in store.visit_log.listed(wanted, limit=100)]

    async def count(wanted: VisitFilter) -> None:
        await store.visit_log.count_listed(wanted)

    async def failing() -> None:
        found = [page async for page in store.pages.listed(PageFilter(), "changed", limit=100)]
        await store.visit_log.failing([page.id for page in found])

    changes = VisitFilter(which="changes")
    questions = {
        "changes_newest_100_ms": lambda: first_rows(changes),
        "changes_of_a_day_count_ms": lambda: count(replace(changes, since=end - DAY_S)),
        "changes_of_all_time_count_ms": lambda: count(changes),
        "changes_of_a_tag_100_ms": lambda: first_rows(replace(changes, tag="t")),
        "changes_of_a_host_100_ms": lambda: first_rows(replace(changes, host="host7.example")),
        "changes_rare_kind_100_ms": lambda: first_rows(replace(changes, kind=ChangeKind.MOVED)),
        "log_newest_100_ms": lambda: first_rows(VisitFilter()),
        "log_of_a_tag_100_ms": lambda: first_rows(VisitFilter(tag="t")),
        "log_of_a_missing_tag_ms": lambda: first_rows(VisitFilter(tag="none")),
        "errors_newest_100_ms": lambda: first_rows(VisitFilter(which="errors")),
        "pages_by_change_100_ms": failing,
    }
    return {name: 1_000 * min([await timed(question) for _ in range(3)]) for name, question in questions.items()}


async def run(url: str, visits: int) -> dict[str, float]:
    store = open_store(url, ManualClock(_NOW))
    try:
        return await measure(store, visits)
    finally:
        await store.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url")
    parser.add_argument("--visits", type=int, default=1_000_000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = asyncio.run(run(options.url or f"sqlite:///{folder}/store.db", options.visits))
    if options.json:
        json.dump({"visits": options.visits, **found}, sys.stdout, indent=2)
        return
    for name, value in found.items():
        sys.stdout.write(f"{name:<32} {value:10.1f}\n")


if __name__ == "__main__":
    main()
