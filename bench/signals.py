"""What signals cost: a sitemap of 50,000 watched pages is compared with what it said before, and the news are written.

The yardstick is reading that sitemap (XML to entries): what follows should cost less, be nothing new, some or all of
its times renewed. The very first read writes a row for each page and is shown apart.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path

from bench.figures import Figure
from webstrata.clock import RealClock, iso
from webstrata.flows.crawl.judge import JudgedVisit
from webstrata.flows.crawl.parse import ParsedContent
from webstrata.flows.crawl.signals import collect_signals
from webstrata.observe.listings import listed_items
from webstrata.records import Batch, Change, Fingerprint, NewPage, Outcome, Page, VisitResult
from webstrata.remember.engine import open_store
from webstrata.remember.store import SqlStore

_PAGES, _PAGES_QUICK = 50_000, 5_000
_RENEWED = 100
_MOST_RATIO = 1.0
_MAP = "https://a.example/sitemap.xml"
_START_AT = 1_700_000_000.5


def run(quick: bool) -> list[Figure]:
    """First read, nothing new, some renewed, all renewed: seconds to hear, over seconds to read."""
    ratios = asyncio.run(_measure(_PAGES_QUICK if quick else _PAGES))
    return [
        Figure(
            bench="signals",
            name=f"hearing a sitemap, {name}, / reading it",
            values=[ratio],
            at_most=None if name == "the first time" else _MOST_RATIO,
        )
        for name, ratio in ratios.items()
    ]


async def _measure(number: int) -> dict[str, float]:
    urls = [f"https://a.example/page/{i}" for i in range(number)]
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(f"sqlite:///{Path(folder) / 'bench.db'}", RealClock())
        try:
            await store.pages.add([NewPage(url=url, host="a.example") for url in (*urls, _MAP)], _START_AT)
            page = await store.pages.get(_MAP)
            assert page is not None
            cases = {"the first time": 0, "nothing new": 0, "some times renewed": _RENEWED, "all renewed": number}
            return {
                name: await _ratio(store, page, urls, renewed, version)
                for version, (name, renewed) in enumerate(cases.items())
            }
        finally:
            await store.close()


async def _ratio(store: SqlStore, page: Page, urls: list[str], renewed: int, version: int) -> float:
    times = [_START_AT + (version if i < renewed else 0) for i in range(len(urls))]
    rows = (f"<url><loc>{url}</loc><lastmod>{iso(at)}</lastmod></url>" for url, at in zip(urls, times, strict=True))
    body = f"<urlset>{''.join(rows)}</urlset>".encode()
    begun = time.process_time()
    signals = listed_items(body, "application/xml", None, _MAP, "sitemap").signals
    read_s = time.process_time() - begun
    mark = Fingerprint(raw=str(version), size=len(body), data=str(version))
    seen = JudgedVisit(
        visited=VisitResult(page=page, at=_START_AT + 100 + version),
        found=ParsedContent(payload="", fingerprint=mark, signals=signals),
        change=Change(outcome=Outcome.SAME),
    )
    begun = time.process_time()
    found = await collect_signals([seen], store, [])
    await store.visit_log.commit(Batch(announced=found.announced, checked=found.checked))
    return (time.process_time() - begun) / read_s
