from __future__ import annotations

import numpy as np
import pytest

from webstrata.lab.estimators.markov import change_probability, markov, tables
from webstrata.predict.visit_history import visit_history


def test_tables_by_interval() -> None:
    """Transitions count in the table of the interval of their last visit."""
    history = visit_history([0, 5], [7, 7, 7, 3, 7], [1, 0, 1, 1, 0])
    found = tables(history, 1)
    assert found.interval_days.tolist() == [3.0, 7.0]
    assert found.counts[0].tolist() == [[0, 0], [0, 1]]  # 3 days: change after change
    assert found.counts[1].tolist() == [[0, 1], [2, 0]]  # 7 days: 0 -> 1 once, 1 -> 0 twice
    assert tables(history, 2).counts.sum() == 3


def test_probability() -> None:
    """The probability is smoothed by one visit of each result."""
    chance = change_probability(np.array([0.0, 3.0, 300.0]), np.array([0.0, 1.0, 100.0]))
    assert chance.tolist() == pytest.approx([0.5, 1 / 3, 101 / 402])


def test_the_rate_that_holds_now() -> None:
    """A page that alternates is likely to change after a visit that saw none."""
    after_none = markov(visit_history([0, 9], [7.0] * 9, [0, 1, 0, 1, 0, 1, 0, 1, 0]), 1)
    after_some = markov(visit_history([0, 8], [7.0] * 8, [0, 1, 0, 1, 0, 1, 0, 1]), 1)
    assert after_none.rate[0] > 5 * after_some.rate[0]


def test_nothing_known() -> None:
    """Without a transition at the last interval the rate is NaN."""
    history = visit_history([0, 0, 1, 3], [7, 7, 3], [1, 1, 0])
    assert np.isnan(markov(history, 1).rate).all()
    assert np.isnan(markov(history, 2).rate).all()
