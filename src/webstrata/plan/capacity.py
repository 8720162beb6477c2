"""The number of further pages that fit, if all pages are visited at their present intervals.

Three resources are limited: the requests of a host (time divided by the expected gap), the requests of an address, and
the time of the threads. There are two figures: further pages on the same hosts (the busiest host is full first), and
pages on further hosts like these (only threads count).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from msgspec import Struct

from webstrata.errors import UsageError
from webstrata.plan.downloads import DownloadTimes
from webstrata.plan.load import SLOT_S, HostLoad, SpacingModel
from webstrata.plan.rounds import RoundPlan
from webstrata.wording import counted

_FULLEST = 5
_UNBOUNDED = 10**12
"""Returned if no resource is used."""


class HostDemand(Struct, frozen=True, kw_only=True):
    """The visits of one host by the schedule."""

    load: HostLoad
    """Its `docs` is the number of pages."""
    visits_per_hour: float


class Utilisation(Struct, frozen=True, kw_only=True):
    """The used share of a resource: 1 is all of it."""

    what: str
    used: float


class Capacity(Struct, frozen=True, kw_only=True):
    """The present use of all resources, and the number of further pages that fit."""

    pages: int = 0
    visits_per_hour: float = 0.0
    slot_visits: float = 0.0
    """Scheduled visits in one slot."""
    more_pages_same_hosts: int = 0
    """Negative if the plan exceeds the capacity; the absolute value is the excess."""
    more_pages_new_hosts: int = 0
    fullest: tuple[Utilisation, ...] = ()
    limited_by: str = ""


def capacity(
    demands: Iterable[HostDemand],
    downloads: DownloadTimes,
    spacing: SpacingModel,
    *,
    threads: int,
    slot_s: float = SLOT_S,
) -> Capacity:
    """The capacity with this number of threads."""
    if threads < 1 or not slot_s > 0:
        raise UsageError("capacity needs at least one thread and a slot longer than 0.")
    visited = [demand for demand in demands if demand.load.docs > 0 and 0 < demand.visits_per_hour < float("inf")]
    plan = RoundPlan((demand.load for demand in visited), downloads, spacing)
    if not plan.hosts:
        return Capacity()
    pages = sum(demand.load.docs for demand in visited)
    per_hour = {demand.load.host: demand.visits_per_hour for demand in visited}
    visits = np.array([per_hour[load.host] for load in plan.loads])
    requests = visits * (1.0 + plan.extra_requests()) / 3600.0  # per second
    hosts = requests * plan.mean_gap_s()
    addresses = np.bincount(plan.address, requests) * spacing.address_gap_s
    work = float((requests * plan.mean_s()).sum()) / threads
    used = [Utilisation(what=load.host, used=float(share)) for load, share in zip(plan.loads, hosts, strict=True)]
    names = {int(n): load.address_key for load, n in zip(plan.loads, plan.address, strict=True)}
    shared = np.flatnonzero(np.bincount(plan.address) > 1).tolist()
    used += [Utilisation(what=f"address {names[n]}", used=float(addresses[n])) for n in shared]
    used.append(Utilisation(what=counted(threads, "thread"), used=work))
    used.sort(key=lambda resource: -resource.used)
    return Capacity(
        pages=pages,
        visits_per_hour=float(visits.sum()),
        slot_visits=float(visits.sum()) * slot_s / 3600.0,
        more_pages_same_hosts=_more(pages, used[0].used),
        more_pages_new_hosts=_more(pages, work),
        fullest=tuple(used[:_FULLEST]),
        limited_by=used[0].what,
    )


def _more(pages: int, used: float) -> int:
    return int(min(pages * (1.0 / used - 1.0), _UNBOUNDED)) if used > 0 else _UNBOUNDED
