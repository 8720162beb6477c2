"""Rates for pages of which little is known."""

from __future__ import annotations

import pytest

from webstrata.clock import DAY_S
from webstrata.errors import UsageError
from webstrata.sharp.rates import POPULATION, posterior_rates, site_prior


def test_nothing_known() -> None:
    """A page never observed has the population's rate, on a site of which nothing is known."""
    assert site_prior([], []) == POPULATION
    assert posterior_rates([0], [0.0])[0] == pytest.approx(POPULATION.rate)


def test_a_site_speaks_for_its_pages() -> None:
    """The more pages of a lively site are known, the livelier a new page is taken to be, up to the site's own rate."""
    lively = 1.0 / DAY_S
    rates = [site_prior([100] * pages, [100 * DAY_S] * pages).rate for pages in (1, 10, 1000)]
    assert POPULATION.rate < rates[0] < rates[1] < rates[2]
    assert rates[2] == pytest.approx(lively, rel=0.05)


def test_own_observations_win() -> None:
    """A page watched for long has its own rate; one never seen to change is cold but not dead."""
    rates = posterior_rates([50, 0], [100 * DAY_S, 1000 * DAY_S])
    assert rates[0] == pytest.approx(0.5 / DAY_S, rel=0.2)
    assert 0 < rates[1] < POPULATION.rate / 10


def test_the_sites_own_word() -> None:
    """What a sitemap says moves a rate half the way; a last change long ago makes it colder and surer."""
    daily, never = POPULATION.told(DAY_S, None), POPULATION.told(3650 * DAY_S, None)
    assert never.rate < POPULATION.rate < daily.rate < 1 / DAY_S
    assert daily.shape == POPULATION.shape
    recent, ancient = POPULATION.told(None, 2 * DAY_S), POPULATION.told(None, 2000 * DAY_S)
    assert ancient.rate < POPULATION.rate < recent.rate
    assert ancient.shape == POPULATION.shape + 1
    assert ancient.rate == pytest.approx(1.2 / (2014 * DAY_S))
    assert POPULATION.told(None, None) == POPULATION


def test_bad_histories() -> None:
    """Counts and times must be of the same pages and not negative."""
    with pytest.raises(UsageError, match="both"):
        posterior_rates([1], [1.0, 2.0])
    with pytest.raises(UsageError):
        posterior_rates([-1], [1.0])
