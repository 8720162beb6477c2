"""Priors and posteriors of change rates."""

from __future__ import annotations

import pytest

from webstrata.clock import DAY_S
from webstrata.errors import UsageError
from webstrata.sharp.rates import POPULATION, posterior_rates, site_prior


def test_nothing_known() -> None:
    """A page without observations on a site without observations has the population's rate."""
    assert site_prior([], []) == POPULATION
    assert posterior_rates([0], [0.0])[0] == pytest.approx(POPULATION.rate)


def test_site_prior_approaches_the_sites_rate() -> None:
    """The more pages of a site with a high rate are known, the nearer the prior of a new page is to the site's rate."""
    site_rate = 1.0 / DAY_S
    rates = [site_prior([100] * pages, [100 * DAY_S] * pages).rate for pages in (1, 10, 1000)]
    assert POPULATION.rate < rates[0] < rates[1] < rates[2]
    assert rates[2] == pytest.approx(site_rate, rel=0.05)


def test_own_observations_win() -> None:
    """A page with a long history has its own rate; a page that never changed has a low rate above 0."""
    rates = posterior_rates([50, 0], [100 * DAY_S, 1000 * DAY_S])
    assert rates[0] == pytest.approx(0.5 / DAY_S, rel=0.2)
    assert 0 < rates[1] < POPULATION.rate / 10


def test_bad_histories() -> None:
    """There must be as many counts as times, and none may be negative."""
    with pytest.raises(UsageError, match="observed"):
        posterior_rates([1], [1.0, 2.0])
    with pytest.raises(UsageError):
        posterior_rates([-1], [1.0])
