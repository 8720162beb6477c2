"""Folds of pages and of sites."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from webstrata.predict.first_sight.folds import balancing, folds, page_parts, site_parts, undersampled


@given(some.lists(some.integers(0, 12), min_size=2, max_size=60), some.integers(2, 5), some.integers(0, 3))
def test_no_site_is_learned_and_tested(numbers: list[int], count: int, seed: int) -> None:
    """Each page is tested at most once, and no fold shares a site with the pages that are learned from."""
    sites = np.array([f"site {number}" for number in numbers])
    tested_once = np.zeros(len(sites), dtype=int)

    for tested in folds(site_parts(sites.tolist()), count, seed):
        assert not set(sites[tested]) & set(sites[~tested])
        tested_once += tested

    assert set(tested_once.tolist()) <= ({1} if len(set(numbers)) > 1 else {0})


def test_folds_of_pages_are_equal() -> None:
    """Folds of single pages differ by at most one page."""
    assert sorted(int(tested.sum()) for tested in folds(page_parts(22), 5)) == [4, 4, 4, 5, 5]


def test_balance() -> None:
    """Weights, or leaving pages out, make all groups that occur equally frequent."""
    group = np.array([0] * 6 + [2] * 3)

    weights = balancing(group, 3)

    assert weights[:6].sum() == pytest.approx(weights[6:].sum())
    assert weights.mean() == pytest.approx(1)
    assert np.bincount(group[undersampled(group)]).tolist() == [3, 0, 3]
