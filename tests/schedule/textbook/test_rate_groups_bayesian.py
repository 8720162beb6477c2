from __future__ import annotations

from collections.abc import Callable
from math import exp, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webstrata.schedule.textbook.rate_groups import TABLE_4, Bayesian


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.floats(0.1, 200), st.booleans()), min_size=1, max_size=30))
def test_the_likeliest_group(visits: list[tuple[float, bool]]) -> None:
    """A page is in the group under which its visits are likeliest."""
    policy = Bayesian()
    state = policy.start(1)
    logs = [0.0] * len(TABLE_4)
    for elapsed, changed in visits:
        policy.learn(state, np.array([0]), np.array([elapsed]), np.array([changed]))
        for place, group in enumerate(TABLE_4):
            still = exp(-elapsed / group.days)
            logs[place] += log(1 - still) if changed else -elapsed / group.days
    chosen = TABLE_4[int(state["group"][0])]
    assert logs[TABLE_4.index(chosen)] == pytest.approx(max(logs), abs=1e-6)
    assert policy.interval(state, np.array([0]))[0] == chosen.days


def test_moves_up_and_down(play: Callable[..., list[float]]) -> None:
    """Changes at every visit end in the fastest group, none in the slowest."""
    assert play(Bayesian(), "1" * 10)[-1] == 1.0
    assert play(Bayesian(), "0" * 10)[-1] == 96.0


def test_explained_probabilities() -> None:
    """The probabilities of the groups add up to one."""
    policy = Bayesian()
    state = policy.start(2)
    chances = policy.explain(state, 1)["chances"]
    assert isinstance(chances, dict)
    assert sum(chances.values()) == pytest.approx(1.0)
