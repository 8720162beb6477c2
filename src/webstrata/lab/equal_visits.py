"""What other policies would have captured on the same pages with the same number of visits, computed from the truth.

`value` gets the visits of the crawl as its budget. A timer policy visits at its own pace: all its intervals are
multiplied by one factor, chosen so that the replay makes as many visits as the crawl did; the minimum interval of the
crawl still holds, and the first visits are spread evenly over the first interval. Every replay assumes that each visit
detects every change, so only replays are comparable with each other: the crawl also has to detect what it sees.
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
from webstrata.schedule.registry import policy, policy_state
from webstrata.urls import host_of

if TYPE_CHECKING:
    from webstrata.lab.policies.truth import Truth
    from webstrata.schedule.policy import Bounds, TimerPolicy

VALUE = "value"
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
    """`value`, fixed intervals, `dyn`, `state-2`, and the most that any schedule could capture.

    `truth`: the changes that count. `window`: start and end of the crawl. `bounds`: those of the crawl.
    """
    changes: dict[str, list[float]] = {url: [] for url in pages}
    for change in truth:
        if change.counts and change.url in changes:
            changes[change.url].append(change.at)
    total = sum(map(len, changes.values()))
    replayed = _as_truth(changes, window)
    rows = [_value(replayed, bounds, visits, total)]
    rows += [_timer(policy(name, bounds), bounds.min_days, replayed, visits, total) for name in TIMERS]
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


def _value(truth: Truth, bounds: Bounds, visits: int, total: int) -> EqualVisits:
    """Replay the default policy with the visits as its budget."""
    from webstrata.lab.policies.replay_budget import replay_budget

    site = np.unique(truth.histories.site, return_inverse=True)[1].astype(np.intp)
    log = replay_budget(policy_state(VALUE, site, bounds=bounds), truth, visits)
    captured = int(log.changed.sum())
    return EqualVisits(policy=VALUE, visits=len(log.at), captured=captured, recall=_share(captured, total))


def _timer(timer: TimerPolicy, min_days: float, truth: Truth, visits: int, total: int) -> EqualVisits:
    """Replay a timer with the factor on its intervals that makes the number of visits."""
    from webstrata.lab.policies.replay_timer import replay_timer

    low, high = math.log(1e-3), math.log(1e3)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        log = replay_timer(_Scaled(timer, math.exp(middle), min_days), truth)
        if abs(len(log.at) - visits) <= _CLOSE * visits:
            break
        low, high = (middle, high) if len(log.at) > visits else (low, middle)
    captured = int(log.changed.sum())
    return EqualVisits(policy=timer.name, visits=len(log.at), captured=captured, recall=_share(captured, total))


class _Scaled:
    """A timer policy whose intervals are multiplied by a factor, with the first visits spread evenly."""

    def __init__(self, timer: TimerPolicy, factor: float, min_days: float) -> None:
        self._timer = timer
        self._factor = factor
        self._min_days = min_days
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
        days = np.maximum(self._timer.interval(state, rows) * self._factor, self._min_days)
        return np.maximum(days * self._first_share[rows], _SHORTEST_DAYS)

    def explain(self, state: State, row: int) -> dict[str, object]:
        return {**self._timer.explain(state, row), "factor": self._factor}


def _change_days(changes: dict[str, list[float]], window: tuple[float, float], min_days: float) -> int:
    """The captures of a schedule that knows all changes and visits a page at most once in `min_days`."""
    start_at = window[0]
    return sum(len({int((at - start_at) / DAY_S / min_days) for at in instants}) for instants in changes.values())


def _share(captured: int, total: int) -> float:
    return captured / total if total else 0.0
