"""How many more pages like these there is room for, if all go on being visited as their intervals ask.

Three things can be short: a host's turns (time by expected gap), an address's turns, and the threads' time. Two kinds
of more are told apart: more pages on the same hosts (the busiest of them is full first), and more hosts like these
(only threads count).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from msgspec import Struct

from webstrata.errors import UsageError
from webstrata.plan.downloads import DownloadTimes
from webstrata.plan.load import HostLoad, SpacingModel
from webstrata.plan.rounds import RoundPlan

_FULLEST = 5
_UNBOUNDED = 10**12
"""More pages than anybody has: nothing is short."""


class HostDemand(Struct, frozen=True, kw_only=True):
    """What the schedule asks of one host."""

    load: HostLoad
    """Its `docs` are the pages."""
    visits_per_hour: float


class Utilisation(Struct, frozen=True, kw_only=True):
    """How much of something is used: 1 is all of it."""

    what: str
    used: float


class Capacity(Struct, frozen=True, kw_only=True):
    pages: int = 0
    visits_per_hour: float = 0.0
    slot_visits: float = 0.0
    """Visits that the schedule asks for in one slot."""
    more_pages_same_hosts: int = 0
    """Negative: so many are too many."""
    more_pages_new_hosts: int = 0
    fullest: tuple[Utilisation, ...] = ()
    limited_by: str = ""


def capacity(
    demands: Iterable[HostDemand],
    downloads: DownloadTimes,
    manner: SpacingModel,
    *,
    threads: int,
    slot_s: float = 3600.0,
) -> Capacity:
    """Room for more pages with these threads, so that what is asked of a slot fits into it."""
    if threads < 1 or not slot_s > 0:
        raise UsageError("capacity needs at least one thread and a slot longer than nothing.")
    asked = [one for one in demands if one.load.docs > 0 and 0 < one.visits_per_hour < float("inf")]
    plan = RoundPlan((one.load for one in asked), downloads, manner)
    if not plan.hosts:
        return Capacity()
    pages = sum(one.load.docs for one in asked)
    per_hour = {one.load.host: one.visits_per_hour for one in asked}
    visits = np.array([per_hour[load.host] for load in plan.loads])
    turns = visits * (1.0 + plan.extra_requests()) / 3600.0  # a second
    hosts = turns * plan.mean_gap_s()
    doors = np.bincount(plan.doors, turns) * manner.address_gap_s
    work = float((turns * plan.mean_s()).sum()) / threads
    full = [Utilisation(what=load.host, used=float(used)) for load, used in zip(plan.loads, hosts, strict=True)]
    named = {int(door): load.door for load, door in zip(plan.loads, plan.doors, strict=True)}
    shared = np.bincount(plan.doors) > 1
    full += [Utilisation(what=f"address {named[n]}", used=float(doors[n])) for n in np.flatnonzero(shared).tolist()]
    full.append(Utilisation(what=f"{threads} threads", used=work))
    full.sort(key=lambda one: -one.used)
    return Capacity(
        pages=pages,
        visits_per_hour=float(visits.sum()),
        slot_visits=float(visits.sum()) * slot_s / 3600.0,
        more_pages_same_hosts=_more(pages, full[0].used),
        more_pages_new_hosts=_more(pages, work),
        fullest=tuple(full[:_FULLEST]),
        limited_by=full[0].what,
    )


def _more(pages: int, used: float) -> int:
    return int(min(pages * (1.0 / used - 1.0), _UNBOUNDED)) if used > 0 else _UNBOUNDED
