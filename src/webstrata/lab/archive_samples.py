"""Copies as an archive would have taken them: irregular, sparse, and more often of some pages than of others.

Each page has a mean gap between copies, log-uniform between the two ends of `MEAN_DAYS`; its gaps are exponential with
this mean. Times do not depend on the changes of the page.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webstrata.columns import Days

MEAN_DAYS = (2.0, 30.0)
"""The range of the pages' mean gaps, as in the reference results for HACS."""


def archive_copies(
    first: Days, until: float, seed: int, mean_days: tuple[float, float] = MEAN_DAYS
) -> tuple[NDArray[np.intp], Days]:
    """(page, day) of each copy, by page and day: from the page's `first` day to `until`. The times of a page depend on
    its number and the seed only."""
    pages: list[NDArray[np.intp]] = []
    days: list[Days] = []
    for page, begin in enumerate(first.tolist()):
        random = np.random.default_rng([seed, page])
        mean = float(np.exp(random.uniform(*np.log(mean_days))))
        span = max(until - begin, 0.0)
        gaps = random.exponential(mean, 10 + int(2 * span / mean + 6 * np.sqrt(span / mean)))
        at = begin + np.cumsum(gaps)
        at = at[at < until]
        pages.append(np.full(len(at), page, dtype=np.intp))
        days.append(at)
    empty: Days = np.empty(0)
    return np.concatenate([*pages, np.empty(0, dtype=np.intp)]), np.concatenate([*days, empty])
