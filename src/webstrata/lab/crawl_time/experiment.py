"""Datamonitor's Table 3: by how much crawls of some length were over- and under-estimated, and how many of them.

The crawl-time experiment: real crawls of the living web, each estimated before it is made.

One home crawls on; before each crawl both estimators look at its store (the log of earlier crawls, what politeness
remembers) and at the names' addresses, as any crawler could, and at nothing else. The first crawls only teach.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from webstrata import urls
from webstrata.clock import JumpingClock, parse_instant
from webstrata.flows.crawl.loop import CrawlLoop
from webstrata.flows.planning import by_host, domains_of, plan_input
from webstrata.lab.crawl_time.sites import CrawlScenario, CrawlTimeSites
from webstrata.lab.livingweb.paced import PacedWeb
from webstrata.lab.livingweb.server import LivingWeb
from webstrata.permit.gate import PermitGate
from webstrata.plan.estimate import CrawlTimeEstimate, estimate
from webstrata.plan.firstfit import pack
from webstrata.plan.load import SpacingModel
from webstrata.ports import Clock, Store, Web
from webstrata.records import Batch, NewPage

GROUPS: tuple[tuple[str, float, float], ...] = (
    ("t < 30min", 0.0, 1800.0),
    ("30min < t < 60min", 1800.0, 3600.0),
    ("60min < t < 120min", 3600.0, 7200.0),
    ("120min < t < 180min", 7200.0, 10800.0),
    ("180min < t < 240min", 10800.0, 14400.0),
    ("t > 240min", 14400.0, float("inf")),
)
ALL = "all"
CLOSE = 0.1


class CrawlTimeRow(Struct, frozen=True, kw_only=True):
    """One group of one estimator. Over and under are mean shares of the actual time (0.78 is 78 %)."""

    estimator: str
    group: str
    over: float | None
    over_crawls: int
    under: float | None
    under_crawls: int
    crawls: int
    within_10_percent: float | None
    """Share of the crawls that were estimated as closely."""


def table(estimator: str, pairs: Iterable[tuple[float, float]]) -> list[CrawlTimeRow]:
    """Rows of (actual, estimated) seconds, one for each group and one for all of them."""
    found = [(actual, estimated) for actual, estimated in pairs if actual > 0]
    rows = [_row(estimator, name, [pair for pair in found if low <= pair[0] < high]) for name, low, high in GROUPS]
    return [*rows, _row(estimator, ALL, found)]


def _row(estimator: str, group: str, pairs: Sequence[tuple[float, float]]) -> CrawlTimeRow:
    errors = [estimated / actual - 1.0 for actual, estimated in pairs]
    over = [error for error in errors if error >= 0]
    under = [error for error in errors if error < 0]
    return CrawlTimeRow(
        estimator=estimator,
        group=group,
        over=_mean(over),
        over_crawls=len(over),
        under=_mean(under),
        under_crawls=len(under),
        crawls=len(errors),
        within_10_percent=_mean([float(abs(error) <= CLOSE) for error in errors]),
    )


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


START_AT = parse_instant("2024-01-01")
TEACHING = 15
"""Crawls before the first that counts."""


class CrawlNode(Protocol):
    """The assembled node, as much of it as the experiment uses."""

    def store(self) -> AbstractAsyncContextManager[Store]: ...

    async def gate(self, store: Store) -> PermitGate: ...

    def web(self) -> Web: ...

    def manner(self) -> SpacingModel: ...

    def crawling(self, *, wrap_web: Callable[[Web], Web]) -> AbstractAsyncContextManager[CrawlLoop]: ...


Assemble = Callable[[Clock, Mapping[str, str], Sequence[str], float, int], CrawlNode]
"""(clock, hosts, exceptions of the address guard, own delay, threads) -> an archiver; its home is always the same."""


class CrawlMeasurement(Struct, frozen=True, kw_only=True):
    """One crawl: what was said before, and how long it took."""

    crawl: int
    visits: int
    hosts: int
    unknown_hosts: int
    delay_s: float
    threads: int
    actual_s: float
    ours_s: float
    low_s: float
    high_s: float
    paper_s: float


class CrawlTimeResults(Struct, frozen=True, kw_only=True):
    crawls: list[CrawlMeasurement]
    table: list[CrawlTimeRow]
    inside_interval: float | None
    """Share of the crawls that lie in the interval of ours, which is to hold eight of ten."""
    politeness_violations: int
    seed: int
    teaching: int


async def run(
    assemble: Assemble,
    *,
    crawls: int,
    seed: int,
    progress: Callable[[CrawlMeasurement], None],
    teaching: int = TEACHING,
) -> CrawlTimeResults:
    """Make the crawls, those that only teach first."""
    clock = JumpingClock(START_AT)
    world = CrawlTimeSites(seed, START_AT)
    made: list[CrawlMeasurement] = []
    async with LivingWeb(world.recordings, clock, manners=world.manners) as living:
        for number, crawl in enumerate(world.crawls(teaching + crawls)):
            await clock.sleep_until(max(crawl.at, clock.now()))
            _set_latencies(living, crawl)
            archiver = assemble(clock, living.hosts(), living.exceptions(), crawl.delay_s, crawl.threads)
            one = await _estimate_and_crawl(archiver, crawl, number - teaching + 1, clock, living)
            if number >= teaching:
                made.append(one)
                progress(one)
        violations = living.meter.count
    return summed_up(made, violations, seed, teaching)


def summed_up(made: Sequence[CrawlMeasurement], violations: int, seed: int, teaching: int) -> CrawlTimeResults:
    inside = [float(one.low_s <= one.actual_s <= one.high_s) for one in made]
    return CrawlTimeResults(
        crawls=list(made),
        table=[
            *table("paper", ((one.actual_s, one.paper_s) for one in made)),
            *table("ours", ((one.actual_s, one.ours_s) for one in made)),
        ],
        inside_interval=sum(inside) / len(inside) if inside else None,
        politeness_violations=violations,
        seed=seed,
        teaching=teaching,
    )


def _set_latencies(living: LivingWeb, crawl: CrawlScenario) -> None:
    """Servers are quicker on some days than on others."""
    for site in living.sites.values():
        site.manners = replace(site.manners, latency_mean_s=crawl.latencies[site.recording.site])


async def _estimate_and_crawl(
    archiver: CrawlNode, crawl: CrawlScenario, number: int, clock: Clock, living: LivingWeb
) -> CrawlMeasurement:
    async with archiver.store() as store:
        ours, paper_s, unknown = await _estimates(archiver, store, crawl, clock.now())
        pages = [NewPage(url=url, host=urls.host_of(url)) for url in crawl.urls]
        await store.pages.add(pages, clock.now())
        await store.visit_log.commit(Batch(wake=tuple((url, clock.now()) for url in crawl.urls)))
    started_at = clock.now()

    def on_the_clock(web: Web) -> Web:
        return PacedWeb(web, clock, living)

    async with archiver.crawling(wrap_web=on_the_clock) as loop:
        visits = await loop.crawl()
    return CrawlMeasurement(
        crawl=number,
        visits=visits,
        hosts=ours.hosts,
        unknown_hosts=unknown,
        delay_s=crawl.delay_s,
        threads=crawl.threads,
        actual_s=clock.now() - started_at,
        ours_s=ours.median_s,
        low_s=ours.low_s,
        high_s=ours.high_s,
        paper_s=paper_s,
    )


async def _estimates(
    archiver: CrawlNode, store: Store, crawl: CrawlScenario, now: float
) -> tuple[CrawlTimeEstimate, float, int]:
    """(ours, the paper's seconds, hosts of which the log knows nothing)."""
    web = archiver.web()
    try:
        seen = await plan_input(by_host(crawl.urls), store=store, gate=await archiver.gate(store), web=web, now=now)
    finally:
        await web.close()
    manner = archiver.manner()
    ours = estimate(seen.loads, seen.downloads, manner, crawl.threads)
    paper = pack(domains_of(seen.loads, seen.downloads, manner.delay_s), crawl.threads)
    unknown = sum(not seen.downloads.is_known(load.host) for load in seen.loads)
    return ours, paper.crawl_s, unknown
