"""The politeness queues, event by event: when each request of a round starts and ends, with so many threads.

The rules are the gate's (docs/decisions/0002-request-spacing.md). A request takes its turn at its host and address at
once, then waits for a thread; its host's next turn counts from its start. Hosts at one address and requests for threads
are served in the order in which they ask.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush, heapreplace
from itertools import count

from msgspec import Struct

Bar = tuple[int, float, float]
"""(queue, start, end) of one request."""


_ASKS, _GRANTED = -1, -2


class RequestQueues(Struct, frozen=True, kw_only=True):
    """Requests of all hosts, one host behind the other; the n-th host's are those from `first[n]` to `first[n + 1]`."""

    seconds: list[float]
    rests: list[float]
    """After each answer the host rests so long."""
    first: list[int]
    delays: list[float]
    """By host: from the turn of a request to the next."""
    doors: list[int]
    """By host: its address, counted from 0."""
    free: list[float]
    """By host: no request before."""

    @property
    def hosts(self) -> int:
        return len(self.delays)


def simulate(
    queues: RequestQueues, *, threads: int, door_gap_s: float, connections: int = 1, bars: list[Bar] | None = None
) -> list[float]:
    """When each host is done. `connections` are those that a host may have open; `bars` collects every request."""
    run = _one_by_one if connections == 1 else _several
    return run(queues, max(1, threads), door_gap_s, connections, bars)


def _one_by_one(
    queues: RequestQueues, threads: int, door_gap_s: float, connections: int, bars: list[Bar] | None
) -> list[float]:
    seconds, rests, delays, doors = queues.seconds, queues.rests, queues.delays, queues.doors
    ends = [0.0] * queues.hosts
    upcoming, last = queues.first[:-1], queues.first[1:]
    door_free = [0.0] * (max(doors, default=0) + 1)
    slots = [0.0] * min(threads, max(1, queues.hosts))
    order = count()
    # (when, turn, host, granted): a host that asks, or one whose turn at its address has come.
    events = [(at, next(order), n, False) for n, at in enumerate(queues.free) if upcoming[n] < last[n]]
    heapify(events)
    while events:
        at, _, n, granted = events[0]
        if not granted:
            turn_at = max(at, door_free[doors[n]])
            door_free[doors[n]] = turn_at + door_gap_s
            if turn_at > at:
                heapreplace(events, (turn_at, next(order), n, True))
                continue
        request = upcoming[n]
        start_at = max(at, slots[0])
        ends[n] = end_at = start_at + seconds[request]
        heapreplace(slots, end_at)
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
    queues: RequestQueues, threads: int, door_gap_s: float, connections: int, bars: list[Bar] | None
) -> list[float]:
    """A host's connections share its spacing; the end of an answer binds the starts after it."""
    ends = [0.0] * queues.hosts
    upcoming, last = queues.first[:-1], queues.first[1:]
    host_free = list(queues.free)
    door_free = [0.0] * (max(queues.doors, default=0) + 1)
    slots = [0.0] * threads
    order = count()
    # (when, turn, host, request that ends then; or _ASKS, or _GRANTED: its turn at the address has come)
    events = [
        (at, next(order), n, _ASKS)
        for n, at in enumerate(queues.free)
        for _ in range(min(connections, last[n] - upcoming[n]))
    ]
    heapify(events)
    while events:
        at, _, n, what = heappop(events)
        if what >= 0:
            started_at = at - queues.seconds[what]
            host_free[n] = max(host_free[n], at + queues.rests[what], started_at + queues.delays[n])
        if what != _GRANTED:
            if upcoming[n] >= last[n]:
                continue
            if host_free[n] > at:
                heappush(events, (host_free[n], next(order), n, _ASKS))
                continue
            turn_at = max(at, door_free[queues.doors[n]])
            door_free[queues.doors[n]] = turn_at + door_gap_s
            host_free[n] = turn_at + queues.delays[n]
            if turn_at > at:
                heappush(events, (turn_at, next(order), n, _GRANTED))
                continue
        elif upcoming[n] >= last[n]:
            continue
        request = upcoming[n]
        upcoming[n] = request + 1
        start_at = max(at, slots[0])
        end_at = start_at + queues.seconds[request]
        heapreplace(slots, end_at)
        if bars is not None:
            bars.append((n, start_at, end_at))
        ends[n] = max(ends[n], end_at)
        heappush(events, (end_at, next(order), n, request))
    return ends
