"""Cost of signals: a sitemap of 50,000 watched pages is compared with its previous content, and new entries are stored.

The cost is divided by that of parsing the sitemap (XML to entries). It should be lower, whether none, some or all of
the times in the sitemap are new. The first comparison stores a row for each page and is a separate figure.
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
_MAX_RATIO = 1.0
_SITEMAP = "https://a.example/sitemap.xml"
_START_AT = 1_700_000_000.5
_FIRST = "first time"


def run(quick: bool) -> list[Figure]:
    """CPU time to collect the signals divided by that of parsing, for four kinds of changes."""
    ratios = asyncio.run(_measure(_PAGES_QUICK if quick else _PAGES))
    return [
        Figure(
            bench="signals",
            name=f"collecting signals : parsing, {name}",
            values=[ratio],
            at_most=None if name == _FIRST else _MAX_RATIO,
        )
        for name, ratio in ratios.items()
    ]


async def _measure(number: int) -> dict[str, float]:
    urls = [f"https://a.example/page/{i}" for i in range(number)]
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(f"sqlite:///{Path(folder) / 'bench.db'}", RealClock())
        try:
            await store.pages.add([NewPage(url=url, host="a.example") for url in (*urls, _SITEMAP)], _START_AT)
            page = await store.pages.get(_SITEMAP)
            assert page is not None
            cases = {_FIRST: 0, "nothing new": 0, f"{_RENEWED} times new": _RENEWED, "all times new": number}
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
    start = time.process_time()
    signals = listed_items(body, "application/xml", None, _SITEMAP, "sitemap").signals
    parse_s = time.process_time() - start
    fingerprint = Fingerprint(raw=str(version), size=len(body), data=str(version))
    judged = JudgedVisit(
        result=VisitResult(page=page, at=_START_AT + 100 + version),
        parsed=ParsedContent(payload="", fingerprint=fingerprint, signals=signals),
        change=Change(outcome=Outcome.SAME),
    )
    start = time.process_time()
    await store.visit_log.commit(Batch(announced=await collect_signals([judged], store, [])))
    return (time.process_time() - start) / parse_s
