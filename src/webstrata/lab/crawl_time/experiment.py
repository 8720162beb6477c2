"""The crawl-time experiment: real crawls of the living web, each estimated before it starts (datamonitor's Table 3).

All crawls use one home. Before each crawl both estimators receive its store (the log of earlier crawls, the politeness
state of hosts) and the addresses of the host names, which any crawler has, and nothing else. The first crawls only
fill the log and are not counted.

A third estimate, `informed`, is made with the true mean latency and Crawl-delay of every server, which no crawler
knows. What it misses is the chance of single responses and crawls: no estimate made before the crawl does much better.
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
from webstrata.lab.crawl_time.sites import CrawlScenario, CrawlTimeSites, TrueTimes
from webstrata.lab.livingweb.server import LivingWeb, PacedWeb
from webstrata.permit.gate import PermitGate
from webstrata.plan.estimate import CrawlTimeEstimate, estimate
from webstrata.plan.firstfit import pack
from webstrata.plan.load import SpacingModel
from webstrata.ports import Clock, Store, Web
from webstrata.records import Batch, NewPage

START_AT = parse_instant("2024-01-01")
TEACHING = 15
"""The default number of crawls that only fill the log."""
GROUPS: tuple[tuple[str, float, float], ...] = (
    ("t < 30min", 0.0, 1800.0),
    ("30min < t < 60min", 1800.0, 3600.0),
    ("60min < t < 120min", 3600.0, 7200.0),
    ("120min < t < 180min", 7200.0, 10800.0),
    ("180min < t < 240min", 10800.0, 14400.0),
    ("t > 240min", 14400.0, float("inf")),
)
"""Name, shortest and longest actual time in seconds, as in the paper's table."""
ALL = "all"
_CLOSE = 0.1


class CrawlTimeRow(Struct, frozen=True, kw_only=True):
    """One group of crawls and one estimator. `over` and `under` are mean relative errors (0.78 is 78 %)."""

    estimator: str
    group: str
    over: float | None
    over_crawls: int
    under: float | None
    under_crawls: int
    crawls: int
    within_10_percent: float | None
    """Share of the crawls with an error of at most 10 %."""


def table(estimator: str, pairs: Iterable[tuple[float, float]]) -> list[CrawlTimeRow]:
    """One row for each group and one for all crawls, from pairs of (actual, estimated) seconds."""
    timed = [(actual, estimated) for actual, estimated in pairs if actual > 0]
    rows = [_row(estimator, name, [pair for pair in timed if low <= pair[0] < high]) for name, low, high in GROUPS]
    return [*rows, _row(estimator, ALL, timed)]


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
        within_10_percent=_mean([float(abs(error) <= _CLOSE) for error in errors]),
    )


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


class CrawlNode(Protocol):
    """The part of `Node` that the experiment uses."""

    def store(self) -> AbstractAsyncContextManager[Store]: ...

    async def gate(self, store: Store) -> PermitGate: ...

    def web(self) -> Web: ...

    def spacing_model(self) -> SpacingModel: ...

    def crawling(self, *, wrap_web: Callable[[Web], Web]) -> AbstractAsyncContextManager[CrawlLoop]: ...


Assemble = Callable[[Clock, Mapping[str, str], Sequence[str], float, int], CrawlNode]
"""(clock, hosts, exceptions of the address guard, delay, threads) -> a node. Its home is the same every time."""


class CrawlMeasurement(Struct, frozen=True, kw_only=True):
    """One crawl: its size, the estimates made before it, and its actual time."""

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
    informed_s: float
    """The estimate that knows the true mean latency and Crawl-delay of each server."""


class CrawlTimeResults(Struct, frozen=True, kw_only=True):
    """All measured crawls and the table of errors."""

    crawls: list[CrawlMeasurement]
    table: list[CrawlTimeRow]
    inside_interval: float | None
    """Share of the crawls whose actual time is in the estimated 80 % interval."""
    politeness_violations: int
    seed: int
    teaching: int


