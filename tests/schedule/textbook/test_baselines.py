from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from webstrata.schedule.policy import Bounds
from webstrata.schedule.textbook.baselines import LastObs, RandomTimes


def test_last_obs_rests_after_an_update(play: Callable[..., list[float]]) -> None:
    """An update 3.5 days before the visit gives a wait of 24.5 days, then weekly visits."""
    assert play(LastObs(), "1000") == [24.5, 7.0, 7.0, 7.0]


def test_random_times_have_the_mean_asked_for() -> None:
    """Pages with their own seeds wait for random times, 7 days on average."""
    policy = RandomTimes(Bounds(min_days=0.001, max_days=1000))
    state, rows = policy.start(4000), np.arange(4000)
    policy.scatter(state, 5)
    days = policy.interval(state, rows)
    assert len(set(days.tolist())) > 3900
    assert days.mean() == pytest.approx(7.0, rel=0.1)
    policy.learn(state, rows, days, np.zeros(4000, bool))
    assert abs(np.corrcoef(days, policy.interval(state, rows))[0, 1]) < 0.1
