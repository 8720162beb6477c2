"""Beliefs after whole histories, and the range of rates that they allow."""

from __future__ import annotations

import numpy as np

from webstrata.clock import DAY_S
from webstrata.predict.activity import pooled_activity
from webstrata.predict.belief_history import beliefs_after, level_range
from webstrata.predict.updates import UpdateEvidence, update_history
from webstrata.predict.visit_history import visit_history
from webstrata.schedule.page_table import replayed
from webstrata.schedule.value import Value


def test_the_belief_is_that_of_the_policy() -> None:
    """A history of visits gives the same belief as the policy that is taught visit by visit."""
    visits = [(1, 0.0, False), (1, 5 * DAY_S, True), (1, 6 * DAY_S, False), (2, 0.0, False), (2, 90 * DAY_S, False)]
    policy = Value()
    packed = replayed(policy, visits)
    found = beliefs_after(pooled_activity(), update_history(UpdateEvidence(ids=[1, 2], visits=visits), "content"))
    for row, page in enumerate((1, 2)):
        state = np.frombuffer(packed[page], dtype=policy.dtype)[0]
        np.testing.assert_allclose(found[row], state["levels"], rtol=1e-5)


def test_ranges_follow_the_belief() -> None:
    """A page that always changes has a higher range than one that never does; any page has the widest one."""
    activity = pooled_activity()
    history = visit_history([0, 20, 40, 40], [2.0] * 40, [1] * 20 + [0] * 20)
    low, high = level_range(activity, beliefs_after(activity, history))
    assert (low <= high).all()
    assert low[0] > high[1]
    assert low[2] <= low.min()
    assert high[2] < high[0]
