"""One imagined round: every host's requests with times drawn from what the log tells, ready to be queued.

`RoundPlan` is what is to be done; `RoundPlan.round(replicate)` draws one way in which it may go. Where hosts do not
get in each other's way (threads for all, addresses of their own) a round's length needs no events: each host's requests
add up.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from webstrata.plan import draws
from webstrata.plan.downloads import DownloadTimes
from webstrata.plan.draws import Numbers
from webstrata.plan.load import HostLoad, SpacingModel, tidy
from webstrata.plan.queues import RequestQueues

MOST_DRAWN = 2_000
"""Requests of one host that are drawn one by one for a lane; the rest has their mean."""


class SampledRequests(Struct, frozen=True):
    """Requests of a round, host behind host."""

    seconds: Numbers
    rests: Numbers
    delays: Numbers
    """By host."""
    first: NDArray[np.intp]


class RoundPlan:
    """Visits by host, with all that is known of the hosts."""

    def __init__(self, loads: Iterable[HostLoad], downloads: DownloadTimes, manner: SpacingModel) -> None:
        self.loads = tidy(loads)
        self.manner = manner
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
        self.doors = _numbered([load.door for load in self.loads])

    @property
    def hosts(self) -> int:
        return len(self.loads)

    def mean_gap_s(self) -> Numbers:
        """By host: expected seconds from one request to the next."""
        seconds = self._downloads.quantiles_s(self._rows)
        gaps = np.maximum(self._delays(None)[:, None], seconds + self._rest_s(seconds))
        found: Numbers = gaps.mean(axis=1)
        return found

    def mean_s(self) -> Numbers:
        """By host: expected seconds of one request."""
        return self._downloads.mean_s(self._rows)

    def extra_requests(self) -> Numbers:
        """By host: requests of a visit beyond the first."""
        return self._downloads.extra_requests(self._rows)

    def draw(self, replicate: int, most: int | None = None) -> SampledRequests:
        """One way in which the round may go; of each host at most so many requests."""
        counts = self.requests if most is None else np.minimum(self.requests, most)
        first = np.concatenate([[0], np.cumsum(counts)]).astype(np.intp)
        host = np.repeat(np.arange(self.hosts), counts)
        place = np.arange(first[-1]) - first[host]
        level = self._downloads.level(self._rows, self._keys, replicate)
        seconds = self._downloads.draw_s(self._rows[host], self._keys[host], replicate, place, level[host])
        delays = self._delays(replicate)
        rests = self._rest_s(seconds)
        # A Crawl-delay learned from robots.txt counts from the end of that answer.
        asks = self.robots & (delays > self.manner.delay_s)
        at = first[:-1][asks]
        rests[at] = np.maximum(rests[at], delays[asks])
        return SampledRequests(seconds, rests, delays, first)

    def queues(self, drawn: SampledRequests) -> RequestQueues:
        return RequestQueues(
            seconds=drawn.seconds.tolist(),
            rests=drawn.rests.tolist(),
            first=drawn.first.tolist(),
            delays=drawn.delays.tolist(),
            doors=self.doors.tolist(),
            free=self.free.tolist(),
        )

    def lanes(self, replicate: int) -> tuple[Numbers, Numbers]:
        """By host: when its lane ends if nobody else is there, and how long its requests keep a thread busy."""
        drawn = self.draw(replicate, MOST_DRAWN)
        host = np.repeat(np.arange(self.hosts), np.diff(drawn.first))
        answered = (drawn.seconds + drawn.rests) / self.manner.connections_per_host
        gaps = np.maximum(drawn.delays[host], answered)
        last = drawn.first[1:] - 1
        ends = self.free + np.bincount(host, gaps, self.hosts) - gaps[last] + drawn.seconds[last]
        busy = np.bincount(host, drawn.seconds, self.hosts).astype(np.float64)
        more = self.requests - np.diff(drawn.first)
        for n in np.flatnonzero(more):
            own = slice(drawn.first[n], drawn.first[n + 1])
            ends[n] += more[n] * gaps[own].mean()
            busy[n] += more[n] * drawn.seconds[own].mean()
        return ends, busy

    def _rest_s(self, seconds: Numbers) -> Numbers:
        found: Numbers = np.minimum(self.manner.delay_factor * seconds, self.manner.max_delay_s)
        return found

    def _delays(self, replicate: int | None) -> Numbers:
        """Turn to turn, by host. What an unknown robots.txt asks for is drawn from those that are known."""
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
        found: Numbers = np.maximum(np.minimum(asked, self.manner.max_delay_s), self.manner.delay_s)
        return found


def _numbered(names: Sequence[str]) -> NDArray[np.intp]:
    places: dict[str, int] = {}
    return np.array([places.setdefault(name, len(places)) for name in names], dtype=np.intp)
