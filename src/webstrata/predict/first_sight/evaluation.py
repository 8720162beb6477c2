"""How well a method finds the groups of pages that it did not learn from.

The error is the mean over the groups of the share of pages in a wrong group, as if all groups were equally frequent: a
guess that ignores the page has 1 - 1/k, whatever it guesses.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from webstrata.predict.first_sight.folds import Parts, folds
from webstrata.predict.first_sight.groups import GroupNumbers
from webstrata.predict.first_sight.methods import fit
from webstrata.predict.first_sight.model import Chances, weighed
from webstrata.predict.first_sight.training_pages import Features

FOLDS = 5
_RESAMPLES = 1000
_SHUFFLES = 3
_EXPONENTS = np.round(np.arange(0.0, 1.51, 0.05), 2)

Confusion = NDArray[np.int64]
"""True groups by found groups."""


class ErrorRate(Struct, frozen=True, kw_only=True):
    """An error with its 95 % interval, by resampling the parts (pages or sites) that the folds were made of."""

    error: float
    low: float
    high: float


def chances_on_unseen(
    method: str, features: Features, group: GroupNumbers, k: int, parts: Parts, seed: int = 1
) -> Chances:
    """The chances of each page's groups by what was learned from the other folds. Parts in no fold: all the same."""
    found = np.full((len(group), k), 1.0 / k)
    for tested in folds(parts, FOLDS, seed):
        fitted = fit(method, features[~tested], group[~tested], k, parts[~tested], seed)
        found[tested] = fitted.chances(features[tested])
    return found


def confusion(group: GroupNumbers, found: GroupNumbers, k: int) -> Confusion:
    """How many pages of each group were found in each group."""
    return np.bincount(group * k + found, minlength=k * k).reshape(k, k)


def error_of(counts: Confusion) -> float:
    """The error of a confusion matrix; groups without pages are left out."""
    return float(_errors(counts[None])[0])


def error_rate(group: GroupNumbers, found: GroupNumbers, k: int, parts: Parts, seed: int = 1) -> ErrorRate:
    """The error of found groups, with its interval."""
    names, part = np.unique(parts, return_inverse=True)
    cells = np.bincount((part * k + group) * k + found, minlength=len(names) * k * k).reshape(len(names), k * k)
    random = np.random.default_rng(seed)
    draws = random.multinomial(len(names), np.full(len(names), 1.0 / len(names)), size=_RESAMPLES)
    errors = _errors((draws @ cells).reshape(-1, k, k))
    low, high = np.quantile(errors, [0.025, 0.975])
    return ErrorRate(error=error_of(cells.sum(axis=0).reshape(k, k)), low=float(low), high=float(high))


def importance(
    method: str, features: Features, group: GroupNumbers, k: int, parts: Parts, seed: int = 1
) -> NDArray[np.float64]:
    """For each feature by how much the error on unseen parts rises if its values are shuffled among the pages."""
    random = np.random.default_rng(seed)
    rise = np.zeros(features.shape[1])
    for tested in folds(parts, FOLDS, seed):
        fitted = fit(method, features[~tested], group[~tested], k, parts[~tested], seed)
        rows, share = features[tested], float(tested.mean())
        before = _error_of_chances(group[tested], fitted.chances(rows), k)
        for column in fitted.columns:
            for _ in range(_SHUFFLES):
                shuffled = rows.copy()
                shuffled[:, column] = random.permutation(rows[:, column])
                after = _error_of_chances(group[tested], fitted.chances(shuffled), k)
                rise[column] += share * (after - before) / _SHUFFLES
    return rise


class Trust(Struct, frozen=True, kw_only=True):
    """How far chances that were found on unseen sites are to be trusted."""

    exponent: float
    """See `model.weighed`."""
    gained_bits: float
    """How much less the true groups surprise with these chances than with the shares of the groups alone, in bits."""


def fitted_trust(chances: Chances, group: GroupNumbers, sites: Sequence[str]) -> Trust:
    """The exponent under which the true groups are likeliest. Each site counts once, however many pages it has."""
    share = np.bincount(group, weights=_site_weights(sites), minlength=chances.shape[1]) + 1e-9
    losses = [_log_loss(weighed(chances, share / share.sum(), exponent), group, sites) for exponent in _EXPONENTS]
    best = int(np.argmin(losses))
    return Trust(exponent=float(_EXPONENTS[best]), gained_bits=losses[0] - losses[best])


def _log_loss(chances: Chances, group: GroupNumbers, sites: Sequence[str]) -> float:
    """The mean surprise of the true groups in bits; each site counts once."""
    return float(-np.sum(_site_weights(sites) * np.log2(chances[np.arange(len(group)), group])))


def _site_weights(sites: Sequence[str]) -> NDArray[np.float64]:
    _, site, counts = np.unique(np.asarray(sites, dtype=np.str_), return_inverse=True, return_counts=True)
    weights: NDArray[np.float64] = 1.0 / counts[site] / len(counts)
    return weights


def _error_of_chances(group: GroupNumbers, chances: Chances, k: int) -> float:
    return error_of(confusion(group, np.argmax(chances, axis=1), k))


def _errors(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    pages = counts.sum(axis=2)
    right = np.diagonal(counts, axis1=1, axis2=2)
    shares = np.divide(right, pages, out=np.zeros(pages.shape), where=pages > 0)
    errors: NDArray[np.float64] = 1.0 - shares.sum(axis=1) / np.maximum((pages > 0).sum(axis=1), 1)
    return errors
