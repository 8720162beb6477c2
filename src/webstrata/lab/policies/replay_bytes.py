"""Replays `value` with a budget in bytes: day by day the best pages are visited until the bytes are spent.

Pages are ranked by the value of a visit, or by its value for its cost (`schedule.byte_cost`). A visit costs the head of
the answer, and the size of the page unless the page did not change and answers conditional requests.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from webstrata.columns import Days, Flags, Rows
from webstrata.lab.policies.truth import Truth
from webstrata.schedule.allocator import choose
from webstrata.schedule.byte_cost import HEAD_BYTES, ByteCosts
from webstrata.schedule.policy_state import PolicyState


class ByteReplay(Struct, frozen=True, kw_only=True):
    """The result of one replay."""

    bytes: float
    visits: int
    captured: int


def visit_bytes(costs: ByteCosts, rows: Rows, changed: Flags) -> Days:
    """What visits cost that found these pages changed or not."""
    free = costs.conditional[rows] & ~changed
    return np.where(free, HEAD_BYTES, costs.size[rows] + HEAD_BYTES).astype(np.float64)


def replay_bytes(pages: PolicyState, truth: Truth, costs: ByteCosts, total: float, *, per_byte: bool) -> ByteReplay:
    """Spend `total` bytes evenly over the window; what a day does not spend is kept."""
    days = int(truth.days)
    position = truth.position(pages.rows, np.zeros(len(truth)))
    credit = spent = 0.0
    visits = captured = 0
    for day in range(1, days + 1):
        now = float(day)
        credit += total / days
        values = pages.values(now)
        ranks = costs.per_byte(values) if per_byte else values
        rows = choose(ranks, pages.age(now), len(pages), pages.policy.bounds)
        at = truth.position(rows, np.full(len(rows), now))
        changed = at > position[rows]
        bytes_ = visit_bytes(costs, rows, changed)
        paid = int(np.searchsorted(np.cumsum(bytes_), credit, side="right"))
        if not paid:
            continue
        rows, changed = rows[:paid], changed[:paid]
        pages.learn(rows, now, changed)
        position[rows] = at[:paid]
        cost = float(bytes_[:paid].sum())
        credit -= cost
        spent += cost
        visits += paid
        captured += int(changed.sum())
    return ByteReplay(bytes=spent, visits=visits, captured=captured)
