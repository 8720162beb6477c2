"""The intervals contain the true rate as often as they say, on simulated pages with fixed seeds."""

from __future__ import annotations

import numpy as np
import pytest

from webstrata.lab.estimators.coverage import SPEEDS, covered_at_speed, simulated
from webstrata.lab.estimators.registry import ESTIMATORS
from webstrata.predict.prior import ANY_PAGE

PAGES = 1000
NOISE = 0.021
"""Three standard errors of a share of 0.95 of so many pages."""
CALIBRATED = ("regular", "irregular", "interpolated")


@pytest.mark.parametrize("visits", [1, 3, 10, 30, 100])
@pytest.mark.parametrize("name", CALIBRATED)
def test_every_speed_is_covered(name: str, visits: int) -> None:
    """At irregular visits each rate from slow to fast is in at least 93 % of the intervals, within the noise of the
    simulation. (For regular visits tests/predict/test_rate_interval.py computes this exactly.)"""
    for speed in SPEEDS:
        share = covered_at_speed(ESTIMATORS[name], speed, visits, "irregular", ANY_PAGE, PAGES, seed=1)
        assert share >= 0.95 - NOISE, speed


def test_other_estimators_have_no_interval() -> None:
    """Only calibrated estimators have an interval; the others say that they have none."""
    history = simulated(np.full(3, 0.1), 10, "regular", seed=5)
    for name, estimator in ESTIMATORS.items():
        found = estimator(history, ANY_PAGE)
        assert found.has_interval == (name in CALIBRATED)
        assert np.isnan(found.low).all() == np.isnan(found.high).all() == (name not in CALIBRATED)
