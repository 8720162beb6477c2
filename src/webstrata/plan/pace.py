"""How fast the loop itself works on this machine, learned from its last large rounds.

A round that waits for hosts says little about the machine. Therefore the loop measures for each round the time in which
it could not have gone faster: the event loop was busy or waited for a processor, or finished visits waited for parsing,
archive and database. If that is nearly all of the round, a visit costs the time of the round divided by its visits;
otherwise as much less as the loop was idle (docs/decisions/0045-run-follows-plan.md).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from webstrata.records import RoundTiming

SATURATED = 0.8
"""Share of a round from which on the machine, not the hosts, decides how long it takes: a round has less work at its
start and its end."""
_LEAST_SPREAD = 0.03
_DISTURBED = 3.0
"""A round counts at most this many times the cost of the median round."""


class LoopPace(Struct, frozen=True, kw_only=True):
    """What a visit costs the loop if no host delays it."""

    visit_s: float = 0.0
    """0: not known yet."""
    spread: float = 0.0
    """Standard deviation of the logarithm of `visit_s` from round to round."""


def loop_pace(rounds: Sequence[RoundTiming]) -> LoopPace:
    """The pace of the last rounds together: their time, as far as the machine limited them, divided by their visits."""
    timed = [one for one in rounds if one.visits > 0 and 0 < one.seconds < float("inf") and one.limited_s >= 0]
    if not timed:
        return LoopPace()
    visits = np.array([one.visits for one in timed], dtype=np.float64)
    seconds = np.array([one.seconds for one in timed])
    limited = np.array([one.limited_s for one in timed])
    cost = seconds / visits * np.minimum(1.0, limited / seconds / SATURATED)
    # Not the median: a crawl takes the sum of its rounds, and some cost more (they start the parser processes, or read
    # all pages). Only a round that other programs disturbed is cut off.
    order = np.argsort(cost)
    middle = cost[order][np.searchsorted(np.cumsum(visits[order]), visits.sum() / 2)]
    mean = float(np.average(np.minimum(cost, _DISTURBED * middle), weights=visits))
    logs = np.log(np.maximum(cost, 1e-9) / max(mean, 1e-9))
    spread = float(np.sqrt(np.average(logs**2, weights=visits)))
    return LoopPace(visit_s=mean, spread=max(spread, _LEAST_SPREAD))
