"""What is believed about a page's changes, learned from all pairs of consecutive visits to the site.

Two downloads a span s apart have the same content with probability (1 - noise) * exp(-rate * s). `noise` is the share
of downloads that differ from the one before however short the span is: clocks, counters, rotating banners. A belief is
a distribution over a grid of rates and noise. Before any visit it is the population prior of rates, together with a
share of pages that change many times a day and a share of pages with noise. Without these two, one change within
seconds would be taken for a rare change of a slow page, and the next capture would expect the page to be sharp.

A pair of visits multiplies the belief by its likelihood. Sites change over the years, so old pairs count less. A page
without visits has the site's belief: the population's, mixed with those of the site's known pages.

Schedules and certificates describe a page by two numbers, the mean rate and the shape of a Gamma distribution, whose
survival (1 + rate * s / shape)^-shape is convex. `RateBelief.as_gamma` chooses them so that the survival is that of the
belief over spans as long as those of the capture.
"""

from __future__ import annotations

import math

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike, NDArray

from webstrata.clock import DAY_S
from webstrata.errors import UsageError
from webstrata.sharp.rates import POPULATION, Numbers, RatePrior

_RATES = np.exp(np.linspace(math.log(1e-7), math.log(1e6), 66)) / DAY_S
"""Changes per second."""
_STEP = math.log(_RATES[1] / _RATES[0])
_NOISE = np.array([0.0, 0.1, 0.3, 0.6, 0.9, 0.999])
_RATE = np.tile(_RATES, _NOISE.size)
_STILL = np.repeat(np.log1p(-_NOISE), _RATES.size)
"""By point of the grid: the logarithm of the probability that two downloads without a change between them are equal."""

_OFTEN_SHARE = 0.005
"""The share of pages that change often."""
_OFTEN_PER_S = 1.0 / DAY_S, 0.1
"""Their rates: once a day to every ten seconds, all equally likely on a logarithmic scale."""
_NOISY_SHARE = 0.005
"""The share of pages that change at downloads, with any noise of the grid."""
_SITE_PAGES = 5.0
"""The population counts as much as this number of the site's own pages."""
_MAX_SITE_PAGES = 2000
"""More pages do not change the site's belief, and cost memory."""
_ROUNDS = 3
_HALF_LIFE_S = 180.0 * DAY_S
"""A pair of visits this long ago counts half."""
_MIN_SHAPE = 0.05
_EXPOSURES = 1e-6, 1e6
"""Exposures of the Gamma approximation in spans of the capture. A shorter exposure, or a smaller shape, would have an
almost constant survival over all spans of the capture, and an absurd mean rate."""
_STATED_ERROR = 2.5
"""Standard deviation of the logarithm of a stated rate. That of the population prior is 2.4."""
_LEAST = 1e-300
_NEARLY_0 = 1e-12
_HALVINGS = 60


class RateBelief(Struct, frozen=True):
    """A distribution over the grid."""

    weights: Numbers

    def after(self, evidence: Numbers) -> RateBelief:
        """The belief after visits with this log-likelihood."""
        return RateBelief(_normalised(self.weights * np.exp(evidence - evidence.max())))

    def unchanged(self, spans_s: ArrayLike) -> NDArray[np.float64]:
        """The probability that two downloads these spans apart are equal."""
        spans = np.asarray(spans_s, dtype=np.float64)
        return np.asarray(np.exp(_STILL - spans[..., None] * _RATE) @ self.weights)

    def with_sitemap(self, every_s: float | None, unchanged_s: float | None) -> RateBelief:
        """The belief after a sitemap's statements: the page changes every `every_s` seconds, and has not changed for
        `unchanged_s` seconds.

        `changefreq` values are often wrong: the logarithm of the stated rate has an error as wide as the population of
        rates. A `lastmod` counts as one observed change and the time without a change since then.
        """
        logs = np.zeros(_RATE.size)
        if every_s is not None:
            logs -= 0.5 * (np.log(_RATE * every_s) / _STATED_ERROR) ** 2
        if unchanged_s is not None:
            logs += np.log(_RATE) - _RATE * max(0.0, unchanged_s)
        return self.after(logs)

    def as_gamma(self, span_s: float) -> RatePrior:
        """The Gamma distribution with the same survival after the whole span and a quarter of it. If its shape would be
        too small, the least shape, with the same survival after half of the span."""
        parts = self.unchanged(span_s * np.array([0.25, 0.5, 1.0]))
        quarter, half, whole = (-np.log(np.clip(parts, _NEARLY_0, 1.0 - _NEARLY_0))).tolist()
        shape, exposure_s = _through(quarter, whole, span_s)
        least = max(_MIN_SHAPE, half / math.log1p(0.5 / _EXPOSURES[0]))
        if shape >= least:
            return RatePrior(shape, exposure_s)
        return RatePrior(least, 0.5 * span_s / math.expm1(half / least))


