"""What is known of the hosts, gathered for a plan: spacing from the gate, addresses from the resolver, times from the
log."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from webstrata import urls
from webstrata.permit.gate import PermitGate
from webstrata.plan.downloads import DownloadTimes, Mean
from webstrata.plan.firstfit import Domain
from webstrata.plan.load import HostLoad
from webstrata.ports import Store, Web
from webstrata.records import Failure

SAMPLES = 100_000
"""Visits of the log that are looked at: the latest."""
PATIENCE_S = 600.0
"""`crawl` does not wait longer for one host (`flows.crawl.loop`)."""
MOST_RESOLVED = 1_000
"""Of more hosts the addresses are not asked for."""
_AT_ONCE = 32


async def learned(store: Store, sums: Mapping[str, Mean] | None = None, samples: int = SAMPLES) -> DownloadTimes:
    """Download times as the log tells them; `sums` for hosts that have not been visited lately."""
    return DownloadTimes(await store.visit_log.download_times(samples), sums)


def loads_of(
    pages: Iterable[tuple[str, str, int]], gate: PermitGate, now: float, addresses: Mapping[str, str] | None = None
) -> list[HostLoad]:
    """(host, one of its URLs, visits) as the planner's input."""
    found = []
    for host, url, visits in pages:
        asked_s, needs_robots, free_at = gate.constraints(url, now)
        # It may grow too old before the host's last page is visited.
        needs_robots = needs_robots or gate.constraints(url, now + visits * gate.gap_s(url))[1]
        found.append(
            HostLoad(
                host=host,
                docs=visits,
                address=(addresses or {}).get(host, ""),
                asked_s=asked_s,
                needs_robots=needs_robots,
                free_in_s=free_at - now,
            )
        )
    return found


def domains_of(loads: Iterable[HostLoad], downloads: DownloadTimes, delay_s: float) -> list[Domain]:
    """The same for the paper's estimate: mean time and delay of hosts that are known, its defaults for the others."""
    found = []
    for load in loads:
        t = downloads.averages.get(load.host)
        d = max(delay_s, load.asked_s or 0.0) if t is not None or load.asked_s is not None else None
        found.append(Domain(name=load.host, docs=load.docs, download_s=t, delay_s=d))
    return found


def by_host(pages: Iterable[str]) -> list[tuple[str, str, int]]:
    """(host, its first URL, how many) of canonical URLs."""
    counts: dict[str, int] = {}
    first: dict[str, str] = {}
    for url in pages:
        host = urls.host_of(url)
        counts[host] = counts.get(host, 0) + 1
        first.setdefault(host, url)
    return [(host, first[host], number) for host, number in counts.items()]


async def addresses_of(web: Web, pages: Sequence[tuple[str, str, int]]) -> dict[str, str]:
    """Where each host's requests would go; hosts without an address are left out."""
    places = asyncio.Semaphore(_AT_ONCE)

    async def ask(host: str, url: str) -> tuple[str, str] | None:
        async with places:
            found = await web.resolve(host, urls.port_of(url))
        return None if isinstance(found, Failure) else (host, found[0])

    answers = await asyncio.gather(*(ask(host, url) for host, url, _ in pages))
    return dict(answer for answer in answers if answer is not None)


class PlanInput(Struct, frozen=True, kw_only=True):
    """All that a plan needs: what is to be visited, and what is known of the hosts."""

    loads: list[HostLoad]
    resting: list[str]
    """Hosts that asked for so long a rest that no round waits for them; they are not among the loads."""
    downloads: DownloadTimes


async def plan_input(
    pages: Sequence[tuple[str, str, int]], *, store: Store, gate: PermitGate, web: Web | None, now: float
) -> PlanInput:
    """Look at (host, one of its URLs, visits); without a web, hosts are taken to have addresses of their own."""
    addresses = await addresses_of(web, pages[:MOST_RESOLVED]) if web is not None else {}
    loads = loads_of(pages, gate, now, addresses)
    sums = await store.visit_log.download_sums()
    return PlanInput(
        loads=[load for load in loads if load.free_in_s <= PATIENCE_S],
        resting=[load.host for load in loads if load.free_in_s > PATIENCE_S],
        downloads=await learned(store, sums),
    )
