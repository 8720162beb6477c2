"""A round to simulate: the requests of every host, with download times drawn from those of the log.

`RoundPlan` holds the requests; `RoundPlan.draw(replicate)` draws the times of one simulated round. If no host waits for
another one (enough threads, separate addresses), the duration of a round is the longest sum of a host's gaps, without
a simulation of events.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from webstrata.plan import draws
from webstrata.plan.downloads import DownloadTimes, mean_of
from webstrata.plan.draws import Numbers
from webstrata.plan.load import HostLoad, SpacingModel, tidy
from webstrata.plan.queues import Bar, RequestQueues, simulate


class SampledRequests(Struct, frozen=True):
    """The requests of a simulated round, ordered by host; those of host n start at `first[n]`."""

    seconds: Numbers
    rests: Numbers
    delays: Numbers
    """By host."""
    first: NDArray[np.intp]


class RoundPlan:
    """The visits of each host, and what is known of the hosts."""

    def __init__(self, loads: Iterable[HostLoad], downloads: DownloadTimes, spacing: SpacingModel) -> None:
        self.loads = tidy(loads)
        self.spacing = spacing
        self._downloads = downloads
        names = [load.host for load in self.loads]
        self._keys = draws.keys(names)
        self._rows = downloads.rows(names)
        docs = np.array([load.docs for load in self.loads], dtype=np.int64)
        self.robots = np.array([load.needs_robots for load in self.loads], dtype=bool)
        extra = np.floor(docs * downloads.extra_requests(self._rows)).astype(np.int64)
        self.requests: NDArray[np.int64] = np.maximum(docs + extra, 1) + self.robots
        self.free = np.array([load.free_in_s for load in self.loads])
        self._asked = np.array([np.nan if load.asked_s is None else load.asked_s for load in self.loads])
        self.address = _numbered([load.address_key for load in self.loads])
        """By host: the number of its address."""

    @property
    def hosts(self) -> int:
        return len(self.loads)

    def mean_gap_s(self) -> Numbers:
        """By host: expected seconds from one request to the next one."""
        seconds = self._downloads.quantiles_s(self._rows)
        return mean_of(np.maximum(self._delays(None)[:, None], seconds + self._rest_s(seconds)))

    def mean_s(self) -> Numbers:
        """By host: expected seconds of one request."""
        return self._downloads.mean_s(self._rows)

    def extra_requests(self) -> Numbers:
        """By host: expected number of requests of a visit after the first."""
        return self._downloads.extra_requests(self._rows)

    def draw(self, replicate: int, limit: int | None = None) -> SampledRequests:
        """The requests of one simulated round, at most `limit` of each host."""
        level = self._downloads.level(self._rows, self._keys, replicate)
        return self._draw(replicate, level, self._delays(replicate), limit)

    def _draw(self, replicate: int, level: Numbers, delays: Numbers, limit: int | None) -> SampledRequests:
        counts = self.requests if limit is None else np.minimum(self.requests, limit)
        first = np.concatenate([[0], np.cumsum(counts)]).astype(np.intp)
        host = np.repeat(np.arange(self.hosts), counts)
        number = np.arange(first[-1]) - first[host]
        seconds = self._downloads.draw_s(self._rows[host], self._keys[host], replicate, number, level[host])
        rests = self._rest_s(seconds)
        # A Crawl-delay in robots.txt counts from the end of that response.
        asks = self.robots & (delays > self.spacing.delay_s)
        at = first[:-1][asks]
        rests[at] = np.maximum(rests[at], delays[asks])
        return SampledRequests(seconds, rests, delays, first)

    def queues(self, replicate: int) -> RequestQueues:
        """The requests of one simulated round, for `simulate`."""
        drawn = self.draw(replicate)
        return RequestQueues(
            seconds=drawn.seconds.tolist(),
            rests=drawn.rests.tolist(),
            first=drawn.first.tolist(),
            delays=drawn.delays.tolist(),
            address=self.address.tolist(),
            free=self.free.tolist(),
        )

    def simulate(self, queues: RequestQueues, threads: int, bars: list[Bar] | None = None) -> list[float]:
        """When the last request of each host ends; `bars` collects every request."""
        spacing = self.spacing
        gap_s, connections = spacing.address_gap_s, spacing.connections_per_host
        return simulate(queues, threads=threads, address_gap_s=gap_s, connections=connections, bars=bars)

    def alone(self, replicate: int, limit: int) -> tuple[Numbers, Numbers]:
        """By host: when its last request ends if it waits for no other host, and the total time of its requests.

        At most `limit` requests of a host are drawn; the sum of the others is normal, with their mean and variance.
        """
        level, delays = self._downloads.level(self._rows, self._keys, replicate), self._delays(replicate)
        drawn = self._draw(replicate, level, delays, limit)
        host = np.repeat(np.arange(self.hosts), np.diff(drawn.first))
        gaps = np.maximum(delays[host], self._paused(drawn.seconds, drawn.rests))
        last = drawn.first[1:] - 1
        ends = self.free + np.bincount(host, gaps, self.hosts) - gaps[last] + drawn.seconds[last]
        busy = np.bincount(host, drawn.seconds, self.hosts).astype(np.float64)
        more = (self.requests - np.diff(drawn.first)).astype(np.float64)
        if more.any():
            seconds = self._downloads.quantiles_s(self._rows) * level[:, None]
            gaps = np.maximum(delays[:, None], self._paused(seconds, self._rest_s(seconds)))
            chance = draws.normals(self._keys, replicate, 1)
            ends += _sum_of(gaps, more, chance)
            busy += _sum_of(seconds, more, chance)
        return ends, busy

    def _paused(self, seconds: Numbers, rests: Numbers) -> Numbers:
        paused: Numbers = (seconds + rests) / self.spacing.connections_per_host
        return paused

    def _rest_s(self, seconds: Numbers) -> Numbers:
        pause: Numbers = np.minimum(self.spacing.delay_factor * seconds, self.spacing.max_delay_s)
        return pause

    def _delays(self, replicate: int | None) -> Numbers:
        """By host: least seconds between requests. An unknown Crawl-delay is drawn from the known ones."""
        asked = self._asked.copy()
        unknown = np.isnan(asked)
        if unknown.any():
            known = asked[~unknown]
            if not len(known):
                asked[unknown] = 0.0
            elif replicate is None:
                asked[unknown] = np.median(known)
            else:
                chance = draws.uniforms(self._keys[unknown], replicate, 2**41)
                asked[unknown] = np.sort(known)[(chance * len(known)).astype(np.intp)]
        delays: Numbers = np.maximum(np.minimum(asked, self.spacing.max_delay_s), self.spacing.delay_s)
        return delays


def _sum_of(quantiles: Numbers, count: Numbers, chance: Numbers) -> Numbers:
    """By host: the sum of `count` times with these quantiles, `chance` standard deviations above its mean."""
    mean = mean_of(quantiles)
    variance = mean_of(quantiles**2) - mean**2
    found: Numbers = np.maximum(count * mean + chance * np.sqrt(count * np.maximum(variance, 0.0)), 0.0)
    return found


def _numbered(names: Sequence[str]) -> NDArray[np.intp]:
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.intp)
