from __future__ import annotations

import numpy as np
import pytest

from webstrata.lab.estimators.markov import likelihood, markov, tables
from webstrata.predict.visit_history import visit_history


def test_tables_by_interval() -> None:
    """Transitions count in the table of the interval of their last visit."""
    history = visit_history([0, 5], [7, 7, 7, 3, 7], [1, 0, 1, 1, 0])
    found = tables(history, 1)
    assert found.interval_days.tolist() == [3.0, 7.0]
    assert found.counts[0].tolist() == [[0, 0], [0, 1]]  # 3 days: change after change
    assert found.counts[1].tolist() == [[0, 1], [2, 0]]  # 7 days: 0 -> 1 once, 1 -> 0 twice
    assert tables(history, 2).counts.sum() == 3


def test_chance_and_its_interval() -> None:
    """The chance is smoothed by one of each; Wilson's interval shrinks with evidence and is all where there is none."""
    chance, low, high = likelihood(np.array([0.0, 3.0, 300.0]), np.array([0.0, 1.0, 100.0]))
    assert chance.tolist() == pytest.approx([0.5, 1 / 3, 101 / 402])
    assert (low[0], high[0]) == (0.0, 1.0)
    assert low[1:] == pytest.approx([0.04559, 0.20999], abs=1e-4)
    assert high[1:] == pytest.approx([0.69936, 0.29466], abs=1e-4)


def test_the_rate_that_holds_now() -> None:
    """A page that alternates is likely to change after a visit that saw none."""
    after_none = markov(visit_history([0, 9], [7.0] * 9, [0, 1, 0, 1, 0, 1, 0, 1, 0]), 1)
    after_some = markov(visit_history([0, 8], [7.0] * 8, [0, 1, 0, 1, 0, 1, 0, 1]), 1)
    assert after_none.rate[0] > 5 * after_some.rate[0]
    assert after_none.low[0] <= after_none.rate[0] <= after_none.high[0]


def test_nothing_known() -> None:
    """Without a transition at the last interval the rate is NaN."""
    history = visit_history([0, 0, 1, 3], [7, 7, 3], [1, 1, 0])
    assert np.isnan(markov(history, 1).rate).all()
    assert np.isnan(markov(history, 2).rate).all()
