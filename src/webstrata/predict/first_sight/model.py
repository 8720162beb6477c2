"""A trained classifier: from the static features of a page to the chances of its group and of its activity level.

    balanced(x)   what the trees say if all groups are equally frequent
    chances(x)    share · balanced(x) ** trust, normalised: `share` is how frequent the groups are among all pages
    levels(x)     chances(x) @ level_chances: the belief about the page before its first visit

`trust` is fitted on sites that the trees did not learn from. At 0, the chances are the shares, whatever the page looks
like, and the belief is that of any page (`POOLED.start`), because `share @ level_chances` is that belief.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from webstrata.predict.first_sight.groups import ChangeGroups, GroupNumbers
from webstrata.predict.first_sight.training_pages import Features, feature_rows
from webstrata.predict.first_sight.trees import Trees

__all__ = ["Chances", "FirstSightModel", "ModelOrigin", "feature_rows"]

LEAST_CHANCE = 0.01
"""No group of no page is less likely to the trees."""

Chances = NDArray[np.float64]
"""Pages by groups; each row sums to one."""


class ModelOrigin(Struct, frozen=True, kw_only=True):
    """What a model was trained on, and how well it did."""

    pages: int
    sites: int
    source: str
    """Which pages these are."""
    method: str
    error_on_unseen_pages: float
    """Share of the pages in a wrong group if all groups are equally frequent; pages of the same sites were learned."""
    error_on_unseen_sites: float


class FirstSightModel(Struct, frozen=True, kw_only=True):
    """A trained classifier as plain arrays; applying it needs NumPy only."""

    features: tuple[str, ...]
    """The names of the columns of features."""
    groups: ChangeGroups
    trees: Trees
    is_boosted: bool
    """The trees are summed up to logarithms of odds; else their chances are averaged."""
    baseline: tuple[float, ...]
    """By group: added to the sum of boosted trees."""
    trust: float
    share: NDArray[np.float64]
    """How frequent each group is among all pages."""
    level_chances: NDArray[np.float64]
    """By group: the chances of the activity levels."""
    origin: ModelOrigin

    def balanced(self, features: Features) -> Chances:
        """The chances of the groups if all groups were equally frequent; of a page without any feature all the same."""
        total = self.trees.total(features)
        if self.is_boosted:
            logs = total + self.baseline
            total = np.exp(logs - logs.max(axis=1, keepdims=True))
        total[np.isnan(features).all(axis=1)] = 1.0
        found: Chances = total / total.sum(axis=1, keepdims=True)
        return found

    def chances(self, features: Features) -> Chances:
        """The chances of the groups. Features that are not known are NaN."""
        return weighed(self.balanced(features), self.share, self.trust)

    def groups_of(self, features: Features) -> GroupNumbers:
        """The group that the trees find likeliest, as if all groups were equally frequent."""
        found: GroupNumbers = np.argmax(self.balanced(features), axis=1)
        return found

    def levels(self, features: Features) -> Chances:
        """The chances of the activity levels: the belief before the first visit."""
        return self.chances(features) @ self.level_chances


def weighed(balanced: Chances, share: NDArray[np.float64], trust: float) -> Chances:
    """Chances for groups with these shares."""
    weights = share * np.maximum(balanced, LEAST_CHANCE) ** trust
    found: Chances = weights / weights.sum(axis=1, keepdims=True)
    return found
