"""The intervals contain the true rate as often as they say, on simulated pages with fixed seeds."""

from __future__ import annotations

import numpy as np
import pytest

from webstrata.lab.estimators.coverage import (
    SPEEDS,
    VISITS,
    Intervals,
    covered_at_speed,
    covered_under_prior,
    simulated,
)
from webstrata.lab.estimators.registry import ESTIMATORS
from webstrata.predict.prior import ANY_PAGE

PAGES = 1000
NOISE = 0.021
"""Three standard errors of a share of 0.95 of so many pages."""
CALIBRATED = ("regular", "irregular", "bayesian")


@pytest.mark.parametrize("visits", [1, 3, 10, 30, 100])
@pytest.mark.parametrize("name", ["regular", "irregular"])
def test_every_speed_is_covered(name: str, visits: int) -> None:
    """At irregular visits each rate from slow to fast is in at least 93 % of the intervals, within the noise of the
    simulation. (For regular visits tests/predict/test_rate_interval.py computes this exactly.)"""
    for speed in SPEEDS:
        share = covered_at_speed(ESTIMATORS[name], speed, visits, "irregular", ANY_PAGE, PAGES, seed=5)
        assert share >= 0.95 - NOISE, speed


@pytest.mark.parametrize("visits", VISITS)
@pytest.mark.parametrize("intervals", ["regular", "irregular"])
def test_bayesian_covers_the_pages_of_its_prior(visits: int, intervals: Intervals) -> None:
    """Of pages whose rates follow the prior, 95 % are covered after any number of visits."""
    pages = 2 * PAGES if visits <= 100 else PAGES // 2
    share = covered_under_prior(ESTIMATORS["bayesian"], visits, intervals, ANY_PAGE, pages, seed=5)
    assert 0.93 <= share <= 0.97


@pytest.mark.parametrize("speed", [3.0, 10.0])
def test_bayesian_covers_fast_pages_after_some_visits(speed: float) -> None:
    """Pages far faster than those of the prior are covered once 30 visits contradict it."""
    share = covered_at_speed(ESTIMATORS["bayesian"], speed, 30, "irregular", ANY_PAGE, PAGES, seed=5)
    assert share >= 0.95 - NOISE


def test_other_estimators_have_no_interval() -> None:
    """Only calibrated estimators have an interval; the others say that they have none."""
    history = simulated(np.full(3, 0.1), 10, "regular", seed=5)
    for name, estimator in ESTIMATORS.items():
        found = estimator(history, ANY_PAGE)
        assert found.has_interval == (name in CALIBRATED)
        assert np.isnan(found.low).all() == np.isnan(found.high).all() == (name not in CALIBRATED)
