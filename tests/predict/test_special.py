from __future__ import annotations

import numpy as np
import pytest
from scipy import special

from webstrata.predict.special import beta_distribution, digamma, gamma_distribution, gamma_quantile, log_gamma

SHAPES = np.exp(np.linspace(np.log(1e-3), np.log(1e4), 200))


def test_gamma_and_digamma() -> None:
    """Both functions agree with SciPy."""
    assert log_gamma(SHAPES) == pytest.approx(special.gammaln(SHAPES), rel=1e-12, abs=1e-12)
    assert digamma(SHAPES) == pytest.approx(special.digamma(SHAPES), rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("part", [0.1, 0.9, 1.0, 1.5, 4.0])
def test_distribution(part: float) -> None:
    """The distribution agrees with SciPy's on both sides of its middle."""
    shapes = SHAPES[SHAPES < 200]
    expected = special.gammainc(shapes, shapes * part)
    assert gamma_distribution(shapes, shapes * part) == pytest.approx(expected, abs=1e-11)


@pytest.mark.parametrize("share", [0.025, 0.5, 0.975])
def test_quantile(share: float) -> None:
    """Quantiles agree with SciPy's, to five digits for large shapes."""
    shapes = SHAPES[SHAPES > 0.02]
    assert gamma_quantile(share, shapes) == pytest.approx(special.gammaincinv(shapes, share), rel=2e-5)


def test_beta_distribution() -> None:
    """Equals SciPy's to twelve digits for small and large parameters, and is a step where one is not positive."""
    a, b = np.array([0.5, 1.0, 3.0, 250.0, 40.0]), np.array([0.5, 5.0, 2.5, 80.0, 4000.0])
    for x in (1e-4, 0.01, 0.3, 0.76, 0.999):
        at = np.full(5, x)
        assert beta_distribution(a, b, at) == pytest.approx(special.betainc(a, b, at), rel=1e-9, abs=1e-12)
    half = np.full(2, 0.5)
    assert beta_distribution(np.array([0.0, 2.0]), np.array([2.0, -1.0]), half).tolist() == [1.0, 0.0]
