"""What other policies would have captured on the same pages with the same number of visits, computed from the truth.

A timer policy visits at its own pace. To make the numbers comparable, all its intervals are multiplied by one factor,
chosen so that the replay makes as many visits as the crawl did. The first visits of the pages are spread evenly over
their first interval, as a crawler would do. The replay assumes that every visit detects every change, which favours
these policies over the crawl that they are compared with.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from webstrata.clock import DAY_S
from webstrata.columns import Days, Flags, Rows, State
from webstrata.lab.livingweb.truth import TrueChange
from webstrata.schedule.registry import policy
from webstrata.urls import host_of

if TYPE_CHECKING:
    from webstrata.lab.policies.truth import Truth
    from webstrata.schedule.policy import Bounds, TimerPolicy

TIMERS = ("fixed", "dyn", "state-2")
BEST = "best possible"

_STEPS = 24
_CLOSE = 0.002
"""Visits may differ by this share."""
_SHORTEST_DAYS = 1e-3
_GOLDEN_RATIO = (math.sqrt(5) - 1) / 2


class EqualVisits(Struct, frozen=True, kw_only=True):
    """One policy with about as many visits as the crawl."""

    policy: str
    visits: int
    captured: int
    recall: float


def equal_visits(
    truth: Sequence[TrueChange], pages: Sequence[str], visits: int, window: tuple[float, float], bounds: Bounds
) -> list[EqualVisits]:
    """Fixed intervals, `dyn`, `state-2`, and the most that any schedule could capture.

    `truth`: the changes that count. `window`: start and end of the crawl. `bounds`: those of the crawl.
    """
    changes: dict[str, list[float]] = {url: [] for url in pages}
    for change in truth:
        if change.counts and change.url in changes:
            changes[change.url].append(change.at)
    total = sum(map(len, changes.values()))
    replayed = _as_truth(changes, window)
    rows = [_timer(policy(name, bounds), replayed, visits, total) for name in TIMERS]
    captured = min(visits, _change_days(changes, window, bounds.min_days))
    return [*rows, EqualVisits(policy=BEST, visits=visits, captured=captured, recall=_share(captured, total))]


def _as_truth(changes: dict[str, list[float]], window: tuple[float, float]) -> Truth:
    from webstrata.lab.policies.histories import make_histories  # needs pyarrow, which only the `lab` extra installs
    from webstrata.lab.policies.truth import Truth

    start_at, end_at = window
    rows = [
        {"corpus": "demo", "page": url, "site": host_of(url), "first": start_at, "until": end_at, "changes": instants}
        for url, instants in changes.items()
    ]
    return Truth(make_histories(rows), (end_at - start_at) / DAY_S)


def _timer(timer: TimerPolicy, truth: Truth, visits: int, total: int) -> EqualVisits:
    """Replay a timer with the factor on its intervals that makes the number of visits."""
    from webstrata.lab.policies.replay_timer import replay_timer

    low, high = math.log(1e-3), math.log(1e3)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        log = replay_timer(_Scaled(timer, math.exp(middle)), truth)
        if abs(len(log.at) - visits) <= _CLOSE * visits:
            break
        low, high = (middle, high) if len(log.at) > visits else (low, middle)
    captured = int(log.changed.sum())
    return EqualVisits(policy=timer.name, visits=len(log.at), captured=captured, recall=_share(captured, total))


class _Scaled:
    """A timer policy whose intervals are multiplied by a factor, with the first visits spread evenly."""

    def __init__(self, timer: TimerPolicy, factor: float) -> None:
        self._timer = timer
        self._factor = factor
        self._first_share: Days = np.empty(0)
        self.name = timer.name
        self.dtype = timer.dtype

    def start(self, n: int) -> State:
        # Multiples of the golden ratio, modulo 1, are spread evenly for any number of pages.
        self._first_share = np.modf(np.arange(1, n + 1, dtype=np.float64) * _GOLDEN_RATIO)[0]
        return self._timer.start(n)

    def learn(self, state: State, rows: Rows, elapsed_days: Days, changed: Flags) -> None:
        self._first_share[rows] = 1.0
        self._timer.learn(state, rows, elapsed_days, changed)

    def interval(self, state: State, rows: Rows) -> Days:
        days = self._timer.interval(state, rows) * self._factor * self._first_share[rows]
        return np.maximum(days, _SHORTEST_DAYS)

    def explain(self, state: State, row: int) -> dict[str, object]:
        return {**self._timer.explain(state, row), "factor": self._factor}


def _change_days(changes: dict[str, list[float]], window: tuple[float, float], min_days: float) -> int:
    """The captures of a schedule that knows all changes and visits a page at most once in `min_days`."""
    start_at = window[0]
    return sum(len({int((at - start_at) / DAY_S / min_days) for at in instants}) for instants in changes.values())


def _share(captured: int, total: int) -> float:
    return captured / total if total else 0.0
