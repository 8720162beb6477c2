"""The parameters of the historic classifier with the least error on the pages that are learned from (the paper's
Table 4): the visits of each group, and the two shares of changes that move a page.

The search goes through the groups in turn, and then through the pairs of shares, twice.
"""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from webstrata.lab.cold_start.final_group import classified
from webstrata.lab.policies.truth import Truth
from webstrata.predict.first_sight.groups import GroupNumbers
from webstrata.schedule.textbook.rate_groups import Historic, RateGroup

_VISITS = (1, 2, 3, 4)
_SHARES = ((0.1, 0.9), (0.2, 0.8), (0.3, 0.7), (0.4, 0.6))
_FIRST_VISITS = (3, 2, 2, 1)
_ROUNDS = 2


def best_groups(
    intervals: NDArray[np.float64], initial: GroupNumbers, true: GroupNumbers, truth: Truth
) -> tuple[RateGroup, ...]:
    """Groups with these intervals, for pages that start in `initial` and belong to `true`. Of equal errors the first
    wins, and the search begins at the values of the paper."""
    groups = tuple(
        RateGroup(days=float(days), visits=_FIRST_VISITS[min(number, len(_FIRST_VISITS) - 1)])
        for number, days in enumerate(intervals)
    )

    def error(tried: tuple[RateGroup, ...]) -> float:
        return float(np.mean(classified(Historic, tried, initial, truth).group != true))

    least = error(groups)
    for _ in range(_ROUNDS):
        before = groups
        for tried in _neighbours(groups):
            if (found := error(tried)) < least:
                groups, least = tried, found
        for number in range(len(groups)):
            for visits in _VISITS:
                one = replace(groups[number], visits=visits)
                tried = (*groups[:number], one, *groups[number + 1 :])
                if tried != groups and (found := error(tried)) < least:
                    groups, least = tried, found
        if groups == before:
            break
    return groups


def _neighbours(groups: tuple[RateGroup, ...]) -> list[tuple[RateGroup, ...]]:
    """The groups with each other pair of shares."""
    return [
        tuple(replace(group, slower_below=low, faster_above=high) for group in groups)
        for low, high in _SHARES
        if (low, high) != (groups[0].slower_below, groups[0].faster_above)
    ]
