"""Simulation of the politeness queues: when each request of a round starts and ends with a number of threads.

The rules are those of the permit gate (docs/decisions/0002-request-spacing.md). A request is first permitted by its
host and address, then waits for a thread; the next request of the host counts from its start. Hosts at one address, and
requests that wait for threads, are served in the order of their arrival.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush, heapreplace
from itertools import count

from msgspec import Struct

Bar = tuple[int, float, float]
"""(queue, start, end) of one request."""


_ARRIVED, _PERMITTED = -1, -2


class RequestQueues(Struct, frozen=True, kw_only=True):
    """The requests of all hosts, ordered by host; those of host n are from `first[n]` to before `first[n + 1]`."""

    seconds: list[float]
    rests: list[float]
    """By request: pause of the host after the response."""
    first: list[int]
    delays: list[float]
    """By host: least seconds between the starts of requests."""
    address: list[int]
    """By host: the number of its address, from 0."""
    free: list[float]
    """By host: the time of its first request at the earliest."""

    @property
    def hosts(self) -> int:
        return len(self.delays)


def simulate(
    queues: RequestQueues, *, threads: int, address_gap_s: float, connections: int = 1, bars: list[Bar] | None = None
) -> list[float]:
    """When the last request of each host ends. A host has at most `connections`; `bars` collects every request."""
    run = _one_by_one if connections == 1 else _several
    return run(queues, max(1, threads), address_gap_s, connections, bars)


def _one_by_one(
    queues: RequestQueues, threads: int, address_gap_s: float, connections: int, bars: list[Bar] | None
) -> list[float]:
    seconds, rests, delays, address = queues.seconds, queues.rests, queues.delays, queues.address
    ends = [0.0] * queues.hosts
    upcoming, last = queues.first[:-1], queues.first[1:]
    address_free = [0.0] * (max(address, default=0) + 1)
    thread_free = [0.0] * min(threads, max(1, queues.hosts))
    order = count()
    # (time, order of arrival, host, whether its address has permitted the request)
    events = [(at, next(order), n, False) for n, at in enumerate(queues.free) if upcoming[n] < last[n]]
    heapify(events)
    while events:
        at, _, n, permitted = events[0]
        if not permitted:
            permit_at = max(at, address_free[address[n]])
            address_free[address[n]] = permit_at + address_gap_s
            if permit_at > at:
                heapreplace(events, (permit_at, next(order), n, True))
                continue
        request = upcoming[n]
        start_at = max(at, thread_free[0])
        ends[n] = end_at = start_at + seconds[request]
        heapreplace(thread_free, end_at)
        if bars is not None:
            bars.append((n, start_at, end_at))
        upcoming[n] = request + 1
        if request + 1 < last[n]:
            again_at = max(start_at + delays[n], end_at + rests[request])
            heapreplace(events, (again_at, next(order), n, False))
        else:
            heappop(events)
    return ends


def _several(
    queues: RequestQueues, threads: int, address_gap_s: float, connections: int, bars: list[Bar] | None
) -> list[float]:
    """The connections of a host share its spacing; the end of a response delays the requests after it."""
    ends = [0.0] * queues.hosts
    upcoming, last = queues.first[:-1], queues.first[1:]
    host_free = list(queues.free)
    address_free = [0.0] * (max(queues.address, default=0) + 1)
    thread_free = [0.0] * threads
    order = count()
    # (time, order of arrival, host, request that ends then; or _ARRIVED; or _PERMITTED by its address)
    events = [
        (at, next(order), n, _ARRIVED)
        for n, at in enumerate(queues.free)
        for _ in range(min(connections, last[n] - upcoming[n]))
    ]
    heapify(events)
    while events:
        at, _, n, what = heappop(events)
        if what >= 0:
            started_at = at - queues.seconds[what]
            host_free[n] = max(host_free[n], at + queues.rests[what], started_at + queues.delays[n])
        if what != _PERMITTED:
            if upcoming[n] >= last[n]:
                continue
            if host_free[n] > at:
                heappush(events, (host_free[n], next(order), n, _ARRIVED))
                continue
            permit_at = max(at, address_free[queues.address[n]])
            address_free[queues.address[n]] = permit_at + address_gap_s
            host_free[n] = permit_at + queues.delays[n]
            if permit_at > at:
                heappush(events, (permit_at, next(order), n, _PERMITTED))
                continue
        elif upcoming[n] >= last[n]:
            continue
        request = upcoming[n]
        upcoming[n] = request + 1
        start_at = max(at, thread_free[0])
        end_at = start_at + queues.seconds[request]
        heapreplace(thread_free, end_at)
        if bars is not None:
            bars.append((n, start_at, end_at))
        ends[n] = max(ends[n], end_at)
        heappush(events, (end_at, next(order), n, request))
    return ends
