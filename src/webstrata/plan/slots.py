"""Moves visits between neighbouring slots (hours) so that the visits of each slot fit into it, at the least cost.

The capacity of a slot is limited for each host by its spacing, and for all hosts by the number of threads. Excess
visits go to the previous slot, if it has room and has not passed, or to the next one. The cost of a move is the weight
of the visit times the share of its interval by which it is early or late; visits that are late already cost more.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
Indices = NDArray[np.intp]

_SHORTEST_INTERVAL_S = 60.0


class PlannedVisits(Struct, frozen=True, kw_only=True):
    """Upcoming visits, as columns."""

    at: Numbers
    host: Indices
    interval_s: Numbers
    weight: Numbers


class SlotCapacity(Struct, frozen=True, kw_only=True):
    """The capacity of slots. `bounds` are the instants between slots; after the last there is no limit."""

    bounds: Numbers
    by_host: NDArray[np.int64]
    """Visits of a host in a full slot."""
    in_all: int
    """Visits of all hosts in a full slot."""
    slot_s: float
    """Length of a full slot; the first slot has already begun and is shorter."""

    @property
    def slots(self) -> int:
        return len(self.bounds) - 1

    def shares(self) -> Numbers:
        """The length of each slot as a share of a full slot."""
        shares: Numbers = np.diff(self.bounds) / self.slot_s
        return shares


def fit(visits: PlannedVisits, capacity: SlotCapacity) -> Indices:
    """The slot of each visit, `capacity.slots` for those after the last slot; visits stay where there is room."""
    assignment = _SlotAssignment(visits, capacity)
    for n in range(capacity.slots):
        for host in assignment.overfull(n):
            assignment.move_out(assignment.members(n, host), n, assignment.excess(n, host))
        if (excess := assignment.total_excess(n)) > 0:
            assignment.move_out(np.flatnonzero(assignment.slot == n), n, excess)
    return assignment.slot


class _SlotAssignment:
    """The slot of each visit, with counts by host."""

    def __init__(self, visits: PlannedVisits, capacity: SlotCapacity) -> None:
        self._visits = visits
        self._bounds = capacity.bounds
        self.slot = _slots(visits, capacity)
        shares = capacity.shares()
        # At least one: a slot that is nearly over can still take a visit.
        self._limit = np.maximum(1, np.floor(capacity.by_host[:, None] * shares)).astype(np.int64)
        self._total_limit = np.maximum(1, np.floor(capacity.in_all * shares)).astype(np.int64)
        hosts = len(capacity.by_host)
        self._counts = np.zeros((hosts, capacity.slots + 1), dtype=np.int64)
        np.add.at(self._counts, (visits.host, self.slot), 1)
        order = np.argsort(visits.host, kind="stable")
        self._of_host = np.split(order, np.searchsorted(visits.host[order], np.arange(1, hosts)))

    def overfull(self, n: int) -> list[int]:
        hosts: list[int] = np.flatnonzero(self._counts[:, n] > self._limit[:, n]).tolist()
        return hosts

    def excess(self, n: int, host: int) -> int:
        return int(self._counts[host, n] - self._limit[host, n])

    def total_excess(self, n: int) -> int:
        return int(self._counts[:, n].sum() - self._total_limit[n])

    def members(self, n: int, host: int) -> Indices:
        own = self._of_host[host]
        members: Indices = own[self.slot[own] == n]
        return members

    def move_out(self, members: Indices, n: int, excess: int) -> None:
        """Move the `excess` cheapest visits: to the previous slot if that costs less and has room, else to the next."""
        later = _cost(self._visits, members, self._bounds[n + 1])
        largest = np.sort(later)[excess - 1]
        left = excess
        if n:
            earlier = _cost(self._visits, members, self._bounds[n])
            for i in np.argsort(earlier, kind="stable")[:excess].tolist():
                if earlier[i] > min(later[i], largest):
                    continue
                if self._has_room(n - 1, int(self._visits.host[members[i]])):
                    self._put(int(members[i]), n - 1)
                    left -= 1
        staying = np.flatnonzero(self.slot[members] == n)
        for i in staying[np.argsort(later[staying], kind="stable")][:left].tolist():
            self._put(int(members[i]), n + 1)

    def _has_room(self, n: int, host: int) -> bool:
        return bool(self._counts[host, n] < self._limit[host, n] and self._counts[:, n].sum() < self._total_limit[n])

    def _put(self, visit: int, n: int) -> None:
        host = self._visits.host[visit]
        self._counts[host, self.slot[visit]] -= 1
        self._counts[host, n] += 1
        self.slot[visit] = n


def _slots(visits: PlannedVisits, capacity: SlotCapacity) -> Indices:
    slot = np.searchsorted(capacity.bounds[1:], visits.at, side="right")
    return np.minimum(slot, capacity.slots).astype(np.intp)


def _cost(visits: PlannedVisits, members: Indices, to: float) -> Numbers:
    shift = np.abs(visits.at[members] - to)
    cost: Numbers = visits.weight[members] * shift / np.maximum(visits.interval_s[members], _SHORTEST_INTERVAL_S)
    return np.nan_to_num(cost, nan=0.0)


def moments(visits: PlannedVisits, capacity: SlotCapacity, slot: Indices, gaps_s: Sequence[float]) -> Numbers:
    """The new times: visits moved later are at the start of their new slot, visits moved earlier at its end.

    Moved visits of one host keep their order and are a gap apart; other visits keep their times.
    """
    original = _slots(visits, capacity)
    at = visits.at.copy()
    counts: dict[tuple[int, int, bool], int] = {}
    moved = np.flatnonzero(slot != original)
    for n in moved[np.argsort(visits.at[moved], kind="stable")].tolist():
        later = bool(slot[n] > original[n])
        key = (int(visits.host[n]), int(slot[n]), later)
        number = counts[key] = counts.get(key, -1) + 1
        gap_s = gaps_s[key[0]]
        if later:
            at[n] = capacity.bounds[slot[n]] + number * gap_s
        else:
            at[n] = max(capacity.bounds[slot[n]], capacity.bounds[slot[n] + 1] - (number + 1) * gap_s)
    return at
