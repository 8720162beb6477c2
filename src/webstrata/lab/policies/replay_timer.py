"""Replays a timer policy: each step visits every page once, at its own time."""

from __future__ import annotations

import numpy as np

from webstrata.columns import State
from webstrata.lab.policies.replay_log import ReplayLog
from webstrata.lab.policies.truth import Truth
from webstrata.schedule.policy import TimerPolicy
from webstrata.schedule.textbook.fixed import Gold

_ROUNDING_DAYS = 1e-6
"""A visit later than the end of the window by less than this is one at the end: sums of intervals are rounded."""


def replay_timer(policy: TimerPolicy, truth: Truth, state: State | None = None) -> ReplayLog:
    """Replay the window with a timer policy, which learns only from its own visits. `state`: where it begins instead of
    its own start; it is changed in place."""
    return _replay(policy, policy.start(len(truth)) if state is None else state, truth)


def replay_oracle(policy: Gold, truth: Truth) -> ReplayLog:
    """The same for the oracle, which knows how often each page will change."""
    return _replay(policy, policy.with_truth(truth.total().astype(np.float64), truth.days), truth)


def _replay(policy: TimerPolicy, state: State, truth: Truth) -> ReplayLog:
    n = len(truth)
    rows = np.arange(n, dtype=np.intp)
    since = np.zeros(n)
    seen = truth.position(rows, since)
    pages, ats, befores, flags = [rows[:0]], [since[:0]], [since[:0]], [np.zeros(0, dtype=bool)]
    while True:
        at = since + policy.interval(state, rows)
        left = at <= truth.days + _ROUNDING_DAYS
        rows, since, at, seen = rows[left], since[left], np.minimum(at[left], truth.days), seen[left]
        if not len(rows):
            break
        now_seen = truth.position(rows, at)
        changed = now_seen > seen
        policy.learn(state, rows, at - since, changed)
        pages.append(rows)
        ats.append(at)
        befores.append(since)
        flags.append(changed)
        since, seen = at, now_seen
    return ReplayLog(
        page=np.concatenate(pages),
        at=np.concatenate(ats),
        since=np.concatenate(befores),
        changed=np.concatenate(flags),
        lists=np.empty(0),
        lists_page=np.empty(0, dtype=np.intp),
    )
