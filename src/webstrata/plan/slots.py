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

SLOT_S = 3600.0
"""Length of a slot."""
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


def fit(visits: PlannedVisits, room: SlotCapacity) -> Indices:
    """The slot of each visit, `room.slots` for those that go behind the last; unmoved where there is room."""
    shelves = _SlotAssignment(visits, room)
    for n in range(room.slots):
        for host in shelves.overfull(n):
            shelves.relieve(shelves.members(n, host), n, shelves.excess(n, host))
        if (excess := shelves.excess_of_all(n)) > 0:
            shelves.relieve(np.flatnonzero(shelves.slot == n), n, excess)
    return shelves.slot


class _SlotAssignment:
    """Which visit stands in which slot, with the counts by host."""

    def __init__(self, visits: PlannedVisits, room: SlotCapacity) -> None:
        self._visits = visits
        self._bounds = room.bounds
        self.slot = _slots(visits, room)
        shares = room.shares()
        # One at least: a slot that is nearly over still takes a visit.
        self._most = np.maximum(1, np.floor(room.by_host[:, None] * shares)).astype(np.int64)
        self._most_of_all = np.maximum(1, np.floor(room.in_all * shares)).astype(np.int64)
        hosts = len(room.by_host)
        self._counts = np.zeros((hosts, room.slots + 1), dtype=np.int64)
        np.add.at(self._counts, (visits.host, self.slot), 1)
        order = np.argsort(visits.host, kind="stable")
        self._of_host = np.split(order, np.searchsorted(visits.host[order], np.arange(1, hosts)))

    def overfull(self, n: int) -> list[int]:
        found: list[int] = np.flatnonzero(self._counts[:, n] > self._most[:, n]).tolist()
        return found

    def excess(self, n: int, host: int) -> int:
        return int(self._counts[host, n] - self._most[host, n])

    def excess_of_all(self, n: int) -> int:
        return int(self._counts[:, n].sum() - self._most_of_all[n])

    def members(self, n: int, host: int) -> Indices:
        own = self._of_host[host]
        found: Indices = own[self.slot[own] == n]
        return found

    def relieve(self, members: Indices, n: int, excess: int) -> None:
        """The `excess` least harmed go: into the slot before where that is the lesser harm and has room, else on."""
        later = _harm(self._visits, members, self._bounds[n + 1])
        last_harm = np.sort(later)[excess - 1]
        left = excess
        if n:
            sooner = _harm(self._visits, members, self._bounds[n])
            for one in np.argsort(sooner, kind="stable")[:excess].tolist():
                if sooner[one] > min(later[one], last_harm):
                    continue
                if self._has_room(n - 1, int(self._visits.host[members[one]])):
                    self._put(int(members[one]), n - 1)
                    left -= 1
        staying = np.flatnonzero(self.slot[members] == n)
        for one in staying[np.argsort(later[staying], kind="stable")][:left].tolist():
            self._put(int(members[one]), n + 1)

    def _has_room(self, n: int, host: int) -> bool:
        return bool(self._counts[host, n] < self._most[host, n] and self._counts[:, n].sum() < self._most_of_all[n])

    def _put(self, visit: int, n: int) -> None:
        host = self._visits.host[visit]
        self._counts[host, self.slot[visit]] -= 1
        self._counts[host, n] += 1
        self.slot[visit] = n


def _slots(visits: PlannedVisits, room: SlotCapacity) -> Indices:
    found: Indices = np.minimum(np.searchsorted(room.bounds[1:], visits.at, side="right"), room.slots).astype(np.intp)
    return found


def _harm(visits: PlannedVisits, members: Indices, to: float) -> Numbers:
    shift = np.abs(visits.at[members] - to)
    found: Numbers = visits.weight[members] * shift / np.maximum(visits.interval_s[members], _SHORTEST_INTERVAL_S)
    return np.nan_to_num(found, nan=0.0)


def moments(visits: PlannedVisits, room: SlotCapacity, slot: Indices, gaps_s: Sequence[float]) -> Numbers:
    """New instants: those moved later from the start of their slot on, those moved earlier up to its end.

    Visits of one host keep their order and stand a gap apart; who was not moved stays.
    """
    original = _slots(visits, room)
    at = visits.at.copy()
    turns: dict[tuple[int, int, bool], int] = {}
    moved = np.flatnonzero(slot != original)
    for n in moved[np.argsort(visits.at[moved], kind="stable")].tolist():
        later = bool(slot[n] > original[n])
        key = (int(visits.host[n]), int(slot[n]), later)
        turn = turns[key] = turns.get(key, -1) + 1
        gap_s = gaps_s[key[0]]
        if later:
            at[n] = room.bounds[slot[n]] + turn * gap_s
        else:
            at[n] = max(room.bounds[slot[n]], room.bounds[slot[n] + 1] - (turn + 1) * gap_s)
    return at
