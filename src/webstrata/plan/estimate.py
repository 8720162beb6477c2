"""The duration of a round: the median and an interval of many simulated rounds.

There are three methods, from exact to fast (docs/decisions/0034-crawl-time-estimate.md):

    independent   no host waits for another one: the duration of the slowest host
    events        hosts share threads or addresses: every request is simulated as an event
    bounds        too many requests for events: the largest of the slowest host, the work of all threads, and the
                  requests of the busiest address

With each of them a round takes at least the time that the loop itself needs for its visits on this machine
(`plan.pace`).
"""

from __future__ import annotations

from collections.abc import Iterable
from statistics import NormalDist
from typing import Literal

import numpy as np
from msgspec import Struct

from webstrata.errors import UsageError
from webstrata.plan.downloads import DownloadTimes
from webstrata.plan.draws import Numbers
from webstrata.plan.load import HostLoad, SpacingModel
from webstrata.plan.pace import LoopPace
from webstrata.plan.queues import Bar
from webstrata.plan.rounds import RoundPlan

Method = Literal["independent", "events", "bounds"]

LOW, HIGH = 0.1, 0.9
"""The interval contains eight of ten rounds."""
_MAX_REPLICATES = 200
_MIN_REPLICATES = 9
_EVENTS = 300_000
"""Maximum number of events of an estimate, and of the search for the number of threads."""
_SEARCH_STEPS = 8
_DRAWS = 1_000_000
"""Number of download times that an estimate draws, if each host has enough."""
_MOST_DRAWN, _LEAST_DRAWN = 2_000, 30
"""Number of requests of a host that are drawn one by one."""
_UNKNOWN_PACE = LoopPace()
_ENOUGH = 1.02
"""More threads are not needed if the round takes at most this many times the shortest duration."""
_BOTTLENECKS = 5
_LEAST_WIDTH = 0.005
"""The least half-width of the interval, as a share of the median."""


class Bottleneck(Struct, frozen=True, kw_only=True):
    """A host that ends late."""

    host: str
    requests: int
    gap_s: float
    """Expected seconds from one request to the next one."""
    ends_s: float
    """Median over the simulated rounds."""
    last_share: float
    """Share of the simulated rounds in which this host ends last."""


class CrawlTimeEstimate(Struct, frozen=True, kw_only=True):
    """The duration of a round with a given number of threads."""

    median_s: float = 0.0
    low_s: float = 0.0
    high_s: float = 0.0
    threads: int = 0
    threads_needed: int = 0
    """With fewer threads the round takes over 2 % longer; more threads hardly change it."""
    threads_are_short: bool = False
    hosts: int = 0
    requests: int = 0
    """Including robots.txt and redirects."""
    method: Method = "independent"
    replicates: int = 0
    machine_s: float = 0.0
    """Time that the loop itself needs for the visits on this machine, if no host delays it; 0 if it is not known."""
    bottlenecks: tuple[Bottleneck, ...] = ()

    @property
    def machine_is_slowest(self) -> bool:
        """Whether the machine, not the hosts or the number of threads, decides how long the round takes."""
        return self.machine_s >= 0.95 * self.median_s > 0


def estimate(
    loads: Iterable[HostLoad],
    downloads: DownloadTimes,
    spacing: SpacingModel,
    threads: int,
    pace: LoopPace = _UNKNOWN_PACE,
) -> CrawlTimeEstimate:
    """Simulate the round many times; without visits the duration is 0."""
    if threads < 1:
        raise UsageError("a crawl needs at least one thread. Give --threads a number from 1 up.")
    plan = RoundPlan(loads, downloads, spacing)
    if not plan.hosts:
        return CrawlTimeEstimate(threads=threads)
    method, replicates = _method(plan, threads)
    simulated = _SimulatedRounds(plan, method, replicates)
    totals, ends = simulated.ends(threads)
    machine_s = pace.visit_s * sum(load.docs for load in plan.loads)
    totals = np.maximum(totals, machine_s * np.exp(pace.spread * _normal_quantiles(replicates)))
    low, median, high = np.quantile(totals, (LOW, 0.5, HIGH))
    needed = simulated.threads_needed()
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
        machine_s=machine_s,
        bottlenecks=_bottlenecks(plan, ends),
    )


