"""A budget in bytes on a home of large and small pages: the real loop, real HTTP, SQLite, a simulated clock."""

from __future__ import annotations

import asyncio
from hashlib import sha256
from pathlib import Path

import msgspec
import numpy as np

from webstrata import settings as settings_file
from webstrata import urls
from webstrata.clock import DAY_S, JumpingClock
from webstrata.home import Home
from webstrata.lab.livingweb.recording import Recording
from webstrata.lab.livingweb.server import LivingWeb, PacedWeb
from webstrata.node import Node
from webstrata.records import NewPage, Page

START = 1_700_000_000.0
FLAGS = ("crawl.round=6h", "crawl.workers=0", "schedule.min_interval=6h", "polite.delay=1s")
DAYS = 30
WARM_UP_DAYS = 8
"""First copies of all pages are paid for in this time; visits count after it."""


def recorded(site: str, paragraphs: int, every_days: float, pages: int, seed: int) -> Recording:
    """A site whose pages change at random, all of about the same size."""
    random = np.random.default_rng(seed)
    contents: dict[str, bytes] = {}
    versions: dict[str, list[tuple[float, str | None]]] = {}
    for page in range(pages):
        number = random.poisson(DAYS / every_days)
        times = [START - DAY_S, *(START + np.sort(random.uniform(0.0, DAYS * DAY_S, number))).tolist()]
        for version, at in enumerate(times):
            words = random.integers(0, 10**9, paragraphs)
            lines = "".join(f"<p>Paragraph {word} of version {version} of this page.</p>\n" for word in words)
            body = f"<html><title>Page {page}</title><body>{lines}</body></html>".encode()
            blob = sha256(body).hexdigest()
            contents[blob] = body
            versions.setdefault(f"p{page}.html", []).append((at, blob))
    return Recording(site=site, pages=versions, contents=contents)


async def crawled(folder: Path, budget: str) -> tuple[int, int, dict[str, Page]]:
    """(changes captured, bytes downloaded, pages by URL) in a month with this budget."""
    clock = JumpingClock(START)
    recordings = [recorded("large", 2000, 2.0, 10, seed=1), recorded("small", 8, 1.0, 10, seed=2)]
    home, _ = Home.create(folder)
    async with LivingWeb(recordings, clock) as living:
        flags = (*FLAGS, f"budget.total={budget}")
        loaded, _ = settings_file.load(folder, environment={}, flags=flags)
        fetch = msgspec.structs.replace(loaded.fetch, hosts=living.hosts(), allow_private=tuple(living.exceptions()))
        node = Node(home, msgspec.structs.replace(loaded, fetch=fetch), clock)
        found = living.urls()
        async with node.store() as store:
            await store.pages.add([NewPage(url=url, host=urls.host_of(url)) for url in found], clock.now())
        async with node.crawling(wrap_web=lambda web: PacedWeb(web, clock, living), whole_batches=True) as loop:
            await loop.run(START + DAYS * DAY_S)
        async with node.store() as store:
            pages = {url: page for url in found if (page := await store.pages.get(url)) is not None}
            visits = [visit for page in pages.values() for visit in await store.visit_log.of_page(page.id)]
        later = [visit for visit in visits if visit.at > START + WARM_UP_DAYS * DAY_S]
        return sum(visit.counts for visit in later), sum(visit.bytes for visit in later), pages


def test_the_same_bytes_capture_more(tmp_path: Path) -> None:
    """Bytes that a budget in visits downloads, given as a budget in bytes, capture at least 1.3 times as many changes:
    small pages are visited more often, because a capture of a large one costs as much as many of theirs."""
    captured, size, _ = asyncio.run(crawled(tmp_path / "visits", "8/day"))
    budget = f"{round(size / (DAYS - WARM_UP_DAYS))}B/day"
    by_bytes, size_by_bytes, pages = asyncio.run(crawled(tmp_path / "bytes", budget))

    assert captured > 20
    assert size_by_bytes <= 1.1 * size
    assert by_bytes >= 1.3 * captured, (by_bytes, captured, size_by_bytes, size)
    sizes = {url: page.full_bytes or 0 for url, page in pages.items()}
    large, small = ([size for url, size in sizes.items() if f"//{name}." in url] for name in ("large", "small"))
    assert min(large) > 10 * max(small)
    assert any(page.answers_304 for page in pages.values())
