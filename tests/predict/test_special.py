from __future__ import annotations

import numpy as np
import pytest
from scipy import special

from webstrata.predict.special import beta_distribution, digamma, log_gamma

SHAPES = np.exp(np.linspace(np.log(1e-3), np.log(1e4), 200))


def test_gamma_and_digamma() -> None:
    """Both functions agree with SciPy."""
    assert log_gamma(SHAPES) == pytest.approx(special.gammaln(SHAPES), rel=1e-12, abs=1e-12)
    assert digamma(SHAPES) == pytest.approx(special.digamma(SHAPES), rel=1e-11, abs=1e-11)


def test_beta_distribution() -> None:
    """Equals SciPy's to twelve digits for small and large parameters, and is a step where one is not positive."""
    a, b = np.array([0.5, 1.0, 3.0, 250.0, 40.0]), np.array([0.5, 5.0, 2.5, 80.0, 4000.0])
    for x in (1e-4, 0.01, 0.3, 0.76, 0.999):
        at = np.full(5, x)
        assert beta_distribution(a, b, at) == pytest.approx(special.betainc(a, b, at), rel=1e-9, abs=1e-12)
    half = np.full(2, 0.5)
    assert beta_distribution(np.array([0.0, 2.0]), np.array([2.0, -1.0]), half).tolist() == [1.0, 0.0]
