from __future__ import annotations

import numpy as np
import pytest

from webstrata.errors import UsageError
from webstrata.predict.prior import ANY_PAGE, GammaPrior, by_kind, fitted, joined
from webstrata.predict.visit_history import VisitHistory, visit_history


def simulated(shape: float, days: float, pages: int, seed: int) -> VisitHistory:
    random = np.random.default_rng(seed)
    rate = random.gamma(shape, 1 / days, pages)
    lengths = random.choice([1.0, 7.0, 30.0], size=(pages, 30))
    flags = random.random((pages, 30)) < -np.expm1(-rate[:, None] * lengths)
    return visit_history(np.arange(pages + 1) * 30, lengths.ravel(), flags.ravel())


@pytest.mark.parametrize(("shape", "days"), [(0.7, 20.0), (3.0, 100.0)])
def test_the_distribution_of_rates_is_found(shape: float, days: float) -> None:
    """From visits alone the distribution that made the rates comes back."""
    found = fitted(simulated(shape, days, 1500, 2))
    assert found.shape == pytest.approx(shape, rel=0.15)
    assert found.shape / found.days == pytest.approx(shape / days, rel=0.1)


def test_few_pages_stay_near_the_population() -> None:
    """Two pages of a kind hardly move its prior from the population's, hundreds do."""
    population = GammaPrior(shape=1.0, days=100.0)
    few, many = (fitted(simulated(2.0, 10.0, pages, 3), population) for pages in (2, 400))
    mean = [prior.shape / prior.days for prior in (population, few, many)]
    assert mean[0] < mean[1] < mean[2]
    assert mean[2] == pytest.approx(0.2, rel=0.15)


def test_kinds_have_priors_of_their_own() -> None:
    """Busy and slow pages are told apart by their tag, site or class; each says how many pages taught it."""
    busy, slow = simulated(2.0, 10.0, 100, 4), simulated(2.0, 200.0, 50, 5)
    both = visit_history(
        np.concatenate([busy.offsets, busy.offsets[-1] + slow.offsets[1:]]),
        np.concatenate([busy.elapsed_days, slow.elapsed_days]),
        np.concatenate([busy.changed, slow.changed]),
    )
    kinds = by_kind(both, ["news"] * 100 + ["law"] * 50, fitted(both))
    assert kinds["news"][1] == 100
    assert kinds["news"][0].shape / kinds["news"][0].days > 5 * kinds["law"][0].shape / kinds["law"][0].days
    with pytest.raises(UsageError, match="kinds"):
        by_kind(both, ["news"], ANY_PAGE)


def test_kinds_are_joined_whatever_their_order() -> None:
    """Several kinds make one prior between them all; none leave the population's; few pages weigh little."""
    population, fast, slow = GammaPrior(shape=1, days=30), GammaPrior(shape=2, days=10), GammaPrior(shape=1, days=300)
    one, other = joined(population, [(fast, 90), (slow, 5)]), joined(population, [(slow, 5), (fast, 90)])
    assert (one.shape, one.days) == pytest.approx((other.shape, other.days))
    assert joined(population, []) == population
    assert joined(population, [(fast, 0)]) == population
    assert joined(population, [(fast, 10**9)]).shape == pytest.approx(2)


def test_nothing_seen_nothing_learned() -> None:
    """Without visits the prior is the population's, or that of any page."""
    nothing = visit_history([0, 0], [], [])
    assert fitted(nothing) == ANY_PAGE
    assert fitted(nothing, GammaPrior(shape=1, days=2)) == GammaPrior(shape=1, days=2)
    for shape, days in ((0, 1), (1, 0), (float("nan"), 1), (1, float("inf"))):
        with pytest.raises(UsageError):
            GammaPrior(shape=shape, days=days)


@pytest.mark.parametrize("flag", [True, False])
def test_pages_all_alike(flag: bool) -> None:
    """Pages that always or never changed still have a prior."""
    found = fitted(visit_history(np.arange(21) * 3, [7.0] * 60, [flag] * 60))
    assert 0 < found.shape / found.days < np.inf