async def run(
    assemble: Assemble,
    *,
    crawls: int,
    seed: int,
    on_progress: Callable[[CrawlMeasurement], None],
    teaching: int = TEACHING,
) -> CrawlTimeResults:
    """Make `teaching` crawls that only fill the log, then `crawls` measured ones."""
    clock = JumpingClock(START_AT)
    sites = CrawlTimeSites(seed, START_AT)
    truth = sites.truth()
    measurements: list[CrawlMeasurement] = []
    async with LivingWeb(sites.recordings, clock, behaviours=sites.behaviours) as web:
        for number, scenario in enumerate(sites.crawls(teaching + crawls)):
            await clock.sleep_until(max(scenario.at, clock.now()))
            _set_latencies(web, scenario)
            node = assemble(clock, web.hosts(), web.exceptions(), scenario.delay_s, scenario.threads)
            measurement = await _estimate_and_crawl(node, scenario, number - teaching + 1, clock, web, truth)
            if number >= teaching:
                measurements.append(measurement)
                on_progress(measurement)
        violations = web.meter.count
    return summarise(measurements, violations, seed, teaching)


def summarise(measurements: Sequence[CrawlMeasurement], violations: int, seed: int, teaching: int) -> CrawlTimeResults:
    """The table and the shares for these crawls."""
    inside = [float(crawl.low_s <= crawl.actual_s <= crawl.high_s) for crawl in measurements]
    return CrawlTimeResults(
        crawls=list(measurements),
        table=[
            *table("paper", ((crawl.actual_s, crawl.paper_s) for crawl in measurements)),
            *table("ours", ((crawl.actual_s, crawl.ours_s) for crawl in measurements)),
            *table("informed", ((crawl.actual_s, crawl.informed_s) for crawl in measurements)),
        ],
        inside_interval=_mean(inside),
        politeness_violations=violations,
        seed=seed,
        teaching=teaching,
    )


def _set_latencies(web: LivingWeb, scenario: CrawlScenario) -> None:
    """Set the mean latency of each server, which differs from crawl to crawl."""
    for site in web.sites.values():
        site.behaviour = replace(site.behaviour, latency_mean_s=scenario.latencies[site.recording.site])


async def _estimate_and_crawl(
    node: CrawlNode, scenario: CrawlScenario, number: int, clock: Clock, living: LivingWeb, truth: TrueTimes
) -> CrawlMeasurement:
    async with node.store() as store:
        ours, informed, paper_s, unknown = await _estimates(node, store, scenario, clock.now(), truth)
        pages = [NewPage(url=url, host=urls.host_of(url)) for url in scenario.urls]
        await store.pages.add(pages, clock.now())
        await store.visit_log.commit(Batch(wake=tuple((url, clock.now()) for url in scenario.urls)))
    started_at = clock.now()

    def with_latencies(web: Web) -> Web:
        return PacedWeb(web, clock, living)

    async with node.crawling(wrap_web=with_latencies) as loop:
        visits = await loop.crawl()
    return CrawlMeasurement(
        crawl=number,
        visits=visits,
        hosts=ours.hosts,
        unknown_hosts=unknown,
        delay_s=scenario.delay_s,
        threads=scenario.threads,
        actual_s=clock.now() - started_at,
        ours_s=ours.median_s,
        low_s=ours.low_s,
        high_s=ours.high_s,
        paper_s=paper_s,
        informed_s=informed.median_s,
    )


async def _estimates(
    node: CrawlNode, store: Store, scenario: CrawlScenario, now: float, truth: TrueTimes
) -> tuple[CrawlTimeEstimate, CrawlTimeEstimate, float, int]:
    """(our estimate, the informed one, the paper's estimate in seconds, number of hosts that are not in the log)."""
    web = node.web()
    try:
        known = await plan_input(by_host(scenario.urls), store=store, gate=await node.gate(store), web=web, now=now)
    finally:
        await web.close()
    spacing = node.spacing_model()
    ours = estimate(known.loads, known.downloads, spacing, scenario.threads, known.pace)
    paper = pack(domains_of(known.loads, known.downloads, spacing.delay_s), scenario.threads)
    unknown = sum(not known.downloads.is_known(load.host) for load in known.loads)
    loads = [replace(load, asked_s=truth.crawl_delays[load.host]) for load in known.loads]
    informed = estimate(loads, truth.downloads, spacing, scenario.threads)
    return ours, informed, paper.crawl_s, unknown
