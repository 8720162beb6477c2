"""The group in which each page is at the end of the window, and the visits that it took to get there.

The textbook classifiers visit a page at the interval of its group. The policy `value` spends a number of visits on all
pages together; the group of a page is then that of the rate which it expects.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from webstrata.lab.policies.replay_budget import replay_budget
from webstrata.lab.policies.replay_log import ReplayLog
from webstrata.lab.policies.replay_timer import replay_timer
from webstrata.lab.policies.truth import Truth
from webstrata.predict.activity import Belief, pooled_activity
from webstrata.predict.first_sight.groups import ChangeGroups, GroupNumbers
from webstrata.schedule.policy import Bounds
from webstrata.schedule.policy_state import PolicyState
from webstrata.schedule.textbook.rate_groups import Bayesian, Historic, RateGroup
from webstrata.schedule.value import Value

DAILY = 1.0
"""Pages are visited at most once a day, as in the paper."""


class FinalGroups(Struct, frozen=True, kw_only=True):
    """One entry for each page."""

    group: GroupNumbers
    visits: NDArray[np.int64]
    """Visits after the first one."""


def classified(
    kind: type[Historic | Bayesian], groups: tuple[RateGroup, ...], initial: GroupNumbers, truth: Truth
) -> FinalGroups:
    """Where a textbook classifier moves pages that start in these groups. In a group with an interval longer than the
    window a page is visited once, at the end (the paper: after 96 of 100 days)."""
    policy = kind(Bounds(min_days=DAILY, max_days=truth.days), groups)
    state = policy.start(len(truth))
    state["group"] = initial
    log = replay_timer(policy, truth, state)
    return FinalGroups(group=state["group"].astype(np.intp), visits=_visits(log, truth))


def believed(start: Belief, groups: ChangeGroups, downloads: float, truth: Truth) -> FinalGroups:
    """The expected group of each page after `value` spent these downloads, from these beliefs on. Pages have no
    siblings here, because their windows begin at different times."""
    policy = Value(bounds=Bounds(min_days=DAILY * (1.0 - 1e-9)))
    pages = PolicyState(policy, np.arange(len(truth), dtype=np.intp))
    pages.state["levels"] = start
    log = replay_budget(pages, truth, downloads)
    return FinalGroups(group=expected(pages.state["levels"], groups), visits=_visits(log, truth))


def expected(belief: Belief, groups: ChangeGroups) -> GroupNumbers:
    """The group of the expected logarithm of the rate, because groups divide the logarithms. (The likeliest group is
    wrong more often, and the mean rate too: a little belief in fast levels outweighs much in slow ones.)"""
    chances = belief / belief.sum(axis=1, keepdims=True)
    return groups.of(np.exp(chances @ np.log(pooled_activity().per_day)))


def _visits(log: ReplayLog, truth: Truth) -> NDArray[np.int64]:
    return np.bincount(log.page, minlength=len(truth)).astype(np.int64)
