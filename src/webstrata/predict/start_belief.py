"""Where the belief about a page begins: what its first content looks like, and what the other pages of its site do.

The beginning is a mixture, not a choice: visits and copies in archives move the belief on from there as from any other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from webstrata.predict.activity import Belief

FirstSight: TypeAlias = Callable[[Sequence[Mapping[str, float]]], Belief]
"""From the static features of first contents (empty: none are known) to the beliefs about their pages."""
SITE_PAGES = 1.0
"""Pages of a site that together weigh as much as all that is known besides."""


def start_beliefs(expected: Belief, site: NDArray[np.intp], sums: Belief, counts: NDArray[np.intp]) -> Belief:
    """Beliefs about new pages: what is expected of each by itself, mixed with the mean belief about the other pages of
    its site. `site`: by page, the index of its site in `sums`, the sums of these beliefs, and in `counts`."""
    weight = (counts / (counts + SITE_PAGES))[site, None]
    mean = (sums / np.maximum(counts, 1)[:, None])[site]
    mixed: Belief = ((1.0 - weight) * expected + weight * mean).astype(np.float32)
    return mixed
