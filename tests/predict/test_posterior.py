from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad

from webstrata.predict.posterior import posterior_interval
from webstrata.predict.prior import GammaPrior
from webstrata.predict.rate_interval import score_interval
from webstrata.predict.visit_history import visit_history

PRIOR = GammaPrior(shape=1.0, days=30.0)


def density(rate: float, hits: list[float], still: float) -> float:
    return math.exp(-rate * (30.0 + still)) * math.prod(-math.expm1(-rate * days) for days in hits)


@pytest.mark.parametrize(
    ("hits", "misses"), [([7.0], [7.0]), ([1.0, 2.0, 3.0], [40.0]), ([60.0] * 5, [1.0, 1.0]), ([7.0] * 30, [7.0] * 200)]
)
def test_the_tails_are_those_of_the_posterior(hits: list[float], misses: list[float]) -> None:
    """Numerical integration of prior times likelihood finds 2.5 % beyond each end, to a per cent of that."""
    days, flags = [*hits, *misses], [True] * len(hits) + [False] * len(misses)
    low, high = posterior_interval(visit_history([0, len(days)], days, flags), PRIOR)
    top = max(density(rate, hits, sum(misses)) for rate in np.linspace(1e-4, 1.0, 4000))

    def mass(begin: float, end: float) -> float:
        return float(quad(lambda rate: density(rate, hits, sum(misses)) / top, begin, end, limit=200)[0])

    whole = mass(0.0, low[0]) + mass(low[0], high[0]) + mass(high[0], 20 * high[0])
    assert mass(0.0, low[0]) / whole == pytest.approx(0.025, rel=0.01)
    assert mass(high[0], 20 * high[0]) / whole == pytest.approx(0.025, rel=0.01)


def test_without_a_change_it_is_the_gamma_posterior() -> None:
    """From an exponential prior of 30 days, 60 quiet days leave 95 % below -ln(0.05) / 90."""
    low, high = posterior_interval(visit_history([0, 2], [20.0, 40.0], [0, 0]), PRIOR)
    assert low[0] == 0.0
    assert high[0] == pytest.approx(-math.log(0.05) / 90, rel=2e-3)


def test_a_change_at_every_visit_has_no_upper_end() -> None:
    """The low end has 5 % of the posterior below it."""
    low, high = posterior_interval(visit_history([0, 1], [1.0], [True]), PRIOR)
    assert high[0] == math.inf
    whole = quad(lambda rate: density(rate, [1.0], 0.0), 0, 5)[0]
    assert quad(lambda rate: density(rate, [1.0], 0.0), 0, low[0])[0] / whole == pytest.approx(0.05, rel=0.01)


def test_unvisited_pages_have_the_prior() -> None:
    """A page without visits has the central 95 % of the prior, and does not disturb others."""
    low, high = posterior_interval(visit_history([0, 0, 1], [7.0], [True]), PRIOR)
    assert (low[0] * 30, high[0] * 30) == (pytest.approx(-math.log(0.975)), pytest.approx(-math.log(0.025)))
    assert low[1] == posterior_interval(visit_history([0, 1], [7.0], [True]), PRIOR)[0][0]


def test_visits_that_contradict_the_prior_stand_alone() -> None:
    """A page that changes at 29 of 30 hourly visits is far from the prior: its interval is that of the visits."""
    history = visit_history([0, 30], [1 / 24] * 30, [True] * 29 + [False])
    assert posterior_interval(history, PRIOR) == score_interval(history)
