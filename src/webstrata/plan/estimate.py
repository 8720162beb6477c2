"""How long a round takes: many imagined rounds, and where the middle of them lies.

Three ways, from exact to quick (docs/decisions/0034-crawl-time-estimate.md):

    lanes    nobody gets in anybody's way: the slowest lane
    events   hosts share threads or addresses: every request is an event
    bounds   so many requests that events would take minutes: the largest of slowest lane, work by threads, and turns
             at the busiest address
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import numpy as np
from msgspec import Struct

from webstrata.errors import UsageError
from webstrata.plan.downloads import DownloadTimes
from webstrata.plan.draws import Numbers
from webstrata.plan.load import HostLoad, SpacingModel
from webstrata.plan.queues import Bar, simulate
from webstrata.plan.rounds import MOST_DRAWN, RoundPlan

Method = Literal["lanes", "events", "bounds"]

LOW, HIGH = 0.1, 0.9
"""The interval holds eight rounds of ten."""
_MOST_REPLICATES = 200
_FEWEST_REPLICATES = 9
_EVENTS = 1_000_000
"""Events that one estimate may cost."""
_DRAWS = 4_000_000
"""Download times that one estimate may draw."""
_ENOUGH = 1.02
"""A round that is not longer than this many times the shortest needs no more threads."""
_BOTTLENECKS = 5
_LEAST_WIDTH = 0.005
"""The interval reaches at least so far (a share of the median): queues are not known to the second."""


class Bottleneck(Struct, frozen=True, kw_only=True):
    """A host that ends late."""

    host: str
    requests: int
    gap_s: float
    """Expected time from one request to the next."""
    ends_s: float
    """Median."""
    last: float
    """Share of the imagined rounds in which it is the last one."""


class CrawlTimeEstimate(Struct, frozen=True, kw_only=True):
    """Seconds that a round takes with so many threads."""

    median_s: float = 0.0
    low_s: float = 0.0
    high_s: float = 0.0
    threads: int = 0
    threads_needed: int = 0
    """With fewer it takes longer (by more than a fiftieth); more change next to nothing."""
    threads_are_short: bool = False
    hosts: int = 0
    requests: int = 0
    """robots.txt and redirects included."""
    method: Method = "lanes"
    replicates: int = 0
    bottlenecks: tuple[Bottleneck, ...] = ()


def estimate(
    loads: Iterable[HostLoad], downloads: DownloadTimes, manner: SpacingModel, threads: int
) -> CrawlTimeEstimate:
    """Imagine the round often; nothing to visit takes no time."""
    if threads < 1:
        raise UsageError("a crawl needs at least one thread. Give --threads a number from 1 up.")
    plan = RoundPlan(loads, downloads, manner)
    if not plan.hosts:
        return CrawlTimeEstimate(threads=threads)
    method, replicates = _way(plan, threads)
    imagined = _SimulatedRounds(plan, method, replicates)
    totals, ends = imagined.ends(threads)
    low, median, high = np.quantile(totals, (LOW, 0.5, HIGH))
    needed = imagined.threads_needed()
    return CrawlTimeEstimate(
        median_s=float(median),
        low_s=float(min(low, median * (1 - _LEAST_WIDTH))),
        high_s=float(max(high, median * (1 + _LEAST_WIDTH))),
        threads=threads,
        threads_needed=needed,
        threads_are_short=threads < needed,
        hosts=plan.hosts,
        requests=int(plan.requests.sum()),
        method=method,
        replicates=replicates,
        bottlenecks=_bottlenecks(plan, ends),
    )


def typical_round(
    loads: Iterable[HostLoad], downloads: DownloadTimes, manner: SpacingModel, threads: int
) -> tuple[list[str], list[Bar]]:
    """Hosts and requests of an imagined round whose length is nearest to the median of some: for a picture."""
    plan = RoundPlan(loads, downloads, manner)
    rounds: list[tuple[float, list[Bar]]] = []
    for replicate in range(_FEWEST_REPLICATES if plan.hosts else 0):
        bars: list[Bar] = []
        drawn = plan.queues(plan.draw(replicate))
        ends = simulate(
            drawn,
            threads=threads,
            door_gap_s=manner.address_gap_s,
            connections=manner.connections_per_host,
            bars=bars,
        )
        rounds.append((max(ends), bars))
    rounds.sort(key=lambda one: one[0])
    return [load.host for load in plan.loads], rounds[len(rounds) // 2][1] if rounds else []


def _way(plan: RoundPlan, threads: int) -> tuple[Method, int]:
    requests = int(plan.requests.sum())
    shared = plan.manner.address_gap_s > 0 and len(np.unique(plan.doors)) < plan.hosts
    if threads >= plan.hosts and not shared and plan.manner.connections_per_host == 1:
        drawn = int(np.minimum(plan.requests, MOST_DRAWN).sum())
        return "lanes", _clip(_DRAWS // drawn)
    if requests * _FEWEST_REPLICATES <= _EVENTS:
        return "events", _clip(_EVENTS // requests)
    return "bounds", _clip(_DRAWS // requests)


def _clip(replicates: int) -> int:
    return max(_FEWEST_REPLICATES, min(replicates, _MOST_REPLICATES))


class _SimulatedRounds:
    """The replicates of one plan, drawn once and run with as many threads as are asked about."""

    def __init__(self, plan: RoundPlan, method: Method, replicates: int) -> None:
        self._plan = plan
        self._method = method
        lanes = [plan.lanes(replicate) for replicate in range(replicates)]
        self._ends = np.array([ends for ends, _ in lanes])
        self._busy = np.array([busy.sum() for _, busy in lanes])
        few = int(plan.requests.sum()) * _FEWEST_REPLICATES <= _EVENTS
        queued = replicates if method == "events" else _FEWEST_REPLICATES if few else 0
        self._queues = [plan.queues(plan.draw(replicate)) for replicate in range(queued)]

    def ends(self, threads: int) -> tuple[Numbers, Numbers]:
        """Seconds until each replicate is over, and until each of its hosts is."""
        if self._method == "events":
            ends = self._simulated(threads, len(self._queues))
            return ends.max(axis=1), ends
        totals = self._ends.max(axis=1)
        if self._method == "bounds":
            totals = np.maximum(totals, np.maximum(self._busy / threads, self._doors_s()))
        return totals, self._ends

    def threads_needed(self) -> int:
        """The fewest threads with which the round is hardly longer than with one for each connection."""
        most = self._plan.hosts * self._plan.manner.connections_per_host
        shortest = np.maximum(self._ends.max(axis=1), self._doors_s())
        at_least = max(1, int(np.ceil(np.median(self._busy / np.maximum(shortest, 1e-9)))))
        if not self._queues or at_least >= most:
            return min(at_least, most)
        enough_s = _ENOUGH * float(np.median(self._totals(most)))
        low, high = at_least, most
        while low < high:
            middle = (low + high) // 2
            if float(np.median(self._totals(middle))) <= enough_s:
                high = middle
            else:
                low = middle + 1
        return low

    def _totals(self, threads: int) -> Numbers:
        found: Numbers = self._simulated(threads, _FEWEST_REPLICATES).max(axis=1)
        return found

    def _simulated(self, threads: int, replicates: int) -> Numbers:
        manner = self._plan.manner
        return np.array(
            [
                simulate(
                    queues,
                    threads=threads,
                    door_gap_s=manner.address_gap_s,
                    connections=manner.connections_per_host,
                )
                for queues in self._queues[:replicates]
            ]
        )

    def _doors_s(self) -> float:
        """Seconds that the busiest address takes for the turns of all its hosts."""
        turns = np.bincount(self._plan.doors, self._plan.requests)
        return float(max(0.0, turns.max() - 1.0)) * self._plan.manner.address_gap_s


def _bottlenecks(plan: RoundPlan, ends: Numbers) -> tuple[Bottleneck, ...]:
    middle = np.median(ends, axis=0)
    last = np.bincount(ends.argmax(axis=1), minlength=plan.hosts) / len(ends)
    gaps = plan.mean_gap_s()
    latest = np.lexsort((-middle, -last))[:_BOTTLENECKS]
    return tuple(
        Bottleneck(
            host=plan.loads[n].host,
            requests=int(plan.requests[n]),
            gap_s=float(gaps[n]),
            ends_s=float(middle[n]),
            last=float(last[n]),
        )
        for n in latest
    )
