from __future__ import annotations

import numpy as np
import pytest

from webstrata.lab.estimators.regimes import after_a_visit, breaks, first_state, regime
from webstrata.predict.gamma import bayesian
from webstrata.predict.prior import GammaPrior
from webstrata.predict.visit_history import visit_history

PRIOR = GammaPrior(shape=1.0, days=30.0)


def drawn(rates: list[tuple[int, float]], seed: int, pages: int = 200) -> np.ndarray:
    """Weekly flags of pages that live through these (visits, rate) one after the other."""
    random = np.random.default_rng(seed)
    chance = np.concatenate([np.full(number, -np.expm1(-7 * rate)) for number, rate in rates])
    return random.random((pages, len(chance))) < chance


def test_a_new_habit_is_found() -> None:
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


def test_watching_visit_by_visit_notices_too() -> None:
    """After the rate rose or fell tenfold the watched belief is nearer to the new rate than one that never forgets."""
    for before, after in ((0.02, 0.2), (0.2, 0.02)):
        flags = drawn([(60, before), (30, after)], 3)
        watch = first_state(PRIOR, len(flags))
        for column in flags.T:
            watch = after_a_visit(watch, PRIOR, np.full(len(flags), 7.0), column)
        steady = bayesian(visit_history(np.arange(201) * 90, np.full(flags.size, 7.0), flags.ravel()), PRIOR).rate
        watched = watch.shape / watch.days
        assert np.median(np.abs(np.log(watched / after))) < np.median(np.abs(np.log(steady / after))) / 2


def test_nothing_known() -> None:
    """Pages with no or few visits have no break, and the rate of the prior."""
    history = visit_history([0, 0, 1, 3], [7.0, 7.0, 7.0], [True, False, True])
    assert breaks(history).tolist() == [0, 0, 0]
    assert regime(history, PRIOR).rate[0] == pytest.approx(1 / 30)
    assert breaks(visit_history([0], [], [])).tolist() == []
