from __future__ import annotations

import numpy as np
import pytest

from webstrata.lab.estimators.bursts import after_a_visit, burstiness, bursting, first_beliefs
from webstrata.predict.gamma import begin, believed, learned
from webstrata.predict.prior import GammaPrior
from webstrata.predict.visit_history import VisitHistory, visit_history

PRIOR = GammaPrior(shape=1.0, days=30.0)
BURSTS = ([False] * 8 + [True] * 8) * 6


def page(flags: list[bool]) -> VisitHistory:
    return visit_history([0, len(flags)], [7.0] * len(flags), flags)


def test_bursts_are_told_from_chance() -> None:
    """Runs of changes pass the test for bursts, the same number at random does not, and a regular page is below."""
    shuffled = np.random.default_rng(1).permutation(BURSTS).tolist()
    assert burstiness(page(BURSTS)).clustering[0] > 3
    assert abs(burstiness(page(shuffled)).clustering[0]) < 1.96
    assert burstiness(page([True, False] * 48)).clustering[0] < -3
    assert burstiness(page(BURSTS)).dispersion[0] > 1 > burstiness(page([True, False] * 48)).dispersion[0]


def test_chance_rarely_looks_like_bursts() -> None:
    """Of pages that change at random about one in forty passes the test."""
    random = np.random.default_rng(2)
    flags = random.random((2000, 60)) < 0.4
    found = burstiness(visit_history(np.arange(2001) * 60, np.full(120_000, 7.0), flags.ravel()))
    assert 0.005 < (found.clustering > 1.96).mean() < 0.045


def test_the_rate_depends_on_the_last_visit() -> None:
    """In a burst the page is expected back sooner than in a rest."""
    hot, calm = bursting(page(BURSTS), PRIOR), bursting(page(BURSTS + [False] * 8), PRIOR)
    assert hot.rate[0] > 4 * calm.rate[0]
    assert (hot.low < hot.rate).all()
    assert (hot.rate < hot.high).all()


def test_one_visit_at_a_time_is_the_batch() -> None:
    """Both beliefs kept up visit by visit from the same start are those of the history."""
    history = page([*BURSTS[:40], False, True])
    moods = first_beliefs(*learned(history, *begin(PRIOR, 1)))
    for flag in history.changed:
        moods = after_a_visit(moods, np.array([7.0]), np.array([flag]))
    kept = believed(moods.hot_shape, moods.hot_days)
    assert kept.rate[0] == pytest.approx(bursting(history, PRIOR).rate[0], rel=1e-12)


def test_nothing_known() -> None:
    """Without visits the rate is the prior's and nothing can be tested."""
    nothing = visit_history([0, 0, 1], [7.0], [True])
    assert bursting(nothing, PRIOR).rate[0] == pytest.approx(1 / 30)
    assert np.isnan(burstiness(nothing).clustering).all()
    assert np.isnan(burstiness(nothing).dispersion).all()
