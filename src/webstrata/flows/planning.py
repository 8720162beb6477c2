"""The input of a plan: spacing from the permit gate, addresses from the resolver, download times from the log."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from webstrata import urls
from webstrata.permit.gate import PermitGate
from webstrata.plan.downloads import DownloadTimes, Mean
from webstrata.plan.firstfit import Domain
from webstrata.plan.load import HostLoad
from webstrata.plan.pace import LoopPace, loop_pace
from webstrata.ports import Store, Web
from webstrata.records import Failure

SAMPLES = 50_000
"""Number of latest visits from which download times are taken."""
CRAWL_PATIENCE_S = 600.0
"""`crawl` does not wait longer than this for one host; the host's pages stay due."""
MAX_RESOLVED = 1_000
"""Maximum number of hosts whose addresses are resolved."""
RESOLVE_S = 0.5
"""Real seconds for which answers of name servers are awaited: better a plan without all addresses than a late one."""
_PARALLEL = 32
_ROUNDS = 20
"""Number of latest rounds from which the pace of the loop is taken."""


async def download_times(store: Store, sums: Mapping[str, Mean] | None = None, samples: int = SAMPLES) -> DownloadTimes:
    """Download times of the latest visits; `sums` for hosts that were not visited lately."""
    return DownloadTimes(await store.visit_log.download_times(samples), sums)


def loads_of(
    pages: Iterable[tuple[str, str, int]], gate: PermitGate, now: float, addresses: Mapping[str, str] | None = None
) -> list[HostLoad]:
    """Loads from (host, one of its URLs, number of visits)."""
    loads = []
    for host, url, visits in pages:
        asked_s, needs_robots, free_at = gate.constraints(url, now)
        # robots.txt may expire before the host's last page is visited.
        needs_robots = needs_robots or gate.constraints(url, now + visits * gate.gap_s(url))[1]
        loads.append(
            HostLoad(
                host=host,
                docs=visits,
                address=(addresses or {}).get(host, ""),
                asked_s=asked_s,
                needs_robots=needs_robots,
                free_in_s=free_at - now,
            )
        )
    return loads


def domains_of(loads: Iterable[HostLoad], downloads: DownloadTimes, delay_s: float) -> list[Domain]:
    """The loads as input of the paper's estimate: mean time and delay of known hosts, its defaults for the others."""
    domains = []
    for load in loads:
        t = downloads.averages.get(load.host)
        d = max(delay_s, load.asked_s or 0.0) if t is not None or load.asked_s is not None else None
        domains.append(Domain(name=load.host, docs=load.docs, download_s=t, delay_s=d))
    return domains


def by_host(pages: Iterable[str]) -> list[tuple[str, str, int]]:
    """(host, its first URL, number of its URLs) of canonical URLs."""
    grouped: dict[str, list[str]] = {}
    for url in pages:
        grouped.setdefault(urls.host_of(url), []).append(url)
    return [(host, of_host[0], len(of_host)) for host, of_host in grouped.items()]


async def addresses_of(web: Web, pages: Sequence[tuple[str, str, int]]) -> dict[str, str]:
    """The address of each host; hosts that cannot be resolved in time are left out."""
    parallel = asyncio.Semaphore(_PARALLEL)

    async def resolve(host: str, url: str) -> tuple[str, str] | None:
        async with parallel:
            addresses = await web.resolve(host, urls.port_of(url))
        return None if isinstance(addresses, Failure) else (host, addresses[0])

    lookups = [asyncio.create_task(resolve(host, url)) for host, url, _ in pages]
    if not lookups:
        return {}
    done, late = await asyncio.wait(lookups, timeout=RESOLVE_S)
    for lookup in late:
        lookup.cancel()
    await asyncio.gather(*late, return_exceptions=True)
    return dict(pair for lookup in done if (pair := lookup.result()) is not None)


class PlanInput(Struct, frozen=True, kw_only=True):
    """Everything that a plan needs."""

    loads: list[HostLoad]
    resting: list[str]
    """Hosts that asked for a pause longer than `CRAWL_PATIENCE_S`; they are not among the loads."""
    downloads: DownloadTimes
    pace: LoopPace


async def plan_input(
    pages: Sequence[tuple[str, str, int]], *, store: Store, gate: PermitGate, web: Web | None, now: float
) -> PlanInput:
    """The input for (host, one of its URLs, number of visits). Without a web, no two hosts share an address."""
    addresses = await addresses_of(web, pages[:MAX_RESOLVED]) if web is not None else {}
    loads = loads_of(pages, gate, now, addresses)
    sums = await store.visit_log.download_sums()
    pace = loop_pace(await store.visit_log.rounds(_ROUNDS))
    return PlanInput(
        loads=[load for load in loads if load.free_in_s <= CRAWL_PATIENCE_S],
        resting=[load.host for load in loads if load.free_in_s > CRAWL_PATIENCE_S],
        downloads=await download_times(store, sums),
        pace=pace,
    )
