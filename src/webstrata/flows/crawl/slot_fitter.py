"""Looks a few slots ahead and moves visits to neighbouring ones, so that each slot's round fits into it.

What is due is read once in a while. Only where a host, or all together, ask for more than a good part of a slot, are
the download times learned and visits moved; else nothing happens. Moved pages say so in their reason (`why URL`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from webstrata.clock import iso, span
from webstrata.flows.planning import learned, loads_of
from webstrata.permit.gate import PermitGate
from webstrata.plan.load import SpacingModel
from webstrata.plan.rounds import RoundPlan
from webstrata.plan.slots import PlannedVisits, SlotCapacity, fit, moments
from webstrata.ports import Store
from webstrata.records import UpcomingVisit

AHEAD = 4
"""Slots that are looked at."""
_LOOK_AGAIN = 2
"""…and looked at again after so many."""
_MOST_VISITS = 50_000
_SAMPLES = 20_000
_FILLED = 0.9
"""A slot is full when this part of it is expected to be used: times vary."""
_SUSPICIOUS = 0.5
_UNKNOWN_INTERVAL_S = 86_400.0


class SlotFitter:
    """`fit` is called by the loop before each round; it looks at the store only when it is time to."""

    def __init__(self, *, store: Store, gate: PermitGate, manner: SpacingModel, threads: int, slot_s: float) -> None:
        self._store = store
        self._gate = gate
        self._manner = manner
        self._threads = threads
        self._slot_s = slot_s
        self._look_at = 0.0

    async def fit(self, now: float) -> int:
        """Move visits where slots ahead are too full; how many were moved."""
        if now < self._look_at:
            return 0
        bounds = _bounds(now, self._slot_s)
        self._look_at = float(bounds[_LOOK_AGAIN])
        upcoming = await self._store.queue.upcoming(float(bounds[-1]), _MOST_VISITS)
        if not self._is_suspicious(upcoming, bounds):
            return 0
        hosts = sorted({one.host for one in upcoming})
        plan = await self._plan(hosts, upcoming, now)
        moves = _moves(upcoming, hosts, _room(plan, bounds, self._slot_s, self._threads), plan)
        await self._store.queue.move(moves)
        return len(moves)

    def _is_suspicious(self, upcoming: Sequence[UpcomingVisit], bounds: np.ndarray) -> bool:
        """Whether some host may be asked for more than half of what a slot can give, by a quick look."""
        counts: Counter[tuple[str, int]] = Counter()
        urls: dict[str, str] = {}
        for one in upcoming:
            counts[one.host, int(np.searchsorted(bounds[1:], one.at, side="right"))] += 1
            urls.setdefault(one.host, one.url)
        of_all = Counter(slot for (_, slot), number in counts.items() for _ in range(number))
        if any(number > _SUSPICIOUS * self._threads * self._slot_s / 10 for number in of_all.values()):
            return True
        return any(
            number * self._gate.gap_s(urls[host]) > _SUSPICIOUS * self._slot_s for (host, _), number in counts.items()
        )

    async def _plan(self, hosts: Sequence[str], upcoming: Sequence[UpcomingVisit], now: float) -> RoundPlan:
        urls = {one.host: one.url for one in upcoming}
        downloads = await learned(self._store, samples=_SAMPLES)
        return RoundPlan(loads_of(((host, urls[host], 1) for host in hosts), self._gate, now), downloads, self._manner)


def _bounds(now: float, slot_s: float) -> np.ndarray:
    """From now to the next full slot, and on in full slots."""
    next_at = (now // slot_s + 1) * slot_s
    return np.array([now, *(next_at + n * slot_s for n in range(AHEAD))])


def _room(plan: RoundPlan, bounds: np.ndarray, slot_s: float, threads: int) -> SlotCapacity:
    gaps = np.maximum(plan.mean_gap_s(), 1e-3)
    busy_s = max(1e-3, float(plan.mean_s().mean()))
    return SlotCapacity(
        bounds=bounds,
        by_host=np.maximum(1, np.floor(_FILLED * slot_s / gaps)).astype(np.int64),
        in_all=max(1, int(_FILLED * threads * slot_s / busy_s)),
        slot_s=slot_s,
    )


def _moves(
    upcoming: Sequence[UpcomingVisit], hosts: Sequence[str], room: SlotCapacity, plan: RoundPlan
) -> list[tuple[int, float, str]]:
    place = {host: n for n, host in enumerate(hosts)}
    visits = PlannedVisits(
        at=np.array([one.at for one in upcoming]),
        host=np.array([place[one.host] for one in upcoming], dtype=np.intp),
        interval_s=np.array([one.interval_s or _UNKNOWN_INTERVAL_S for one in upcoming]),
        weight=np.array([one.weight for one in upcoming]),
    )
    slot = fit(visits, room)
    at = moments(visits, room, slot, plan.mean_gap_s().tolist())
    return [
        (upcoming[n].page_id, float(at[n]), _reason(upcoming[n], float(at[n]), room, int(visits.host[n])))
        for n in np.flatnonzero(at != visits.at).tolist()
    ]


def _reason(one: UpcomingVisit, at: float, room: SlotCapacity, host: int) -> str:
    way = "later" if at > one.at else "earlier"
    return (
        f"was due {iso(float(int(one.at)))}; {span(abs(at - one.at))} {way}, so that the round fits its slot of "
        f"{span(room.slot_s)} ({one.host} takes {int(room.by_host[host])} visits in one)"
    )
