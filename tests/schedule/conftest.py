from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from webstrata.schedule.policy import TimerPolicy

Play = Callable[[TimerPolicy, str], list[float]]


@pytest.fixture
def play() -> Play:
    """Visit one page at its intervals with these flags; the interval after each visit, to six digits."""

    def played(policy: TimerPolicy, flags: str) -> list[float]:
        state, row = policy.start(1), np.array([0])
        after = []
        for flag in flags:
            policy.learn(state, row, policy.interval(state, row), np.array([flag == "1"]))
            after.append(round(float(policy.interval(state, row)[0]), 6))
        return after

    return played