def typical_round(
    loads: Iterable[HostLoad], downloads: DownloadTimes, spacing: SpacingModel, threads: int
) -> tuple[list[str], list[Bar]]:
    """Hosts and requests of a simulated round with the median duration of a few, for a picture."""
    plan = RoundPlan(loads, downloads, spacing)
    rounds: list[tuple[float, list[Bar]]] = []
    for replicate in range(_MIN_REPLICATES if plan.hosts else 0):
        bars: list[Bar] = []
        ends = plan.simulate(plan.queues(replicate), threads, bars)
        rounds.append((max(ends), bars))
    rounds.sort(key=lambda simulated: simulated[0])
    return [load.host for load in plan.loads], rounds[len(rounds) // 2][1] if rounds else []


def _method(plan: RoundPlan, threads: int) -> tuple[Method, int]:
    requests = int(plan.requests.sum())
    shared = plan.spacing.address_gap_s > 0 and len(np.unique(plan.address)) < plan.hosts
    if threads >= plan.hosts and not shared and plan.spacing.connections_per_host == 1:
        return "independent", _clip(_DRAWS // int(np.minimum(plan.requests, _limit(plan)).sum()))
    if requests * _MIN_REPLICATES <= _EVENTS:
        return "events", _clip(_EVENTS // requests)
    return "bounds", _clip(_DRAWS // requests)


def _limit(plan: RoundPlan) -> int:
    """The number of requests of a host that are drawn one by one."""
    return max(_LEAST_DRAWN, min(_DRAWS // (_MIN_REPLICATES * plan.hosts), _MOST_DRAWN))


def _normal_quantiles(count: int) -> Numbers:
    normal = NormalDist()
    return np.array([normal.inv_cdf((n + 0.5) / count) for n in range(count)])


def _clip(replicates: int) -> int:
    return max(_MIN_REPLICATES, min(replicates, _MAX_REPLICATES))


class _SimulatedRounds:
    """The replicates of one plan, drawn once and simulated with several numbers of threads."""

    def __init__(self, plan: RoundPlan, method: Method, replicates: int) -> None:
        self._plan = plan
        self._method = method
        limit = _limit(plan)
        alone = [plan.alone(replicate, limit) for replicate in range(replicates)]
        self._ends = np.array([ends for ends, _ in alone])
        self._busy = np.array([busy.sum() for _, busy in alone])
        requests = int(plan.requests.sum())
        self._searched = min(_MIN_REPLICATES, _EVENTS // (_SEARCH_STEPS * requests))
        """Replicates that are simulated with each number of threads in `threads_needed`."""
        queued = replicates if method == "events" else self._searched
        self._queues = [plan.queues(replicate) for replicate in range(queued)]

    def ends(self, threads: int) -> tuple[Numbers, Numbers]:
        """Seconds until each replicate ends, and until each of its hosts ends."""
        if self._method == "events":
            ends = self._simulated(threads, len(self._queues))
            return ends.max(axis=1), ends
        totals = self._ends.max(axis=1)
        if self._method == "bounds":
            totals = np.maximum(totals, np.maximum(self._busy / threads, self._busiest_address_s()))
        return totals, self._ends

    def threads_needed(self) -> int:
        """The least number of threads with which the round takes about as long as with one for each connection."""
        limit = self._plan.hosts * self._plan.spacing.connections_per_host
        shortest = np.maximum(self._ends.max(axis=1), self._busiest_address_s())
        at_least = max(1, int(np.ceil(np.median(self._busy / np.maximum(shortest, 1e-9)))))
        if not self._searched or at_least >= limit:
            return min(at_least, limit)
        enough_s = _ENOUGH * float(np.median(self._totals(limit)))
        low, high = at_least, limit
        while low < high:
            middle = (low + high) // 2
            if float(np.median(self._totals(middle))) <= enough_s:
                high = middle
            else:
                low = middle + 1
        return low

    def _totals(self, threads: int) -> Numbers:
        totals: Numbers = self._simulated(threads, self._searched).max(axis=1)
        return totals

    def _simulated(self, threads: int, replicates: int) -> Numbers:
        return np.array([self._plan.simulate(queues, threads) for queues in self._queues[:replicates]])

    def _busiest_address_s(self) -> float:
        """Seconds that the busiest address needs for the requests of all its hosts."""
        requests = np.bincount(self._plan.address, self._plan.requests)
        return float(max(0.0, requests.max() - 1.0)) * self._plan.spacing.address_gap_s


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
            last_share=float(last[n]),
        )
        for n in latest
    )
