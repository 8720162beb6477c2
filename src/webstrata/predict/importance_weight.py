"""The weight of a page by its importance in the link graph."""

from __future__ import annotations

import math

DEFAULT_WEIGHT = 1.0
"""The weight of a page that has none of its own."""
MAX_WEIGHT = 8.0
"""The start page of a large site has a thousand times the mean rank: without a limit it would get all visits."""


def importance_weight(rank: float, share: float) -> float:
    """The weight of a page with this PageRank (1 is the mean) if importance counts with this share: 0 gives 1 to every
    page, 1 the rank itself, within limits."""
    return min(max(math.pow(rank, share), 1 / MAX_WEIGHT), MAX_WEIGHT)
