"""Folds for learning and testing: of single pages, or of whole sites, so that no site is learned from and tested."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from webstrata.predict.first_sight.groups import GroupNumbers

Mask = NDArray[np.bool_]
Parts = NDArray[np.intp]
"""For each page the number of the part that it belongs to; a part is never divided between folds."""


def page_parts(pages: int) -> Parts:
    """Each page is a part of its own."""
    return np.arange(pages)


def site_parts(sites: Sequence[str]) -> Parts:
    """The pages of one site are one part."""
    return np.unique(np.asarray(sites, dtype=np.str_), return_inverse=True)[1]


def folds(parts: Parts, count: int, seed: int = 1) -> Iterator[Mask]:
    """For each fold the pages to test. The parts are dealt out at random, the largest first, to the smallest fold."""
    sizes = np.bincount(parts)
    order = np.random.default_rng(seed).permutation(np.flatnonzero(sizes))
    order = order[np.argsort(-sizes[order], kind="stable")]
    filled, fold_of = np.zeros(count), np.zeros(len(sizes), dtype=np.intp)
    for part in order:
        fold_of[part] = np.argmin(filled)
        filled[fold_of[part]] += sizes[part]
    for fold in range(count):
        tested = fold_of[parts] == fold
        if tested.any() and not tested.all():
            yield tested


def balancing(group: GroupNumbers, k: int) -> NDArray[np.float64]:
    """Weights of pages under which all groups that occur are equally frequent; their mean is 1."""
    counts = np.bincount(group, minlength=k)
    return len(group) / np.count_nonzero(counts) / counts[group]


def undersampled(group: GroupNumbers, seed: int = 1) -> NDArray[np.intp]:
    """As many pages of each group as the smallest group has, ascending."""
    order = np.random.default_rng(seed).permutation(len(group))
    counts = np.bincount(group)
    least = counts[counts > 0].min()
    kept = [order[group[order] == one][:least] for one in range(len(counts))]
    return np.sort(np.concatenate(kept))
