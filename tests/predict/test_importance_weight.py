"""The weight of a page by its importance."""

from __future__ import annotations

import pytest

from webstrata.predict.importance_weight import MAX_WEIGHT, importance_weight


@pytest.mark.parametrize(
    ("rank", "share", "weight"),
    [
        (1.0, 0.7, 1.0),
        (9.0, 0.5, 3.0),
        (9.0, 0.0, 1.0),
        (4.0, 1.0, 4.0),
        (1e6, 1.0, MAX_WEIGHT),
        (0.0, 0.5, 1 / MAX_WEIGHT),
    ],
)
def test_weights(rank: float, share: float, weight: float) -> None:
    """A power of the rank, within limits; the mean rank gives the default weight."""
    assert importance_weight(rank, share) == weight
