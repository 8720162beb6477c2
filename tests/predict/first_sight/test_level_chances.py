"""What groups say about activity levels."""

from __future__ import annotations

import numpy as np
import pytest

from webstrata.predict.activity import POOLED, pooled_activity
from webstrata.predict.first_sight.level_chances import level_chances, levels_at_first_visit
from webstrata.predict.first_sight.training_pages import regular_visits
from webstrata.predict.visit_history import visit_history

START = np.array(POOLED.start) / sum(POOLED.start)


def test_the_groups_only_divide_the_pages() -> None:
    """The mixture of the groups, with their shares, is the start of any page; each row sums to one."""
    random = np.random.default_rng(1)
    levels = random.dirichlet(np.full(len(START), 0.3), 200)
    group = (levels @ np.arange(len(START)) < 4).astype(np.intp)

    share, chances = level_chances(group, levels, 2)

    assert share @ chances == pytest.approx(START, abs=1e-6)
    assert chances.sum(axis=1) == pytest.approx([1, 1])
    assert chances[0] @ np.arange(len(START)) > chances[1] @ np.arange(len(START)) + 0.5


def test_few_pages_say_little() -> None:
    """With one page in each group, the levels of a group are near those of any page."""
    _, few = level_chances(np.array([0, 1]), np.eye(len(START))[[7, 0]], 2)

    assert few[0] == pytest.approx(START, abs=0.02)


def test_levels_follow_the_visits() -> None:
    """A page that changes at each visit began on a fast level, one that never does on a slow one; without visits the
    level is that of any page."""
    changes = [np.arange(0.5, 100, 1.0), np.empty(0), np.empty(0)]

    levels = levels_at_first_visit(regular_visits(changes, np.array([100.0, 900.0, 0.0]), 1.0))

    rates = levels @ pooled_activity().per_day
    assert rates[0] > 0.5
    assert rates[1] < 0.002
    assert levels[2] == pytest.approx(START, abs=1e-6)


def test_joined_visits_say_the_same() -> None:
    """Many visits without a change say what one visit after the same time says."""
    one = levels_at_first_visit(visit_history([0, 2], [50.0, 10.0], [False, True]))
    many = levels_at_first_visit(visit_history([0, 6], [10.0] * 6, [False] * 5 + [True]))

    assert many == pytest.approx(one, abs=1e-5)
