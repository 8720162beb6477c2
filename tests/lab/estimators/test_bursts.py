from __future__ import annotations

import numpy as np
import pytest

from webstrata.lab.estimators.bursts import burstiness, bursting
from webstrata.predict.prior import GammaPrior
from webstrata.predict.visit_history import VisitHistory, visit_history

PRIOR = GammaPrior(shape=1.0, days=30.0)
BURSTS = ([False] * 8 + [True] * 8) * 6


def page(flags: list[bool]) -> VisitHistory:
    return visit_history([0, len(flags)], [7.0] * len(flags), flags)


def test_bursts_are_distinguished_from_chance() -> None:
    """Runs of changes exceed the limit for bursts, random changes do not, and a regular page is far below."""
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
    """The rate after a change is higher than after a visit without a change."""
    hot, calm = bursting(page(BURSTS), PRIOR), bursting(page(BURSTS + [False] * 8), PRIOR)
    assert hot.rate[0] > 4 * calm.rate[0]


def test_nothing_known() -> None:
    """Without visits the rate is that of the prior, and both tests are NaN."""
    nothing = visit_history([0, 0, 1], [7.0], [True])
    assert bursting(nothing, PRIOR).rate[0] == pytest.approx(1 / 30)
    assert np.isnan(burstiness(nothing).clustering).all()
    assert np.isnan(burstiness(nothing).dispersion).all()
