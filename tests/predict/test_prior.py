from __future__ import annotations

import numpy as np
import pytest

from webstrata.errors import UsageError
from webstrata.predict.prior import ANY_PAGE, GammaPrior, fitted
from webstrata.predict.visit_history import VisitHistory, visit_history


def simulated(shape: float, days: float, pages: int, seed: int) -> VisitHistory:
    random = np.random.default_rng(seed)
    rate = random.gamma(shape, 1 / days, pages)
    lengths = random.choice([1.0, 7.0, 30.0], size=(pages, 30))
    flags = random.random((pages, 30)) < -np.expm1(-rate[:, None] * lengths)
    return visit_history(np.arange(pages + 1) * 30, lengths.ravel(), flags.ravel())


@pytest.mark.parametrize(("shape", "days"), [(0.7, 20.0), (3.0, 100.0)])
def test_the_distribution_of_rates_is_found(shape: float, days: float) -> None:
    """The fit to simulated visits returns the distribution of the simulated rates."""
    found = fitted(simulated(shape, days, 1500, 2))
    assert found.shape == pytest.approx(shape, rel=0.15)
    assert found.shape / found.days == pytest.approx(shape / days, rel=0.1)


def test_without_visits() -> None:
    """Without visits the prior is that of any page; impossible parameters are refused."""
    nothing = visit_history([0, 0], [], [])
    assert fitted(nothing) == ANY_PAGE
    for shape, days in ((0, 1), (1, 0), (float("nan"), 1), (1, float("inf"))):
        with pytest.raises(UsageError):
            GammaPrior(shape=shape, days=days)


@pytest.mark.parametrize("flag", [True, False])
def test_pages_all_alike(flag: bool) -> None:
    """Pages that always or never changed still have a prior."""
    found = fitted(visit_history(np.arange(21) * 3, [7.0] * 60, [flag] * 60))
    assert 0 < found.shape / found.days < np.inf
