from __future__ import annotations

import numpy as np
import pytest

from webstrata.schedule.textbook.adaptive import step


@pytest.mark.parametrize(
    ("share", "expected"),
    [
        (1.0, 12.0), (0.91, 12.0), (0.9, 18.0), (0.76, 18.0), (0.75, 24.0), (0.61, 24.0), (0.6, 36.0), (0.5, 36.0),
        (0.4, 36.0), (0.39, 54.0), (0.25, 54.0), (0.24, 72.0), (0.1, 72.0), (0.09, 108.0), (0.0, 108.0),
        (float("nan"), 36.0),
    ],
)  # fmt: skip
def test_every_share_has_its_step(share: float, expected: float) -> None:
    """The factor changes only above a limit, not at it; NaN keeps the interval."""
    assert step(np.array([36.0]), np.array([share]))[0] == pytest.approx(expected)