def _through(quarter: float, whole: float, span_s: float) -> tuple[float, float]:
    """Shape and exposure for which -log of the survival has these values after a quarter of the span and after all of
    it."""
    low, high = np.log(_EXPOSURES)  # of exposure / span: the longer, the more the two values differ
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        relative = math.exp(middle)
        is_too_long = math.log1p(1 / relative) * quarter > math.log1p(0.25 / relative) * whole
        low, high = (low, middle) if is_too_long else (middle, high)
    relative = math.exp(low)
    return whole / math.log1p(1 / relative), relative * span_s


def _normalised(weights: Numbers) -> Numbers:
    return np.asarray(weights / weights.sum())


def gamma_belief(prior: RatePrior) -> RateBelief:
    """A Gamma belief about the rate, with the population's shares of pages that change often and of noisy pages."""
    logs = prior.shape * np.log(_RATES) - prior.exposure_s * _RATES
    densities = np.exp(logs - logs.max())
    densities[0] += densities[0] / (prior.shape * _STEP)  # all rates below the grid
    low, high = _OFTEN_PER_S
    often = _normalised(((low <= _RATES) & (high >= _RATES)).astype(np.float64))
    rates = (1.0 - _OFTEN_SHARE) * _normalised(densities) + _OFTEN_SHARE * often
    noise = np.array([1.0 - _NOISY_SHARE, *[_NOISY_SHARE / (_NOISE.size - 1)] * (_NOISE.size - 1)])
    return RateBelief(np.outer(noise, rates).ravel())


ANY_PAGE = gamma_belief(POPULATION)
"""The belief about a page of which nothing is known."""


def evidence(visited_at: ArrayLike, changed: ArrayLike, now: float) -> Numbers:
    """The log-likelihood of a page's visits at each point of the grid.

    `visited_at`: times of the visits in order. `changed`: for each visit but the first, whether its content differs
    from that of the visit before.
    """
    at, differs = np.asarray(visited_at, dtype=np.float64), np.asarray(changed, dtype=bool)
    if at.ndim != 1 or differs.shape != (max(0, at.size - 1),) or not np.isfinite(at).all():
        raise UsageError("Every visit but the first needs a finite time and whether the content changed.")
    spans = np.maximum(np.diff(at), 0.0)
    counts = 0.5 ** (np.maximum(now - at[1:], 0.0) / _HALF_LIFE_S)
    same = ~differs
    logs: Numbers = counts[same].sum() * _STILL - np.dot(counts[same], spans[same]) * _RATE
    for span, count in zip(spans[differs].tolist(), counts[differs].tolist(), strict=True):
        logs += count * np.log(np.maximum(-np.expm1(_STILL - span * _RATE), _LEAST))
    return logs


class SiteEvidence:
    """Collects the evidence of a site's pages."""

    def __init__(self) -> None:
        self.pages = 0
        self._likelihoods: list[Numbers] = []

    def add(self, page_evidence: Numbers) -> None:
        self.pages += 1
        if self.pages <= _MAX_SITE_PAGES:
            self._likelihoods.append(np.exp(page_evidence - page_evidence.max()))

    def belief(self) -> RateBelief:
        """The belief about a page of the site that was never visited, by some steps of the EM algorithm."""
        weights = ANY_PAGE.weights
        for _ in range(_ROUNDS if self._likelihoods else 0):
            pages = np.array(self._likelihoods) * weights
            pages /= pages.sum(axis=1, keepdims=True)
            weights = _normalised(_SITE_PAGES * ANY_PAGE.weights + pages.sum(axis=0))
        return RateBelief(weights)
