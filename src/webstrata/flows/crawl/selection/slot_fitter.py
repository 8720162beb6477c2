"""Moves visits between the next slots (hours), so that the visits of each slot fit into it, under a timer policy.

The visits of the next slots are read at every second slot. Only if the visits of a host, or of all hosts, may need more
than half of a slot, download times are read and visits moved. The reason of a moved page says so (`why URL`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from webstrata.clock import iso, span
from webstrata.flows.planning import download_times, loads_of
from webstrata.permit.gate import PermitGate
from webstrata.plan.load import SLOT_S, SpacingModel
from webstrata.plan.rounds import RoundPlan
from webstrata.plan.slots import PlannedVisits, SlotCapacity, fit, moments
from webstrata.ports import Store
from webstrata.records import UpcomingVisit

_SLOTS_AHEAD = 4
"""Slots that are examined together."""
_SLOTS_BETWEEN = 2
"""Slots from one examination to the next."""
_MAX_VISITS = 50_000
_SAMPLES = 20_000
_FULL = 0.9
"""A slot is full if this share of it is expected to be used, since download times vary."""
_MAY_BE_FULL = 0.5
"""Share of a slot from which on it is examined in detail."""
_TYPICAL_VISIT_S = 10.0
_UNKNOWN_INTERVAL_S = 86_400.0


class SlotFitter:
    """The loop calls `fit` before each round; it reads the store only at every second slot."""

    def __init__(self, *, store: Store, gate: PermitGate, spacing: SpacingModel, threads: int) -> None:
        self._store = store
        self._gate = gate
        self._spacing = spacing
        self._threads = threads
        self._next_at = 0.0

    async def fit(self, now: float) -> int:
        """Move visits out of slots that are too full; returns the number of moved visits."""
        if now < self._next_at:
            return 0
        bounds = _bounds(now)
        self._next_at = float(bounds[_SLOTS_BETWEEN])
        upcoming = await self._store.queue.upcoming(float(bounds[-1]), _MAX_VISITS)
        if not self._may_be_full(upcoming, bounds):
            return 0
        hosts = sorted({visit.host for visit in upcoming})
        plan = await self._plan(hosts, upcoming, now)
        moves = _moves(upcoming, hosts, _capacity(plan, bounds, self._threads), plan)
        await self._store.queue.move(moves)
        return len(moves)

    def _may_be_full(self, upcoming: Sequence[UpcomingVisit], bounds: np.ndarray) -> bool:
        """Whether a host, or all hosts, may need more than half of a slot, by a rough estimate."""
        counts: Counter[tuple[str, int]] = Counter()
        urls: dict[str, str] = {}
        for visit in upcoming:
            counts[visit.host, int(np.searchsorted(bounds[1:], visit.at, side="right"))] += 1
            urls.setdefault(visit.host, visit.url)
        by_slot: Counter[int] = Counter()
        for (_, slot), number in counts.items():
            by_slot[slot] += number
        used_s = _MAY_BE_FULL * SLOT_S
        if any(number * _TYPICAL_VISIT_S > used_s * self._threads for number in by_slot.values()):
            return True
        return any(number * self._gate.gap_s(urls[host]) > used_s for (host, _), number in counts.items())

    async def _plan(self, hosts: Sequence[str], upcoming: Sequence[UpcomingVisit], now: float) -> RoundPlan:
        urls = {visit.host: visit.url for visit in upcoming}
        downloads = await download_times(self._store, samples=_SAMPLES)
        return RoundPlan(loads_of(((host, urls[host], 1) for host in hosts), self._gate, now), downloads, self._spacing)


def _bounds(now: float) -> np.ndarray:
    """The bounds of the slots: now, the end of the present slot, and the ends of the following slots."""
    next_at = (now // SLOT_S + 1) * SLOT_S
    return np.array([now, *(next_at + n * SLOT_S for n in range(_SLOTS_AHEAD))])


def _capacity(plan: RoundPlan, bounds: np.ndarray, threads: int) -> SlotCapacity:
    gaps = np.maximum(plan.mean_gap_s(), 1e-3)
    busy_s = max(1e-3, float(plan.mean_s().mean()))
    return SlotCapacity(
        bounds=bounds,
        by_host=np.maximum(1, np.floor(_FULL * SLOT_S / gaps)).astype(np.int64),
        in_all=max(1, int(_FULL * threads * SLOT_S / busy_s)),
        slot_s=SLOT_S,
    )


def _moves(
    upcoming: Sequence[UpcomingVisit], hosts: Sequence[str], capacity: SlotCapacity, plan: RoundPlan
) -> list[tuple[int, float, str]]:
    index = {host: n for n, host in enumerate(hosts)}
    visits = PlannedVisits(
        at=np.array([visit.at for visit in upcoming]),
        host=np.array([index[visit.host] for visit in upcoming], dtype=np.intp),
        interval_s=np.array([visit.interval_s or _UNKNOWN_INTERVAL_S for visit in upcoming]),
        weight=np.array([visit.weight for visit in upcoming]),
    )
    slot = fit(visits, capacity)
    at = moments(visits, capacity, slot, plan.mean_gap_s().tolist())
    return [
        (upcoming[n].page_id, float(at[n]), _reason(upcoming[n], float(at[n]), capacity, int(visits.host[n])))
        for n in np.flatnonzero(at != visits.at).tolist()
        if not upcoming[n].is_timed
    ]


def _reason(visit: UpcomingVisit, at: float, capacity: SlotCapacity, host: int) -> str:
    direction = "later" if at > visit.at else "earlier"
    return (
        f"was due {iso(float(int(visit.at)))}; {span(abs(at - visit.at))} {direction}, so that the round fits its slot "
        f"of {span(capacity.slot_s)} ({visit.host} takes {int(capacity.by_host[host])} visits in one)"
    )
