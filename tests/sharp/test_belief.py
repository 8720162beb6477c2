"""Beliefs about the changes of pages, and their Gamma approximations."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import ArrayLike

from webstrata.clock import DAY_S
from webstrata.errors import UsageError
from webstrata.sharp.belief import ANY_PAGE, RateBelief, SiteEvidence, evidence, gamma_belief
from webstrata.sharp.rates import POPULATION, RatePrior

SPANS = np.array([1.0, 60.0, 3600.0, DAY_S, 30 * DAY_S])


def after(*pairs: tuple[float, bool], site: RateBelief = ANY_PAGE) -> RateBelief:
    """The belief after pairs of visits: seconds since the visit before, and whether the content changed."""
    at = np.concatenate([[0.0], np.cumsum([gap for gap, _ in pairs])])
    return site.after(evidence(at, [changed for _, changed in pairs], float(at[-1])))


def approximated(belief: RateBelief, span_s: float, spans: np.ndarray) -> np.ndarray:
    gamma = belief.as_gamma(span_s)
    return np.asarray((1.0 + gamma.rate * spans / gamma.shape) ** -gamma.shape)


def test_survival_falls_and_is_convex() -> None:
    """Plans need a survival that falls and is convex, whatever was observed."""
    steps = np.linspace(0.0, 10 * DAY_S, 200)
    for belief in (ANY_PAGE, after((10.0, True)), after((DAY_S, False), (60.0, True)), after((30 * DAY_S, False))):
        unchanged = belief.unchanged(steps)
        assert ((unchanged >= 0) & (unchanged <= 1)).all()
        assert (np.diff(unchanged) <= 1e-12).all()
        assert (np.diff(unchanged, 2) >= -1e-12).all()


def test_population() -> None:
    """Without visits the belief is the population prior, less the shares of pages that change often and of noisy
    pages."""
    gamma = (1.0 + SPANS / POPULATION.exposure_s) ** -POPULATION.shape
    assert ANY_PAGE.unchanged(SPANS) == pytest.approx(gamma, abs=0.01)
    assert (ANY_PAGE.unchanged(SPANS) < gamma).all()


@pytest.mark.parametrize("span_s", [2.0, 30.0, 3600.0])
def test_a_page_that_changed_within_a_capture_is_not_expected_to_be_sharp(span_s: float) -> None:
    """One change between two downloads that are near each other means that the page changes often, or at every
    download. A Gamma prior alone expects 0.9999 of such a page."""
    once = after((span_s, True))
    twice = after((span_s, True), (30 * DAY_S, True), (span_s, True))
    assert once.unchanged(span_s) < 0.5
    assert twice.unchanged(span_s) < once.unchanged(span_s)
    assert approximated(once, 2 * span_s, np.array([span_s]))[0] < 0.5


def test_a_banner_that_rotates() -> None:
    """A page that differs at some downloads and is equal at others, over short and long spans alike, has a constant
    chance: no rate explains both."""
    banner = after(*[(gap, changed) for changed in (True, False, True, False) for gap in (10.0, 30 * DAY_S)])
    assert 0.2 < banner.unchanged(10.0) < 0.8
    assert banner.unchanged(5.0) == pytest.approx(banner.unchanged(60.0), abs=0.05)


def test_a_single_change_is_forgiven() -> None:
    """After many captures without a change the page is expected to be sharp again, and after years the change counts
    little."""
    quiet = after((600.0, True), *[(30 * DAY_S, False), (600.0, False)] * 12)
    assert 0.97 < quiet.unchanged(600.0) < 0.9999
    recent, old = (ANY_PAGE.after(evidence([0.0, 600.0], [True], now)) for now in (600.0, 5 * 365 * DAY_S))
    assert recent.unchanged(600.0) < 0.5 < old.unchanged(600.0) < ANY_PAGE.unchanged(600.0)


def test_slow_pages_keep_their_rate() -> None:
    """Monthly visits that see changes half of the time give a rate of about one change in six weeks."""
    page = after(*[(30 * DAY_S, number % 2 == 0) for number in range(12)])
    assert page.unchanged(30 * DAY_S) == pytest.approx(0.5, abs=0.1)
    assert page.unchanged(DAY_S) == pytest.approx(0.5 ** (1 / 30), abs=0.01)


def test_pages_of_a_site() -> None:
    """A site on which every page changes at every download teaches what to expect of its other pages; a site without
    changes makes its other pages more certain."""
    noisy, quiet = SiteEvidence(), SiteEvidence()
    for _ in range(20):
        noisy.add(evidence([0.0, 10.0], [True], 10.0))
        quiet.add(evidence([0.0, 10.0, 30 * DAY_S], [False, False], 30 * DAY_S))
    assert noisy.pages == quiet.pages == 20
    assert noisy.belief().unchanged(10.0) < 0.5
    assert ANY_PAGE.unchanged(10.0) < quiet.belief().unchanged(10.0)
    assert SiteEvidence().belief().unchanged(SPANS) == pytest.approx(ANY_PAGE.unchanged(SPANS))


@pytest.mark.parametrize("span_s", [5.0, 600.0, DAY_S, 14 * DAY_S])
def test_gamma_has_the_same_survival(span_s: float) -> None:
    """The approximation is close over the spans of the capture, and exact for a Gamma belief over long spans."""
    shares = np.array([0.25, 0.5, 0.75, 1.0])
    for belief in (ANY_PAGE, after((span_s / 2, True)), after((30 * DAY_S, False)), after((7 * DAY_S, True))):
        near = approximated(belief, span_s, span_s * shares)
        assert near == pytest.approx(belief.unchanged(span_s * shares), abs=0.05)
        assert near.sum() == pytest.approx(belief.unchanged(span_s * shares).sum(), abs=0.03)


def test_gamma_of_a_gamma() -> None:
    """A page about which much is known keeps its Gamma belief."""
    belief = gamma_belief(RatePrior(40.0, 40.0 * DAY_S))
    gamma = belief.as_gamma(4 * DAY_S)
    assert gamma.rate * DAY_S == pytest.approx(1.0, rel=0.1)
    assert gamma.shape > 1.0


def test_sitemap_statements() -> None:
    """A `changefreq` moves the rate part of the way; an old `lastmod` lowers it, a recent one raises it."""
    daily, never = ANY_PAGE.with_sitemap(DAY_S, None), ANY_PAGE.with_sitemap(3650 * DAY_S, None)
    by_rate = [belief.unchanged(DAY_S) for belief in (never, ANY_PAGE, daily)]
    assert by_rate == sorted(by_rate, reverse=True)
    assert daily.unchanged(DAY_S) > np.exp(-1.0)
    recent, ancient = ANY_PAGE.with_sitemap(None, 2 * DAY_S), ANY_PAGE.with_sitemap(None, 2000 * DAY_S)
    assert recent.unchanged(DAY_S) < ANY_PAGE.unchanged(DAY_S) < ancient.unchanged(DAY_S)
    assert ANY_PAGE.with_sitemap(None, None).unchanged(DAY_S) == pytest.approx(ANY_PAGE.unchanged(DAY_S))


def test_extreme_histories() -> None:
    """No history makes the belief or its approximation invalid."""
    histories: list[tuple[ArrayLike, ArrayLike]] = [
        ([0.0, 0.0], [True]),
        ([5.0, 5.0], [False]),
        ([0.0, 1e-9, 1e12], [True, False]),
        ([0.0, 1e12, 1e12 + 1e-9], [False, True]),
        (np.arange(500.0), np.ones(499, dtype=bool)),
        ([0.0], []),
    ]
    for at, changed in histories:
        belief = ANY_PAGE.after(evidence(at, changed, 2e12))
        for span_s in (1e-3, 1.0, 1e9):
            gamma = belief.as_gamma(span_s)
            assert np.isfinite([gamma.shape, gamma.exposure_s, gamma.rate]).all()
            assert gamma.shape > 0
            assert gamma.exposure_s > 0


def test_bad_histories() -> None:
    """Every visit but the first needs a flag, and times must be finite."""
    with pytest.raises(UsageError, match="finite"):
        evidence([0.0, np.nan], [True], 1.0)
    with pytest.raises(UsageError, match="first"):
        evidence([0.0, 1.0], [True, False], 1.0)
