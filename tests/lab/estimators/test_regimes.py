from __future__ import annotations

import numpy as np
import pytest

from webstrata.lab.estimators.regimes import breaks, regime
from webstrata.predict.gamma import bayesian
from webstrata.predict.prior import GammaPrior
from webstrata.predict.visit_history import visit_history

PRIOR = GammaPrior(shape=1.0, days=30.0)


def drawn(rates: list[tuple[int, float]], seed: int, pages: int = 200) -> np.ndarray:
    """Weekly flags of pages that have these (visits, rate) one after the other."""
    random = np.random.default_rng(seed)
    chance = np.concatenate([np.full(number, -np.expm1(-7 * rate)) for number, rate in rates])
    return random.random((pages, len(chance))) < chance


def test_a_new_rate_is_found() -> None:
    """Where the rate falls tenfold after forty visits, the break is found near it, and the rate is the new one."""
    flags = drawn([(40, 0.2), (40, 0.02)], 1)
    history = visit_history(np.arange(201) * 80, np.full(flags.size, 7.0), flags.ravel())
    begins = breaks(history)
    assert (begins > 0).mean() > 0.95
    assert np.median(begins) == pytest.approx(40, abs=3)
    assert np.median(regime(history, PRIOR).rate) < np.median(bayesian(history, PRIOR).rate) / 2


def test_steady_pages_have_none() -> None:
    """Of pages that keep their rate at most one in twenty seems to break."""
    flags = drawn([(80, 0.05)], 2, pages=1000)
    assert (breaks(visit_history(np.arange(1001) * 80, np.full(flags.size, 7.0), flags.ravel())) > 0).mean() < 0.05


def test_nothing_known() -> None:
    """Pages with no or few visits have no break, and the rate of the prior."""
    history = visit_history([0, 0, 1, 3], [7.0, 7.0, 7.0], [True, False, True])
    assert breaks(history).tolist() == [0, 0, 0]
    assert regime(history, PRIOR).rate[0] == pytest.approx(1 / 30)
    assert breaks(visit_history([0], [], [])).tolist() == []
