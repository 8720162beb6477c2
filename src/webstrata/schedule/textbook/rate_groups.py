"""Change-rate groups: a page belongs to a group and is visited at the group's interval.

`bayesian`: each page is in the group that explains its visits best (Cho and Garcia-Molina's estimator). A page of a
group with interval D has changed after t days with probability 1 - exp(-t/D). Every visit updates the logarithms of the
groups' probabilities, which are equal at first.

`historic`: the historic classifier of "Looking at both the present and the past" (Algorithm 1). After the group's
number of visits, the share of visits with a change moves the page to the next slower or the next faster group, or
leaves it; then the count starts again.

Pages start in the group whose interval is nearest to the first interval.
"""

from __future__ import annotations

from itertools import pairwise
from typing import ClassVar

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from webstrata.columns import Days, Flags, Rows, State, columns
from webstrata.errors import BadSettings
from webstrata.schedule.policy import Bounds
from webstrata.schedule.textbook.adaptive import TimerBase


class RateGroup(Struct, frozen=True, kw_only=True):
    """Pages that change about every `days`. After `visits` visits a page is moved to the slower group if its share of
    changes is below `slower_below`, or to the faster group if the share is above `faster_above`."""

    days: float
    visits: int
    slower_below: float = 0.2
    faster_above: float = 0.8

    def __post_init__(self) -> None:
        if not 0 < self.days < float("inf") or not 1 <= self.visits <= 255:
            raise BadSettings(f"a group needs days above 0 and 1 to 255 visits, not {self.days:g} and {self.visits}.")
        if not 0 <= self.slower_below <= self.faster_above <= 1:
            raise BadSettings(f"thresholds {self.slower_below:g} and {self.faster_above:g}: 0 to 1, in this order.")


TABLE_4 = tuple(RateGroup(days=days, visits=visits) for days, visits in ((1, 3), (3, 2), (31, 2), (96, 1)))
"""The best groups of the paper."""


def nearest(groups: tuple[RateGroup, ...], days: float) -> int:
    """The group whose interval is nearest to this one, in ratio."""
    return int(np.argmin(np.abs(np.log([group.days for group in groups]) - np.log(max(days, 1e-9)))))


def check(groups: tuple[RateGroup, ...], limit: int) -> None:
    """Raise BadSettings unless there are one to `limit` groups, fastest first."""
    if not 1 <= len(groups) <= limit or any(group.days >= slower.days for group, slower in pairwise(groups)):
        raise BadSettings(f"give 1 to {limit} groups, each slower than the previous one.")


def column(groups: tuple[RateGroup, ...], name: str) -> NDArray[np.float64]:
    return np.array([getattr(group, name) for group in groups], dtype=np.float64)


class _Grouped(TimerBase):
    """The state has a column `group`; a page is visited at the interval of its group."""

    max_groups: ClassVar[int]

    def __init__(self, bounds: Bounds | None = None, groups: tuple[RateGroup, ...] = TABLE_4) -> None:
        check(groups, self.max_groups)
        super().__init__(bounds)
        self.groups = groups

    def start(self, n: int) -> State:
        state = super().start(n)
        state["group"] = nearest(self.groups, self.bounds.start_days)
        return state

    def interval(self, state: State, rows: Rows) -> Days:
        return self.bounds.clamp(column(self.groups, "days")[state["group"][rows]])


_SHORTEST = 1e-6  # days; a change after no time is unlikely but possible in every group


class Bayesian(_Grouped):
    """Moves a page to the likeliest group after every visit."""

    name = "bayesian"
    max_groups = 16

    def __init__(self, bounds: Bounds | None = None, groups: tuple[RateGroup, ...] = TABLE_4) -> None:
        super().__init__(bounds, groups)
        self.dtype = columns({"group": np.uint8, "logs": (np.float64, (len(groups),))})

    def learn(self, state: State, rows: Rows, elapsed_days: Days, changed: Flags) -> None:
        age = np.maximum(elapsed_days, _SHORTEST)[:, None] / column(self.groups, "days")
        logs = state["logs"][rows] + np.where(changed[:, None], np.log(-np.expm1(-age)), -age)
        logs -= logs.max(axis=1, keepdims=True, initial=-np.inf)
        state["logs"][rows] = logs
        state["group"][rows] = logs.argmax(axis=1)

    def explain(self, state: State, row: int) -> dict[str, object]:
        chances = np.exp(state["logs"][row])
        chances /= chances.sum()
        return {
            "interval_days": float(self.interval(state, np.array([row]))[0]),
            "chances": {
                f"every {group.days:g} days": round(float(chance), 6)
                for group, chance in zip(self.groups, chances, strict=True)
            },
            "rule": "the interval of the group that explains the visits best",
        }


class Historic(_Grouped):
    """Moves a page by one group at a time."""

    name = "historic"
    max_groups = 255
    dtype = columns({"group": np.uint8, "visits": np.uint8, "changes": np.uint8})

    def learn(self, state: State, rows: Rows, elapsed_days: Days, changed: Flags) -> None:
        seen = state[rows]
        group, visits, changes = seen["group"].astype(np.intp), seen["visits"] + 1, seen["changes"] + changed
        full = visits >= column(self.groups, "visits")[group]
        share = changes / visits
        slower = full & (share < column(self.groups, "slower_below")[group])
        faster = full & (share > column(self.groups, "faster_above")[group])
        seen["group"] = np.clip(group + slower - faster, 0, len(self.groups) - 1)
        seen["visits"] = np.where(full, 0, visits)
        seen["changes"] = np.where(full, 0, changes)
        state[rows] = seen

    def explain(self, state: State, row: int) -> dict[str, object]:
        group = self.groups[state["group"][row]]
        return {
            "interval_days": float(self.interval(state, np.array([row]))[0]),
            "group_days": group.days,
            "visits_in_group": int(state["visits"][row]),
            "changes_in_group": int(state["changes"][row]),
            "rule": f"every {group.visits} visits: slower below {group.slower_below:.0%} changes, "
            f"faster above {group.faster_above:.0%}",
        }
