"""Whether the type, the depth and the words of a URL predict how often a page changes, as the SOLAR paper suggests.

Each hint multiplies the prior rate of a page by a factor. The factors are estimated on the tuned sites of
`calibration.py`, and tested on the others by the log-likelihood of the number of changes of every page, without and
with the hints: for a first capture, which knows only the population of pages, and for a site whose other pages are
known.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from msgspec import Struct

from webstrata.lab.livingweb.recording import Recording
from webstrata.lab.sharp.calibration import TESTED, TUNED, TUNED_ON
from webstrata.lab.sharp.visible_versions import VisibleVersions
from webstrata.sharp.rates import POPULATION, RatePrior, site_prior

FIRST, OTHER_PAGES = "first capture", "other pages of the site known"
_PRIOR_CHANGES = 5.0
"""A factor is shrunk towards 1 as if this number of changes had been found at the expected rate."""
_FITTING_ROUNDS = 20
_DATA = frozenset({"csv", "json", "jsonld", "xml", "rss", "atom", "ttl", "rdf", "txt"})
_YEAR = re.compile(r"(?<!\d)(19|20)\d\d(?!\d)")
_OLD = re.compile(r"archive|history|version|old")
_LISTING = re.compile(r"news|blog|tag|categor|feed|rss|sitemap")


class RecordedPageHistory(Struct, frozen=True):
    """The visible changes of one page over the time that it was observed."""

    site: str
    path: str
    changes: int
    observed_s: float


class HintRow(Struct, frozen=True):
    """The log-likelihood of the changes of the pages of some sites."""

    part: str
    """`tuned` or `tested` sites."""
    known: str
    pages: int
    without_hints: float
    with_hints: float
    improved_sites: int
    """Sites whose log-likelihood is higher with hints."""
    sites: int


class HintReport(Struct, frozen=True):
    factors: dict[str, dict[str, float]]
    """By what is known -> hint -> factor."""
    rows: list[HintRow]


def hints(path: str) -> tuple[str, ...]:
    """The hints of a page: its type by the extension, its depth in folders, and words of its path."""
    lower = path.lower()
    extension = lower.rpartition(".")[2] if "." in lower.rpartition("/")[2] else "html"
    depth = lower.removesuffix("index.html").rstrip("/").count("/")
    found = ["data" if extension in _DATA else "page", f"depth {min(depth, 2)}{'+' if depth >= 2 else ''}"]
    for word, pattern in (("year", _YEAR), ("old", _OLD), ("listing", _LISTING)):
        if pattern.search(lower):
            found.append(word)
    return tuple(found)


def rate_factor(path: str, factors: Mapping[str, float]) -> float:
    """The factor by which the prior rate of this page is multiplied; an unknown hint has no effect."""
    return math.prod(factors.get(hint, 1.0) for hint in hints(path))


def histories(recordings: Iterable[Recording]) -> list[RecordedPageHistory]:
    pages: list[RecordedPageHistory] = []
    for recording in recordings:
        versions = VisibleVersions(recording)
        end = versions.published[-1]
        for path in versions.pages:
            times = versions.changed_at(path)
            pages.append(RecordedPageHistory(recording.site, path, len(times) - 1, end - times[0]))
    return [page for page in pages if page.observed_s > 0]


def hint_report(recordings: Iterable[Recording]) -> HintReport:
    """Factors from the tuned sites, and what they do on both parts."""
    pages = histories(recordings)
    tuned = [page for page in pages if page.site in TUNED_ON]
    factors: dict[str, dict[str, float]] = {}
    rows: list[HintRow] = []
    for known in (FIRST, OTHER_PAGES):
        factors[known] = _fitted(tuned, _priors(tuned, known))
        for part in (TUNED, TESTED):
            chosen = [page for page in pages if (page.site in TUNED_ON) == (part == TUNED)]
            rows.append(_row(part, known, chosen, factors[known]))
    return HintReport(factors, rows)


def _priors(pages: Sequence[RecordedPageHistory], known: str) -> list[RatePrior]:
    """The prior of each page without hints, from what is known."""
    if known == FIRST:
        return [POPULATION] * len(pages)
    others = [[other for other in pages if other.site == page.site and other is not page] for page in pages]
    return [site_prior([other.changes for other in rest], [other.observed_s for other in rest]) for rest in others]


def _fitted(pages: Sequence[RecordedPageHistory], priors: Sequence[RatePrior]) -> dict[str, float]:
    """Factors that make the expected and the observed changes of the pages with each hint equal, but for shrinkage."""
    factors = {hint: 1.0 for page in pages for hint in hints(page.path)}
    for _ in range(_FITTING_ROUNDS):
        for hint in factors:
            having = [row for row, page in enumerate(pages) if hint in hints(page.path)]
            expected = sum(
                priors[row].rate * pages[row].observed_s * rate_factor(pages[row].path, factors) for row in having
            )
            changes = sum(pages[row].changes for row in having)
            without = expected / factors[hint]
            factors[hint] = (changes + _PRIOR_CHANGES) / (without + _PRIOR_CHANGES)
    return factors


def _row(part: str, known: str, pages: Sequence[RecordedPageHistory], factors: Mapping[str, float]) -> HintRow:
    without, hinted = np.zeros(len(pages)), np.zeros(len(pages))
    for row, (page, prior) in enumerate(zip(pages, _priors(pages, known), strict=True)):
        factor = rate_factor(page.path, factors)
        if known == OTHER_PAGES:
            # The site's rate is that of its other pages, which have factors of their own.
            rest = [
                rate_factor(other.path, factors) for other in pages if other.site == page.site and other is not page
            ]
            factor /= math.exp(float(np.mean(np.log(rest)))) if rest else 1.0
        without[row] = _log_likelihood(page, prior)
        hinted[row] = _log_likelihood(page, RatePrior(prior.shape, prior.exposure_s / factor))
    sites = sorted({page.site for page in pages})
    gains = [sum(hinted[row] - without[row] for row, page in enumerate(pages) if page.site == site) for site in sites]
    return HintRow(
        part=part,
        known=known,
        pages=len(pages),
        without_hints=float(without.sum()),
        with_hints=float(hinted.sum()),
        improved_sites=sum(bool(gain > 0) for gain in gains),
        sites=len(sites),
    )


def _log_likelihood(page: RecordedPageHistory, prior: RatePrior) -> float:
    """Of the number of changes of a page whose rate has a Gamma prior: a negative binomial distribution."""
    share = page.observed_s / (prior.exposure_s + page.observed_s)
    combinations = math.lgamma(prior.shape + page.changes) - math.lgamma(prior.shape) - math.lgamma(page.changes + 1)
    return combinations + prior.shape * math.log1p(-share) + page.changes * math.log(share)
