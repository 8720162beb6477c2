"""Evaluation 2: weighted P@K."""

from __future__ import annotations

from math import log2

import numpy as np
import pytest

from webstrata.lab.hacs.ranking import RANKERS, rankings, ranks, weighted_p_at_k

W = [1 / log2(k + 1) for k in (1, 2, 3, 4)]


@pytest.mark.parametrize(
    ("rank", "expected", "p_at_k"),
    [
        ([1], [1], 1.0),
        ([1, 2, 3], [1, 2, 3], 1.0),
        ([1, 2, 3], [2, 1, 3], (0 + W[1] + W[2]) / sum(W[:3])),
        ([1, 2, 3], [3, 2, 1], (0 + W[1] / 2 + W[2]) / sum(W[:3])),
        ([1, 2, 3, 4], [3, 4, 1, 2], (0 + 0 + W[2] * 2 / 3 + W[3]) / sum(W)),
    ],
)
def test_figures_by_hand(rank: list[int], expected: list[int], p_at_k: float) -> None:
    """The share of the first K pages that belong there, weighted by 1 / log2(K + 1)."""
    assert weighted_p_at_k(np.array(rank), np.array(expected)) == pytest.approx(p_at_k)
    assert weighted_p_at_k(np.array(expected), np.array(rank)) == pytest.approx(p_at_k)


def test_equal_pages_are_in_random_order() -> None:
    """Different scores decide; equal ones are drawn anew each time, and each order is as likely."""
    random = np.random.default_rng(1)
    drawn = [tuple(ranks(np.array([0.5, 0.1, 0.5, 0.9]), random).tolist()) for _ in range(200)]

    assert set(drawn) == {(2, 4, 3, 1), (3, 4, 2, 1)}
    assert 70 < drawn.count((2, 4, 3, 1)) < 130


def test_models() -> None:
    """HACS ranks by probability, Last-Obs by the time since the last update; pages without an update are last."""
    found = rankings(
        np.array([0.9, 0.5, 0.1]), np.array([1.0, 2.0, 3.0]), np.array([2.0, 30.0, np.inf]), np.random.default_rng(1)
    )

    assert tuple(found) == RANKERS
    assert found["hacs"] == 1.0
    assert found["last-obs"] == pytest.approx((W[1] / 2 + W[2]) / sum(W[:3]))
